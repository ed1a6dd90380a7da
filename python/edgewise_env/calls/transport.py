"""Requests of the SDKs that are not plain calls (streams, raw responses), and those of code with an HTTP client of its own, without a socket."""

from __future__ import annotations

import json
import time
from typing import Any

from .relay import ROUTES, Caller, Callers, Reply


def refusal(status: int, code: str, message: str) -> Reply:
    """An answer of our own, in OpenAI's form."""
    return Reply(status, "application/json", json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": code}}), {"code": code, "message": message})


def models(model: str) -> Reply:
    """The list of models: the one under evaluation."""
    listed = {"object": "list", "data": [{"id": model, "object": "model", "created": int(time.time()), "owned_by": "edgewise"}]}
    return Reply(200, "application/json", json.dumps(listed))


async def answer(callers: Callers, method: str, path: str, body: bytes) -> Reply:
    """The answer to a request at a rollout's own address."""
    caller, route = callers.find(path)
    if caller is None:
        return refusal(404, "not_found", "no rollout that is open has this address")
    if method == "GET" and route == "models":
        return models(caller.model)
    if method != "POST" or route not in ROUTES:
        return refusal(404, "not_found", f"{method} {route} is not offered here (POST to {', '.join(ROUTES)}; GET models)")
    return await _relayed(caller, route, body)


async def _relayed(caller: Caller, route: str, body: bytes) -> Reply:
    try:
        told: Any = json.loads(body)
    except ValueError as problem:
        return refusal(400, "bad_request", f"the body is no JSON: {problem}")
    if not isinstance(told, dict):
        return refusal(400, "bad_request", "the body is no JSON object")
    try:
        text = json.dumps(told, allow_nan=False, separators=(",", ":"))
    except ValueError as problem:
        return refusal(400, "bad_request", f"the body is no JSON: {problem}")
    return await caller.relay(route, text)


def http_client(http: Any, callers: Callers, own_url: str, timeout: float) -> Any:
    """A client of the HTTP library `http` (httpx, or httpx2 in newer SDKs) that reaches the rollouts which are open in this process below `own_url` without a socket, and all else as ever."""

    class RelayTransport(http.AsyncBaseTransport):  # type: ignore[misc, name-defined]
        async def handle_async_request(self, request: Any) -> Any:
            reply = await answer(callers, request.method, request.url.path, await request.aread())
            # Retries are the other side's: it has made them.
            headers = {"content-type": reply.content_type, "x-should-retry": "false"}
            return http.Response(reply.status, headers=headers, content=reply.text.encode(), request=request)

    return http.AsyncClient(mounts={own_url.rstrip("/"): RelayTransport()}, timeout=timeout)
