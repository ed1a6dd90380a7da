"""The library's clients of the model under evaluation, one for each rollout."""

from __future__ import annotations

from typing import Any

from ..library import Library
from .relay import Caller, Callers
from .sdk_calls import STATE_HEADER
from .sdk_clients import http_library_of, relayed_anthropic, relayed_openai
from .transport import http_client

# The library's client for each type of client that the engine has; others speak chat completions with the environment's side.
_CLIENTS = {
    "openai_chat_completions": "OpenAIChatCompletionsClient",
    "openai_completions": "OpenAICompletionsClient",
    "openai_responses": "OpenAIResponsesClient",
    "anthropic_messages": "AnthropicMessagesClient",
}
# What stands where a key would: no server of ours asks for one, and SDKs refuse to do without.
NO_KEY = "none-is-needed"
# A call waits for its permit first, however long that takes; limits on calls are the other side's.
TIMEOUT_S = 24 * 3600.0


class ModelClients:
    """Makes clients. `port` is where their addresses are on 127.0.0.1."""

    def __init__(self, library: Library, callers: Callers, port: int):
        self._library = library
        self._callers = callers
        self._own_url = f"http://127.0.0.1:{port}/"
        # For all clients of an SDK: what it holds for other addresses costs far more than a client.
        self._http: dict[type, Any] = {}

    def _http_of(self, sdk: type) -> Any:
        if sdk not in self._http:
            self._http[sdk] = http_client(http_library_of(sdk), self._callers, self._own_url, TIMEOUT_S)
        return self._http[sdk]

    def of(self, caller: Caller, client_type: str, state_keys: list[str]) -> Any:
        """The library's client whose calls go through `caller`; its address is the rollout's own."""
        kind = client_type if client_type in _CLIENTS else "openai_chat_completions"
        anthropic = kind == "anthropic_messages"
        base_url = self._own_url + caller.token + ("" if anthropic else "/v1")
        sdk = relayed_anthropic() if anthropic else relayed_openai()
        own = sdk(caller=caller, own_url=self._own_url, api_key=NO_KEY, base_url=base_url, http_client=self._http_of(sdk), max_retries=0, timeout=TIMEOUT_S)
        if self._library.clients is None:
            return own
        client = getattr(self._library.clients, _CLIENTS[kind])(own)
        client._config = self._config(kind, base_url, state_keys)
        return client

    def _config(self, kind: str, base_url: str, state_keys: list[str]) -> Any:
        config = self._library.client_config
        options = {"client_type": kind, "api_key_var": "EDGEWISE_NO_KEY", "api_base_url": base_url, "max_retries": 0, "timeout": TIMEOUT_S}
        if "extra_headers_from_state" in config.model_fields:
            options["extra_headers_from_state"] = {STATE_HEADER + key: key for key in state_keys}
        return config(**{name: value for name, value in options.items() if name in config.model_fields})

    async def close(self) -> None:
        for http in self._http.values():
            await http.aclose()
