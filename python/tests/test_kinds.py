"""Environments of every kind: their rows are the ones that the library makes itself, key by key and in their order."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import unittest
from typing import Any

from .engine import HERE, PACKAGE, PATIENCE_S, Engine, Process, replied
from .library_rows import serve
from .scripted import respond

KINDS = ("single_turn", "word_chain", "calculator", "vault", "mixture", "ranked", "judged", "six_calls")
ROLLOUTS = 2


def comparable(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what is of the moment: of its times the names alone."""
    times = row["timing"]
    return {**row, "timing": sorted(times)}


async def library_rows() -> dict[str, list[dict[str, Any]]]:
    """The library's own rows of all kinds, from one process."""
    path = os.pathsep.join([str(PACKAGE), str(HERE / "environments"), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "JUDGE_KEY": "a key"}
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, "-m", "tests.library_rows", str(ROLLOUTS), *KINDS]
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe, env=env, cwd=PACKAGE)
    out, log = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode == 0, log.decode()[-2000:]
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in out.decode().splitlines():
        if line.startswith("ROW "):
            _, module, row = line.split(" ", 2)
            rows.setdefault(module, []).append(json.loads(row))
    return rows


async def served_rows(module: str) -> list[dict[str, Any]]:
    runner, url = await serve()
    rows = []
    async with Process(module, env={"JUDGE_KEY": "a key"}) as process:
        async with Engine(process, lambda body: replied(respond(body))) as engine:
            await engine.open({"judge_url": url} if module == "judged" else {})
            for example in await engine.examples():
                ended = await engine.play(example, list(range(ROLLOUTS)))
                rows += [ended[index]["row"] for index in range(ROLLOUTS)]
    await runner.cleanup()
    return rows


class Kinds(unittest.IsolatedAsyncioTestCase):
    async def test_have_the_rows_that_the_library_makes(self):
        own = await library_rows()
        for kind in KINDS:
            with self.subTest(kind):
                served = await served_rows(kind)
                self.assertEqual([list(row) for row in served], [list(row) for row in own[kind]])
                self.assertEqual([comparable(row) for row in served], [comparable(row) for row in own[kind]])
                self.assertTrue(any(row["reward"] > 0 for row in served), "the model plays well somewhere, or nothing is compared")


if __name__ == "__main__":
    unittest.main()
