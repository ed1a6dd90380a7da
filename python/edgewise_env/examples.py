"""The examples of an environment: given out by pages, and found again when one comes back to be played."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, Iterator

from .failures import Failure
from .plain import LARGEST_WHOLE, NotPlain, plain, same_crossed

# Rows of a page, and characters of their JSON, about: docs/environment-protocol.md.
PAGE_ROWS = 500
PAGE_CHARACTERS = 1024 * 1024
# Rows that are taken out of the data set at once, and how many such chunks are held.
CHUNK = 256
MOST_CHUNKS = 64

ROLES = ("system", "user", "text", "assistant", "tool")


class Examples:
    """The rows of the data set that verifiers evaluates on. `env_id` stands where a row has no task. `columns`: those that rollouts are played with; null = all."""

    def __init__(self, environment: Any, env_id: str, columns: frozenset[str] | None):
        self._environment = environment
        self._env_id = env_id
        self._columns = columns
        self._data: Any = None
        self._at: dict[int, int] | None = None
        self._chunks: dict[int, list[dict[str, Any]]] = {}

    @property
    def data(self) -> Any:
        """The data set itself. Raises what building it raises."""
        if self._data is None:
            self._data = self._environment.get_eval_dataset()
        return self._data

    @property
    def size(self) -> int:
        return len(self.data)

    def crossing(self, count: int) -> Iterator[str]:
        """The first `count` examples as JSON (below 1: all). Raises `Failure` for one that is none."""
        most = self.size if count < 1 else min(count, self.size)
        for begin in range(0, most, CHUNK):
            for row in self._chunk(begin)[: most - begin]:
                yield json.dumps(self._crossed(row), allow_nan=False)

    def _chunk(self, begin: int) -> list[dict[str, Any]]:
        """The rows from `begin` on, as verifiers takes them: `dataset[i]` decodes some columns in another way than `to_list`."""
        rows = self._chunks.get(begin)
        if rows is None:
            rows = self.data.select(range(begin, min(begin + CHUNK, self.size))).to_list()
            if len(self._chunks) >= MOST_CHUNKS:
                del self._chunks[next(iter(self._chunks))]
            self._chunks[begin] = rows
        return rows

    def _crossed(self, row: dict[str, Any]) -> dict[str, Any]:
        example_id = row.get("example_id")
        if isinstance(example_id, bool) or not isinstance(example_id, int) or abs(example_id) > LARGEST_WHOLE:
            raise Failure("environment_failed", f"column example_id: {example_id!r} is no whole number that can be told apart")
        crossed = {}
        for name, value in row.items():
            try:
                crossed[name] = plain(value, name)
            except NotPlain as problem:
                raise Failure(
                    "environment_failed",
                    f"column {name} of the data set: in example {example_id} {problem}, which is no JSON",
                    "Leave such columns out of the data set, or make texts of them in load_environment.",
                ) from None
        crossed["prompt"] = self._prompt(crossed.get("prompt"), example_id)
        if not isinstance(crossed.get("task"), str):
            crossed["task"] = self._env_id
        return crossed

    @staticmethod
    def _prompt(prompt: Any, example_id: int) -> list[Any]:
        if isinstance(prompt, str):
            return [{"role": "text", "content": prompt}]
        if not isinstance(prompt, list):
            raise Failure("environment_failed", f"column prompt of the data set: example {example_id} has neither messages nor a text")
        for message in prompt:
            role = message.get("role") if isinstance(message, dict) else None
            if role not in ROLES:
                raise Failure("environment_failed", f"column prompt of the data set: example {example_id} has a message of role {role!r} (allowed: {', '.join(ROLES)})")
        return prompt

    def original(self, crossed: dict[str, Any]) -> dict[str, Any]:
        """The row that `crossed` was made of, with all that JSON does not say; `crossed` itself where the data set has it no more."""
        if self._at is None:
            ids = self.data["example_id"]
            self._at = {each: at for at, each in reversed(list(enumerate(ids)))}
        at = self._at.get(crossed["example_id"])
        if at is not None:
            row = self._chunk(at - at % CHUNK)[at % CHUNK]
            if same_crossed(self._crossed(row), crossed):
                return self._played(deepcopy(row))
        return self._played(self._foreign(crossed))

    def _played(self, row: dict[str, Any]) -> dict[str, Any]:
        return row if self._columns is None else {name: value for name, value in row.items() if name in self._columns}

    def _foreign(self, crossed: dict[str, Any]) -> dict[str, Any]:
        if "task" in self.data.column_names:
            return crossed
        return {name: value for name, value in crossed.items() if name != "task"}


def page(rows: Iterator[str]) -> tuple[list[str], bool]:
    """The next page of `rows`, and whether it is the last."""
    taken: list[str] = []
    characters = 0
    while len(taken) < PAGE_ROWS and characters < PAGE_CHARACTERS:
        row = next(rows, None)
        if row is None:
            return taken, True
        taken.append(row)
        characters += len(row)
    return taken, False
