"""The engine's side of the protocol, for tests: starts the real process, speaks HTTP with it, and answers its model calls with `model`."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any, Callable

import aiohttp

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent
# How long anything may take here: starting it imports a library that takes seconds. Seconds.
PATIENCE_S = 120.0

Model = Callable[[dict[str, Any]], Any]


def completion(text: str, **message: Any) -> dict[str, Any]:
    """A chat completion as servers give it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def replied(body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    return {"reply": {"status": status, "content_type": "application/json", "text": json.dumps(body)}}


def refused(status: int, code: str, message: str, **more: Any) -> dict[str, Any]:
    """The answer to a call that a server refused."""
    error = {"name": "EdgewiseError", "message": message, "code": code, "causes": [], **more}
    return {**replied({"error": {"message": message, "type": "refused", "code": code}}, status), "error": error}


def crossed(value: Any) -> Any:
    """`value` as a reader with doubles alone gives it back: whole ones without a point, large ones rounded."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return int(float(value)) if float(value).is_integer() else value
    if isinstance(value, dict):
        return {name: crossed(each) for name, each in value.items()}
    return [crossed(each) for each in value]


class Process:
    """The server's process."""

    def __init__(self, environment: str, *options: str, token: str | None = "a token of the test", env: dict[str, str] | None = None):
        self._command = [sys.executable, "-m", "edgewise_env", environment, "--env-dir", str(HERE / "environments"), "--with-parent", *options]
        self._env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(HERE / "environments")]), **(env or {})}
        self._env.pop("EDGEWISE_ENV_TOKEN", None)
        if token is not None:
            self._env["EDGEWISE_ENV_TOKEN"] = token
        self.token = token
        self.line: dict[str, Any] = {}
        self.process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> "Process":
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe, stderr=pipe, env=self._env, cwd="/", start_new_session=True)
        assert self.process.stdout is not None
        self._log = asyncio.create_task(self._read_log())
        self.line = json.loads(await asyncio.wait_for(self.process.stdout.readline(), PATIENCE_S))
        self.token = self.line.get("token", self.token)
        return self

    async def _read_log(self) -> None:
        self.log = ""
        assert self.process is not None and self.process.stderr is not None
        while chunk := await self.process.stderr.read(65536):
            self.log += chunk.decode("utf-8", "replace")

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    async def end(self) -> int:
        """Closes its standard input, and waits until it has ended."""
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.close()
        try:
            status = await asyncio.wait_for(self.process.wait(), 40)
        except asyncio.TimeoutError:
            self.process.kill()
            raise
        await self._log
        return status


class Engine:
    """One conversation with a process."""

    def __init__(self, process: Process, model: Model):
        self._process = process
        self._model = model
        self._session = aiohttp.ClientSession(headers={"Authorization": f"Bearer {process.token}"})
        self._numbers = itertools.count(1)
        self._units = itertools.count(1)
        self._waiting: dict[str, list[asyncio.Future[dict[str, Any]]]] = {}
        self._sending = asyncio.Lock()
        self._answers: set[asyncio.Task[None]] = set()
        self.heard: list[dict[str, Any]] = []
        self.calls: list[dict[str, Any]] = []
        self.beats = 0
        self.is_over = False

    async def __aenter__(self) -> "Engine":
        self._response = await self._session.post(f"{self._process.line['url']}/conversations", timeout=aiohttp.ClientTimeout(total=None))
        assert self._response.status == 200, await self._response.text()
        self._response.content._high_water = 2**26  # lines are whole batches
        first = await self._line()
        self._url = f"{self._process.line['url']}/conversations/{first['conversation']}"
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reader.cancel()
        await asyncio.gather(self._reader, *self._answers, return_exceptions=True)
        self._response.close()
        await self._session.close()

    async def _line(self) -> Any:
        text = b""
        while not text.endswith(b"\n"):
            chunk = await self._response.content.readany()
            if not chunk:
                return None
            text += chunk
            if b"\n" in text[:-1]:
                break
        self._rest = text.split(b"\n")
        return json.loads(self._rest[0])

    async def _read(self) -> None:
        buffer = b"\n".join(self._rest[1:])
        while True:
            while b"\n" in buffer:
                line, buffer = buffer.split(b"\n", 1)
                batch = json.loads(line)
                self.beats += not batch
                for message in batch:
                    self._take(message)
            chunk = await self._response.content.readany()
            if not chunk and self._response.content.at_eof():
                self.is_over = True
                return
            buffer += chunk

    def _take(self, message: dict[str, Any]) -> None:
        self.heard.append(message)
        if message["type"] == "call":
            self.calls.append(message)
            task = asyncio.create_task(self._answer(message))
            self._answers.add(task)
            task.add_done_callback(self._answers.discard)
        for waiting in self._waiting.pop(message["type"], []):
            if not waiting.done():
                waiting.set_result(message)

    async def _answer(self, call: dict[str, Any]) -> None:
        answer = self._model(call["request"]["body"])
        if asyncio.iscoroutine(answer):
            answer = await answer
        if answer is not None:
            await self.say({"type": "answer", "call": call["call"], **answer})

    async def post(self, batch: list[dict[str, Any]], number: int) -> int:
        async with self._session.post(f"{self._url}?n={number}", json=batch) as answer:
            return answer.status

    async def say(self, message: dict[str, Any]) -> None:
        async with self._sending:
            assert await self.post([message], next(self._numbers)) == 204

    async def next(self, kind: str) -> dict[str, Any]:
        """The next message of that type."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(kind, []).append(waiting)
        return await asyncio.wait_for(waiting, PATIENCE_S)

    async def ask(self, message: dict[str, Any], *kinds: str) -> dict[str, Any]:
        """Says `message` and gives the answer, which is of one of `kinds`."""
        waiting = [asyncio.create_task(self.next(kind)) for kind in kinds]
        await asyncio.sleep(0)
        await self.say(message)
        done, others = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for other in others:
            other.cancel()
        return done.pop().result()

    async def open(self, args: dict[str, Any] | None = None, extra: dict[str, Any] | None = None) -> dict[str, Any]:
        """Opens the environment; its traits."""
        opening = {"type": "open", "v": 1, "args": args or {}, "extra": extra or {}, "rubric": None, "keys": {}, "variables": {}}
        answer = await self.ask(opening, "opened", "failed")
        assert answer["type"] == "opened", answer
        return answer["traits"]

    async def examples(self, count: int = -1) -> list[dict[str, Any]]:
        answer = await self.ask({"type": "read", "read": next(self._units), "count": count}, "examples")
        assert "error" not in answer, answer
        return crossed(answer["rows"])

    def order(self, example: dict[str, Any], rollouts: list[int], **more: Any) -> dict[str, Any]:
        """A `play`."""
        unit = next(self._units)
        usual = {"type": "play", "unit": unit, "input": example, "rollouts": rollouts, "model": "m", "client_type": "openai_chat_completions"}
        asked = {"scores_texts": False, "state_keys": [], "sampling_args": {}, "independent": False, "deadline_ms": None, "stops": 1, "stops_generation": 1}
        kept = {"max_retries": 0, "generated": [], "begun": [], "stored": None, "part": None, "waits_for_turn": False, "keeps_turns": False}
        return {**usual, **asked, **kept, "tells_all": False, "columns": [], **more}

    async def play(self, example: dict[str, Any], rollouts: list[int], **more: Any) -> dict[int, dict[str, Any]]:
        """Plays a unit: the `ended` of each rollout, with its row read."""
        order = self.order(example, rollouts, **more)
        answer = await self.ask(order, "played", "unit_failed")
        assert answer["type"] == "played", answer
        ended = [message for message in self.heard if message["type"] == "ended" and message["unit"] == order["unit"]]
        return {message["rollout"]: {**message, "row": json.loads(message["row"])} for message in ended}
