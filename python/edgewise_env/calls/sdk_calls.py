"""Requests and answers of the two SDKs, which are generated from one template and look alike inside."""

from __future__ import annotations

import json
import sys
from typing import Any, Mapping

import httpx

from .relay import ROUTES, Reply

# Headers whose values are of the state: what the engine asked for by `state_keys` comes in them, one for each key.
STATE_HEADER = "x-edgewise-state-"


class Refused(Exception):
    """What the other side said of a call; the cause of the SDK's error, which the library shows."""


# What the SDKs write where nothing is given.
_ABSENT = ("NotGiven", "Omit")


def _is_set(value: object) -> bool:
    return value is not None and type(value).__name__ not in _ABSENT


def is_plain_call(options: Any, stream: bool, cast_to: Any) -> bool:
    """Whether a request is one that a message carries: JSON to a route that is offered, answered by one object."""
    if stream or options.method.lower() != "post" or route_of(options.url) not in ROUTES:
        return False
    headers = options.headers
    if _is_set(headers) and any(name.lower().startswith("x-stainless-raw") or name == "____stainless_override_cast_to" for name in headers):
        return False
    if _is_set(options.post_parser) or _is_set(options.files) or _is_set(getattr(options, "content", None)) or options.params:
        return False
    return isinstance(options.json_data, Mapping) and (_http_of(cast_to) is not None or hasattr(cast_to, "model_fields"))


def _http_of(cast_to: Any) -> Any:
    """The HTTP library (httpx, or httpx2 in newer SDKs) whose response is asked for itself; null where it is not."""
    home = getattr(cast_to, "__module__", "").split(".")[0]
    return sys.modules[home] if home in ("httpx", "httpx2") and cast_to.__name__ == "Response" else None


def route_of(url: str) -> str:
    """The route below the base URL."""
    return url.strip("/").removeprefix("v1/")


def asked_of(options: Any) -> tuple[str, str, dict[str, str]]:
    """The route of a plain call, its body as JSON, and the values of the state that go with it. Raises for a body that is no JSON, as the SDK does."""
    body = {**options.json_data, **(options.extra_json or {})}
    body = {name: value for name, value in body.items() if type(value).__name__ not in _ABSENT}
    headers = options.headers if _is_set(options.headers) else {}
    values = {name[len(STATE_HEADER) :]: value for name, value in headers.items() if name.startswith(STATE_HEADER) and isinstance(value, str)}
    return route_of(options.url), json.dumps(body, allow_nan=False, default=_default, separators=(",", ":")), values


def _default(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_unset=True, mode="json", by_alias=True)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "__iter__"):
        return list(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def answer_of(client: Any, cast_to: Any, options: Any, reply: Reply, connection_error: Any, timeout_error: Any) -> Any:
    """What the SDK gives for `reply`: its own object, or one of its own errors raised."""
    if reply.ok:
        http = _http_of(cast_to)
        if http is not None:
            return http_response(http, client, options, reply)
        return client._process_response_data(data=json.loads(reply.text), cast_to=cast_to, response=None)
    raise refusal_of(client, options, reply, connection_error, timeout_error)


def http_response(http: Any, client: Any, options: Any, reply: Reply) -> Any:
    """The reply as a response of that HTTP library."""
    request = http.Request("POST", str(client.base_url) + options.url.lstrip("/"))
    headers = {"content-type": reply.content_type, "x-should-retry": "false"}
    return http.Response(reply.status, headers=headers, content=reply.text.encode(), request=request)


def refusal_of(client: Any, options: Any, reply: Reply, connection_error: Any, timeout_error: Any) -> Exception:
    error = reply.error or {}
    code = error.get("code")
    response = http_response(httpx, client, options, reply)
    if code in ("request_timeout", "connect_timeout"):
        raised = timeout_error(request=response.request)
        raised.__cause__ = Refused(error.get("message", code))
    elif code in ("connection_failed", "connection_cut"):
        raised = connection_error(request=response.request)
        raised.__cause__ = Refused(error.get("message", code))
    else:
        raised = client._make_status_error_from_response(response)
    raised.edgewise_code = code
    return raised
