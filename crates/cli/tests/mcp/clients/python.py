"""The official Python client, in the era that the test names.

It follows the same steps as the TypeScript ones (see steps.mjs): one JSON object a line on stdin, one answer a line on
stdout. It must never hide a failure: what the client raises is what the test reads.
"""

import contextlib
import json
import sys
import warnings

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

# Lines of the console are heard by a part of the protocol that is going away.
warnings.simplefilter("ignore")

SETUP = json.loads(sys.argv[1])
STATELESS = SETUP["era"] == "stateless"


def say(line):
    print(json.dumps(line), flush=True)


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def told(error):
    if isinstance(error, MCPError):
        return {"failed": {"code": error.error.code, "message": error.error.message}}
    return {"failed": {"name": type(error).__name__, "message": str(error)}}


class Heard:
    """Something that is heard again and again, and waited for."""

    def __init__(self):
        self.put, self.take = anyio.create_memory_object_stream(1000)

    def hear(self, one):
        self.put.send_nowait(one)


class Steps:
    def __init__(self, tasks):
        self.tasks = tasks
        self.progress_heard, self.changes, self.lines, self.ends = Heard(), Heard(), Heard(), Heard()
        self.asked_for = []
        self.next_answer = {"action": "cancel"}
        self.scope = None
        self.client = None

    async def on_progress(self, progress, total, message):
        self.progress_heard.hear({"progress": progress, "total": total, "message": message})

    async def on_question(self, _context, params):
        self.asked_for.append(plain(params))
        return types.ElicitResult(**self.next_answer)

    async def on_log(self, params):
        self.lines.hear(plain(params))

    async def on_message(self, message):
        if isinstance(message, types.ToolListChangedNotification) and not STATELESS:
            self.changes.hear(True)

    async def watch(self, *, task_status):
        async with self.client.listen(tools_list_changed=True) as events:
            task_status.started()
            async for _ in events:
                self.changes.hear(True)

    async def perform(self, step):
        called = await self.client.call_tool(
            step["name"], step.get("arguments"), progress_callback=self.on_progress
        )
        return {"called": plain(called)}

    async def keep(self, step, *, task_status):
        with anyio.CancelScope() as self.scope:
            task_status.started()
            try:
                end = await self.perform(step)
            except Exception as error:
                end = told(error)
            self.ends.hear(end)
        if self.scope.cancelled_caught:
            self.ends.hear({"failed": {"name": "Cancelled", "message": "the test wants no more of it"}})

    async def list(self, _):
        return {"listed": [plain(tool) for tool in (await self.client.list_tools()).tools]}

    async def call(self, step):
        return await self.perform(step)

    async def begin(self, step):
        await self.tasks.start(self.keep, step)
        return {"began": step["name"]}

    async def finish(self, _):
        return await self.ends.take.receive()

    async def cancel(self, _):
        self.scope.cancel()
        return {"cancelled": await self.ends.take.receive()}

    async def progress(self, _):
        return {"progress": await self.progress_heard.take.receive()}

    async def changed(self, _):
        return {"changed": await self.changes.take.receive()}

    async def answer(self, step):
        self.next_answer = step["with"]
        return {"answers": step["with"]["action"]}

    async def asked(self, _):
        asked, self.asked_for = self.asked_for, []
        return {"asked": asked}

    async def logged(self, _):
        return {"logged": await self.lines.take.receive()}


@contextlib.asynccontextmanager
async def server():
    if "url" in SETUP:
        async with httpx2.AsyncClient(headers=SETUP["headers"], timeout=60) as http:
            yield streamable_http_client(SETUP["url"], http_client=http)
    else:
        yield StdioServerParameters(**SETUP["server"])


async def main():
    async with server() as at, anyio.create_task_group() as tasks:
        steps = Steps(tasks)
        client = Client(
            at,
            mode="auto" if STATELESS else "legacy",
            client_info=types.Implementation(name="python", version="2"),
            elicitation_callback=steps.on_question if SETUP["elicitation"] else None,
            logging_callback=steps.on_log,
            log_level=SETUP["logs"] if STATELESS else None,
            message_handler=steps.on_message,
        )
        async with client:
            steps.client = client
            if STATELESS:
                await tasks.start(steps.watch)
            elif SETUP["logs"]:
                await client.set_logging_level(SETUP["logs"])
            info = client.server_info
            say({"connected": {"version": client.protocol_version, "server": plain(info) if info else None}})
            while line := await anyio.to_thread.run_sync(sys.stdin.readline):
                step = json.loads(line)
                try:
                    say(await getattr(steps, step["do"])(step))
                except Exception as error:
                    say(told(error))
            tasks.cancel_scope.cancel()


anyio.run(main)
