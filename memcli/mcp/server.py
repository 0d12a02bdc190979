"""The server, on the SDK of the protocol: it supports both of its versions over two pipes.

Lists are answered before the memory is opened. Threads do that; the first list starts them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from threading import Event, Thread
from typing import Any
from urllib.parse import unquote, urlsplit
from warnings import filterwarnings

import anyio
import mcp_types as types
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from memcli import __version__
from memcli.checking import TYPE_CHECKING
from memcli.errors import MemcliError, NotFoundError
from memcli.mcp import answers, calls, definitions
from memcli.mcp.answers import ToolResult
from memcli.mcp.shared_memory import STAGES, SharedMemory, is_path

if TYPE_CHECKING:
    from typing import TextIO

THREADS = 4  # calls that run at once; others wait
REPORT_SECONDS = 0.1  # between two reports of progress
ROOTS_SECONDS = 5.0  # that a client may take to name its folders
_MARKDOWN = "text/markdown"
_CONTEXT = types.Resource(
    uri=f"{calls.SCHEME}context",
    name="context",
    title="The memory for the start of a session",
    mime_type=_MARKDOWN,
)
_DOCUMENT = types.ResourceTemplate(
    uri_template=f"{calls.SCHEME}{{workspace}}/{{+path}}",
    name="document",
    title="A document of the memory",
    mime_type=_MARKDOWN,
)
# The protocol gives the hints `destructive` and `idempotent` a meaning only for tools that write.
_writing = partial(
    types.ToolAnnotations, read_only_hint=False, idempotent_hint=True, open_world_hint=False
)
_EFFECTS = {
    definitions.READS: types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    definitions.APPENDS: _writing(destructive_hint=False),
    definitions.REMOVES: _writing(destructive_hint=True),
}
Context = ServerRequestContext[Any, Any]


class MemoryServer:
    """Answers the requests of one client from one memory."""

    def __init__(self, shared: SharedMemory, *, structured: bool, writes: bool) -> None:
        """Take the memory; `structured` adds records for programs, `writes` the writing tools."""
        self._shared, self._structured, self._writes = shared, structured, writes
        self._limiter = anyio.CapacityLimiter(THREADS)
        self._warming: Thread | None = None
        self._has_folders = False  # for the folders of the client

    def protocol(self) -> Server[Any]:
        """Return the SDK's server, which calls this one."""
        server: Server[Any] = Server(
            "memcli",
            version=__version__,
            instructions=definitions.INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        server.middleware.clear()  # it reports to collectors of traces
        return server

    async def _list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        self._warm()
        return types.ListToolsResult(tools=[_tool(each) for each in self._tools()])

    def _tools(self) -> tuple[definitions.ToolDefinition, ...]:
        """Return the tools; if the workspaces cannot be named yet, calls report why."""
        try:
            workspaces = self._shared.workspaces()
        except (MemcliError, OSError):
            workspaces = ()
        return definitions.tools_of(workspaces, writes=self._writes)

    def _warm(self) -> None:
        """Start to open what the first question will need, once."""
        if self._warming is None:
            self._warming = Thread(target=_quietly, args=(self._shared.prepare,), daemon=True)
            self._warming.start()

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tools = self._tools()
        tool = next((each for each in tools if each.name == params.name), None)
        if tool is None:
            names = ", ".join(each.name for each in tools)
            raise MCPError(
                types.INVALID_PARAMS, f"there is no tool {params.name!r:.80}; there are {names}"
            )
        try:
            values = definitions.read(tool.name, tool.arguments, params.arguments or {})
            answer = await self._answer(calls.CALLS[tool.name], values, context)
        except MemcliError as error:
            return types.CallToolResult(
                content=[_text(answers.sentence(error.reason))], is_error=True
            )
        except OSError as error:
            what = f"{error.filename or tool.name}: {error.strerror or error}"
            return types.CallToolResult(content=[_text(what)], is_error=True)
        record = None
        if self._structured:
            record = json.loads(_clean(json.dumps(answer.record(), ensure_ascii=False)))
        text = answer.text + definitions.moved(tool.arguments, params.arguments or {}, values)
        return types.CallToolResult(content=[_text(text)], structured_content=record)

    async def _answer(
        self, call: Callable[..., ToolResult], arguments: Mapping[str, Any], context: Context
    ) -> ToolResult:
        """Answer in a thread, which stops if the request is cancelled; report progress if asked."""
        await self._take_folders(context, arguments.get("workspace"))
        stopped = Event()

        def answer() -> ToolResult | Exception:
            try:
                with self._shared.call():
                    return call(self._shared, arguments, stopped.is_set)
            except Exception as error:  # a task group would wrap it
                return error

        async with anyio.create_task_group() as group:
            if context.meta and "progress_token" in context.meta:
                group.start_soon(self._report, context)
            try:
                record = await to_thread.run_sync(
                    answer, abandon_on_cancel=True, limiter=self._limiter
                )
            finally:
                stopped.set()
            group.cancel_scope.cancel()
        if isinstance(record, Exception):
            raise record
        return record

    async def _take_folders(self, context: Context, workspace: str | None) -> None:
        """Ask a client once for its folders, if the server does not know where the notes are."""
        capabilities = context.session.client_capabilities
        names_folder = workspace is not None and is_path(workspace)
        may_ask = self._shared.may_move or names_folder
        if self._has_folders or not may_ask or capabilities is None or capabilities.roots is None:
            return
        if not names_folder:
            try:
                await to_thread.run_sync(self._shared.opened, limiter=self._limiter)
            except NotFoundError:
                pass
            except (MemcliError, OSError):  # the call reports the error
                return
            else:
                self._shared.may_move = False
                return
        self._has_folders = True
        with suppress(MCPError), anyio.move_on_after(ROOTS_SECONDS):
            roots = await context.session.list_roots()
            folders = [urlsplit(str(root.uri)) for root in roots.roots]
            paths = [unquote(each.path) for each in folders if each.scheme == "file"]
            self._shared.roots += paths
            if paths and self._shared.may_move:
                self._shared.folder = paths[0]

    async def _report(self, context: Context) -> None:
        """Report progress, which only grows, until it is cancelled."""
        last = -1
        while True:
            await anyio.sleep(REPORT_SECONDS)
            now = self._shared.progress
            if now is not None and now.done > last:
                last = now.done
                message = STAGES.get(now.stage, now.stage)
                await context.session.report_progress(last, now.total, message)

    async def _list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[_CONTEXT])

    async def _list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[_DOCUMENT])

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        values = {"query": None, "budget": None, "uri": params.uri}
        call = calls.call_context if params.uri == _CONTEXT.uri else calls.read_document
        try:
            answer = await self._answer(call, values, context)
        except MemcliError as error:
            data = {"uri": params.uri}
            raise MCPError(types.INVALID_PARAMS, answers.sentence(error.reason), data) from None
        meta = answer.record() if call is calls.read_document else None
        text = types.TextResourceContents(
            uri=params.uri, mime_type=_MARKDOWN, text=_clean(answer.text), _meta=meta
        )
        return types.ReadResourceResult(contents=[text])

    async def _list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(each) for each in definitions.PROMPTS])

    async def _get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt = next((each for each in definitions.PROMPTS if each.name == params.name), None)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name!r:.80}")
        try:
            values = definitions.read(prompt.name, prompt.arguments, params.arguments or {})
            values = {"query": None, "budget": None, **values}
            answer = await self._answer(calls.call_context, values, context)
        except MemcliError as error:
            raise MCPError(types.INVALID_PARAMS, answers.sentence(error.reason)) from None
        query = values["query"]
        text = f"{query}\n\n{answer.text}" if query else answer.text
        return types.GetPromptResult(
            messages=[types.PromptMessage(role="user", content=_text(text))]
        )


def serve(
    shared: SharedMemory, incoming: TextIO, outgoing: TextIO, *, structured: bool, writes: bool
) -> None:
    """Answer until the client closes its end, or is gone."""
    filterwarnings("ignore", message="The roots capability is deprecated")  # old clients have it
    memory = MemoryServer(shared, structured=structured, writes=writes)
    anyio.run(_serve, memory.protocol(), anyio.wrap_file(incoming), anyio.wrap_file(outgoing))


async def _serve(
    server: Server[Any], lines: anyio.AsyncFile[str], sink: anyio.AsyncFile[str]
) -> None:
    behind, messages = anyio.create_memory_object_stream[Any]()
    outgoing, answers = anyio.create_memory_object_stream[SessionMessage]()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_receive, lines, behind, outgoing)
            group.start_soon(_send, answers, sink)
            await server.run(messages, outgoing, server.create_initialization_options())
    except* (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # nobody reads any more


async def _receive(
    lines: anyio.AsyncFile[str],
    behind: MemoryObjectSendStream[Any],
    outgoing: MemoryObjectSendStream[SessionMessage],
) -> None:
    """Pass messages on, and answer a line that is none: the SDK would drop it in silence."""
    async with behind:
        async for line in lines:
            message: types.JSONRPCMessage | None = None
            with suppress(ValidationError):
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            # To the SDK, a request with the id 1.5 is a notification.
            is_doubtful = isinstance(message, types.JSONRPCNotification) and '"id"' in line
            error = _error_of(line) if message is None or is_doubtful else None
            if error is not None:
                await outgoing.send(SessionMessage(error))
            elif message is not None:
                await behind.send(SessionMessage(message))


async def _send(
    answers: MemoryObjectReceiveStream[SessionMessage], file: anyio.AsyncFile[str]
) -> None:
    async for each in answers:
        await file.write(each.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n")
        await file.flush()


def _error_of(line: str) -> types.JSONRPCError | None:
    """Return the error for a line that is not a message, with its id.

    None for a blank line, for a notification, and for a response, which is never answered.
    """
    number = None
    try:
        errors = json.loads(line)
    except (ValueError, RecursionError):
        if not line.strip():
            return None
        error = types.ErrorData(code=types.PARSE_ERROR, message="the line is not JSON")
    else:
        if isinstance(errors, dict):
            if "result" in errors or "error" in errors:
                return None
            if errors.get("jsonrpc") == "2.0" and "id" not in errors and "method" in errors:
                return None
            number = errors.get("id")
        message = "the line is not a message of JSON-RPC 2.0"
        error = types.ErrorData(code=types.INVALID_REQUEST, message=message)
    is_id = isinstance(number, str) or type(number) is int
    return types.JSONRPCError(jsonrpc="2.0", id=number if is_id else None, error=error)


def _quietly(work: Callable[[], object]) -> None:
    """Do the first caller's work in advance, and ignore errors: that call will report them."""
    with suppress(MemcliError, OSError):
        work()


def _tool(tool: definitions.ToolDefinition) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.help,
        input_schema=tool.schema,
        annotations=_EFFECTS[tool.effect],
    )


def _prompt(prompt: definitions.ToolDefinition) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=each.name, description=each.help, required=each.required)
        for each in prompt.arguments
    ]
    return types.Prompt(
        name=prompt.name, title=prompt.title, description=prompt.help, arguments=arguments
    )


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=_clean(text))


def _clean(text: str) -> str:
    """Remove what JSON in UTF-8 cannot contain: halves of characters, in names."""
    return text.encode("utf-8", "replace").decode("utf-8")
