"""The environment over HTTP: docs/environment-protocol.md, "Over HTTP"."""

from __future__ import annotations

import asyncio
import hmac
import json
from typing import Awaitable, Callable

from aiohttp import web

from .conversation import Conversation
from .library import Library
from .loading import Found
from .calls.model_clients import ModelClients
from .outbox import Outbox
from .preparing import Preparing
from .calls.relay import Callers
from .session import PROTOCOL_VERSION, Session

# A batch has about 4 MiB, but for one message that is larger: answers of models, examples.
MOST_BYTES = 256 * 1024 * 1024
WATCH_S = 5.0


def refusal(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": code, "message": message}}, status=status)


class Server:
    """Serves the conversations. Runs in a thread of its own, so that beats go out whatever the environment's code does to its loop, which is `rollouts`."""

    def __init__(self, found: Found, library: Library, token: str, rollouts: asyncio.AbstractEventLoop, callers: Callers, clients: ModelClients, concurrency: int | None):
        self._found = found
        self._library = library
        self._token = token
        self._rollouts = rollouts
        self._callers = callers
        self._clients = clients
        self._concurrency = concurrency
        self._preparing = Preparing()
        self._conversations: dict[str, Conversation] = {}
        self._runner: web.AppRunner | None = None
        self._watch: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Listens; returns the address."""
        app = web.Application(client_max_size=MOST_BYTES, middlewares=[self._guard])
        app.router.add_get("/health", self._health)
        app.router.add_post("/conversations", self._open)
        app.router.add_post("/conversations/{id}", self._batch)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        self._watch = asyncio.create_task(self._look())
        address = self._runner.addresses[0]
        return address[0], address[1]

    async def stop(self) -> None:
        """Ends all conversations and stops listening."""
        if self._watch is not None:
            self._watch.cancel()
        for conversation in list(self._conversations.values()):
            conversation.end()
        if self._runner is not None:
            await self._runner.cleanup()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.StreamResponse:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
            return refusal(401, "unauthorized", "the token of this environment is not in the request: Authorization: Bearer TOKEN")
        try:
            return await handler(request)
        except web.HTTPNotFound:
            return refusal(404, "not_found", f"there is no {request.path}")
        except web.HTTPMethodNotAllowed:
            return refusal(405, "invalid_request", f"{request.method} is not allowed on {request.path}")
        except web.HTTPRequestEntityTooLarge:
            return refusal(413, "body_too_large", f"a batch has at most {MOST_BYTES} bytes")

    async def _health(self, request: web.Request) -> web.Response:
        if "loop" in request.query:
            # Answered once the environment's code has given its loop a turn, which it owes nobody while it is loaded.
            turn = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._rollouts))
            while not turn.done() and not self._preparing.is_under_way:
                await asyncio.wait({turn}, timeout=WATCH_S)
        units = sum(each.units for each in self._conversations.values())
        told = {"protocol": PROTOCOL_VERSION, "environment": self._found.id, "version": self._found.version}
        return web.json_response({**told, "conversations": len(self._conversations), "units": units})

    def _session(self, outbox: Outbox, on_close: Callable[[], None]) -> Session:
        return Session(self._found, self._library, outbox, self._callers, self._clients, self._concurrency, self._preparing, on_close)

    async def _open(self, request: web.Request) -> web.StreamResponse:
        conversation = Conversation(self._rollouts, self._session)
        response = web.StreamResponse(headers={"content-type": "application/x-ndjson", "cache-control": "no-store"})
        self._conversations[conversation.id] = conversation
        try:
            await response.prepare(request)
            await response.write(json.dumps({"conversation": conversation.id, "v": PROTOCOL_VERSION}).encode() + b"\n")
            while (batch := await conversation.next()) is not None:
                await response.write(batch)
            await response.write_eof()
        except ConnectionError:
            # Whoever read has gone.
            pass
        finally:
            conversation.end()
            del self._conversations[conversation.id]
        return response

    async def _batch(self, request: web.Request) -> web.Response:
        conversation = self._conversations.get(request.match_info["id"])
        if conversation is None or conversation.is_over:
            return refusal(404, "not_found", "there is no such conversation; it may be over")
        try:
            number = int(request.query.get("n", ""))
        except ValueError:
            return refusal(422, "invalid_request", "n: the number of the batch is missing (a whole number from 1 on)")
        problem = conversation.take(number, await request.read())
        return web.Response(status=204) if problem is None else refusal(409, "invalid_request", problem)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            for conversation in list(self._conversations.values()):
                if conversation.is_silent():
                    conversation.end()
