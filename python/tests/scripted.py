"""The scripted model: what it answers follows from the request alone, so that whoever asks gets the same."""

from __future__ import annotations

import json
from typing import Any

from .engine import completion


def respond(body: dict[str, Any]) -> dict[str, Any]:
    """A chat completion for `body`."""
    messages = body["messages"]
    last = messages[-1]
    text = last["content"] if isinstance(last["content"], str) else json.dumps(last["content"])
    if body["model"] == "a judge":
        return completion("Yes, it is right.")
    if last["role"] == "tool":
        return completion(text)
    if body.get("tools"):
        return called(body["tools"][0]["function"]["name"], messages)
    if text.startswith("Louder"):
        return completion(messages[1]["content"] + "!" * (len(messages) // 4))
    return completion(f"An answer to {text}")


def called(name: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    digits = [int(word.strip("?+")) for word in messages[-1]["content"].split() if word.strip("?+").isdigit()]
    arguments = {"a": digits[0], "b": digits[1]} if name == "add" else {"value": str(digits[0])}
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return completion("", tool_calls=[call])
