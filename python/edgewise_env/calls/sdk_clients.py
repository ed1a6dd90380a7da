"""The two SDKs with the way to the model taken out: most requests never become HTTP."""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any

from .relay import Caller
from .sdk_calls import answer_of, asked_of, is_plain_call


@lru_cache
def relayed_openai() -> type:
    """A class as OpenAI's `AsyncOpenAI` whose calls of the model under evaluation go through its `caller`."""
    from openai import APIConnectionError, APITimeoutError, AsyncOpenAI

    return _relayed(AsyncOpenAI, "RelayedOpenAI", APIConnectionError, APITimeoutError)


@lru_cache
def relayed_anthropic() -> type:
    """The same of Anthropic's `AsyncAnthropic`."""
    from anthropic import APIConnectionError, APITimeoutError, AsyncAnthropic

    return _relayed(AsyncAnthropic, "RelayedAnthropic", APIConnectionError, APITimeoutError)


def _relayed(sdk: Any, name: str, connection_error: Any, timeout_error: Any) -> type:
    class Relayed(sdk):  # type: ignore[misc]
        """What is not a plain call, or for another address, takes the SDK's own way: over the transport, or out."""

        def __init__(self, *, caller: Caller | None = None, own_url: str = "", **options: Any):
            super().__init__(**options)
            self._caller = caller
            self._own_url = own_url
            self._relays = caller is not None and str(self.base_url).startswith(own_url)

        def copy(self, *, _extra_kwargs: Any = {}, **options: Any) -> Any:
            return super().copy(_extra_kwargs={"caller": self._caller, "own_url": self._own_url, **_extra_kwargs}, **options)

        with_options = copy

        async def request(self, cast_to: Any, options: Any, *, stream: bool = False, stream_cls: Any = None, **rest: Any) -> Any:
            if not self._relays or self._caller is None or not is_plain_call(options, stream, cast_to):
                return await super().request(cast_to, options, stream=stream, stream_cls=stream_cls, **rest)
            route, body, state_values = asked_of(options)
            reply = await self._caller.relay(route, body, state_values)
            return answer_of(self, cast_to, options, reply, connection_error, timeout_error)

    Relayed.__name__ = Relayed.__qualname__ = name
    return Relayed


def http_library_of(sdk: type) -> Any:
    """The HTTP library that an SDK is written for."""
    home = sdk.__mro__[1].__module__.split(".")[0]
    base = importlib.import_module(f"{home}._base_client")
    return getattr(base, "httpx2", None) or base.httpx
