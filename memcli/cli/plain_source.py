"""Write the table that `plain` reads a command line by, from what Typer declares."""

from __future__ import annotations

import json
from inspect import signature
from typing import Any

from memcli.cli.command_tree import leaves
from memcli.cli.typer_command import NUMBER_OR_NONE

_HEAD = '''\
"""What `plain` knows of the commands; made by `memcli.cli.generate`, and a test holds it so.

By its name, each command has its module, its arguments in their order, and its options. Either is
(parameter, kind): "flag", "str", "int", "float", with `?` where it may be missing, `+` where there
may be several, `*` where there may be any number, `>=0` where numbers begin.
"""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    Parameter = tuple[str, str]

COMMANDS: Mapping[str, tuple[str, tuple[Parameter, ...], Mapping[str, Parameter]]] = {
'''
_TYPES = {"StringParamType": "str", "IntParamType": "int", "FloatParamType": "float"}


def plain_table(tree: Any) -> str:  # noqa: ANN401
    """Give the source of the module, of all commands that can be called by their options alone."""
    found = (_entry(name, leaf) for name, leaf, _ in leaves(tree) if _is_plain(leaf))
    return _HEAD + "".join(found) + "}\n"


def _is_plain(leaf: Any) -> bool:  # noqa: ANN401
    """Tell that a function takes what its line gives, and nothing of Typer or the environment."""
    given = {each.name for each in leaf.params}
    return given == set(signature(leaf.callback).parameters) and not any(map(_asks, leaf.params))


def _asks(parameter: Any) -> bool:  # noqa: ANN401
    """Tell that a parameter may get, or want, what does not stand in a plain line."""
    if parameter.envvar or parameter.callback or parameter.is_eager:
        return True
    if parameter.param_type_name == "argument":
        return not _kind(parameter)
    return bool(parameter.required or parameter.prompt)


def _entry(name: str, leaf: Any) -> str:  # noqa: ANN401
    """Write a command; an option whose values are of no plain kind is left to Typer."""
    arguments, options = [], []
    for each in leaf.params:
        pair = f"({json.dumps(each.name)}, {json.dumps(_kind(each))})"
        if each.param_type_name == "argument":
            arguments.append(pair)
        elif _kind(each):
            options += [f"            {json.dumps(option)}: {pair},\n" for option in each.opts]
    listed = f"{', '.join(arguments)}{',' if len(arguments) == 1 else ''}"
    return (
        f"    {json.dumps(name)}: (\n"
        f"        {json.dumps(leaf.callback.__module__)},\n"
        f"        ({listed}),\n"
        f"        {{\n{''.join(options)}        }},\n"
        "    ),\n"
    )


def _kind(parameter: Any) -> str:  # noqa: ANN401
    """Name the kind of a parameter as the table does; empty for one that is not plain."""
    of = type(parameter.type).__name__
    if parameter.param_type_name == "argument":
        several = parameter.nargs != 1
        often = ("+" if several else "") if parameter.required else ("*" if several else "?")
        return f"str{often}" if _TYPES.get(of) == "str" else ""
    if parameter.secondary_opts or parameter.count or parameter.nargs != 1:
        return ""
    if parameter.is_flag:
        return "flag"
    if parameter.multiple:
        return "str*" if _TYPES.get(of) == "str" else ""
    if of == "IntRange" and parameter.type.max is None and not parameter.type.min_open:
        return f"int>={parameter.type.min}"
    return "" if parameter.metavar == NUMBER_OR_NONE else _TYPES.get(of, "")
