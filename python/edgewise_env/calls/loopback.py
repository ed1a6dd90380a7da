"""A real address on this machine for what the environment starts: agents and tools that know nothing of this process."""

from __future__ import annotations

import asyncio

from aiohttp import web

from .relay import Callers
from .transport import answer

# A request of a rollout: docs/environment-protocol.md, with some room.
MOST_BYTES = 17 * 1024 * 1024


class Loopback:
    """Serves the addresses of the rollouts on 127.0.0.1. Runs in another thread than they do: `rollouts` is their loop."""

    def __init__(self, callers: Callers, rollouts: asyncio.AbstractEventLoop):
        self._callers = callers
        self._rollouts = rollouts
        self._runner: web.AppRunner | None = None

    async def start(self) -> int:
        """Listens; returns the port."""
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        return self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        work = answer(self._callers, request.method, request.path, body)
        # Whoever hangs up cancels this handler, and with it the call.
        reply = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._rollouts))
        content_type = reply.content_type.split(";")[0].strip() or "application/json"
        return web.Response(status=reply.status, text=reply.text, content_type=content_type, headers={"x-should-retry": "false"})
