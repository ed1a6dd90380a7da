"""The process: its first line, who may speak with it, what it prints, and its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
import unittest
from pathlib import Path

import aiohttp

from .engine import Engine, Process, completion, replied
from .scripted import respond


def answer(body):
    return replied(respond(body))


class Processes(unittest.IsolatedAsyncioTestCase):
    async def test_who_has_no_token_is_refused(self):
        async with Process("single-turn", token=None) as process:
            self.assertGreater(len(process.line["token"]), 20)
            async with aiohttp.ClientSession() as session:
                for token in ("wrong", ""):
                    answer = await session.get(f"{process.line['url']}/health", headers={"Authorization": f"Bearer {token}"})
                    self.assertEqual((answer.status, (await answer.json())["error"]["code"]), (401, "unauthorized"))
                own = {"Authorization": f"Bearer {process.line['token']}"}
                health = await (await session.get(f"{process.line['url']}/health", headers=own)).json()
                self.assertEqual(health, {"protocol": 1, "environment": "single-turn", "version": "0", "conversations": 0, "units": 0})
                for path in ("/conversations/nobody?n=1", "/elsewhere"):
                    missing = await session.post(process.line["url"] + path, headers=own, json=[])
                    self.assertEqual((missing.status, (await missing.json())["error"]["code"]), (404, "not_found"))

    async def test_what_cannot_be_served_is_said_on_the_first_line(self):
        for name, code, words in (
            ("no-such-environment", "environment_not_found", "no-such-environment"),
            ("./nowhere.py", "environment_not_found", "nowhere.py"),
            ("json", "environment_failed", "has no function load_environment"),
        ):
            with self.subTest(name):
                process = await Process(name).__aenter__()
                self.assertEqual(process.line["error"]["code"], code)
                self.assertIn(words, process.line["error"]["message"])
                self.assertEqual(await process.end(), 2)

    async def test_nothing_of_ours_is_in_the_environments_variables(self):
        async with Process("agent", env={"EDGEWISE_SECRET": "s"}) as process:
            with open(f"/proc/{process.line['pid']}/environ", "rb") as file:
                self.assertIn(b"EDGEWISE_SECRET", file.read(), "it was given, and is gone from what code sees")
            async with Engine(process, answer) as engine:
                await engine.open()
                ended = await engine.play((await engine.examples())[0], [0], columns=["variables"])
                self.assertEqual(ended[0]["row"]["variables"], [])

    async def test_every_way_to_the_model_is_relayed_with_an_address_for_each_rollout(self):
        def model(body):
            if body.get("stream"):
                pieces = [{"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]} for word in ("a ", "stream")]
                text = "".join(f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm', **piece})}\n\n" for piece in pieces)
                return {"reply": {"status": 200, "content_type": "text/event-stream", "text": text + "data: [DONE]\n\n"}}
            return replied(completion(f"To {body['messages'][-1]['content']}"))

        async with Process("agent") as process, Engine(process, model) as engine:
            await engine.open()
            columns = ["streamed", "raw", "program", "address"]
            ended = await engine.play((await engine.examples())[0], [0, 1], columns=columns)
            rows = [ended[index]["row"] for index in (0, 1)]
            for row in rows:
                self.assertIsNone(row["error"])
                self.assertEqual([row[name] for name in columns[:3]], ["a stream", [200, "To raw"], ["m", "To from a process"]])
            addresses = {row["address"] for row in rows}
            self.assertEqual(len(addresses), 2)
            self.assertEqual({call["request"]["route"] for call in engine.calls}, {"chat/completions"})
            async with aiohttp.ClientSession() as session:
                gone = await session.post(f"{addresses.pop()}chat/completions", json={"messages": []})
                self.assertEqual(gone.status, 404, "the rollout is over")

    async def test_what_is_printed_and_logged_is_told(self):
        async with Process("troubled") as process, Engine(process, answer) as engine:
            await engine.open({"how": "scores badly"})
            ended = await engine.play((await engine.examples())[0], [0])
            await asyncio.sleep(0.2)
            told = [(message["level"], message["text"]) for message in engine.heard if message["type"] == "print"]
            self.assertIn(("INFO", "tidied 0"), told)
            self.assertTrue(any(level == "ERROR" and "Error calling reward function one: no score" in text for level, text in told))
            self.assertEqual(ended[0]["row"]["reward"], 0.0, "as the library has it")

    async def test_units_of_a_conversation_that_ends_are_cancelled(self):
        async with Process("troubled") as process:
            async with Engine(process, lambda body: None) as engine:
                await engine.open()
                await engine.say(engine.order((await engine.examples())[0], [0]))
                while not engine.calls:
                    await asyncio.sleep(0.02)
            async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {process.token}"}) as session:
                for _ in range(100):
                    health = await (await session.get(f"{process.line['url']}/health")).json()
                    if health["conversations"] == 0:
                        break
                    await asyncio.sleep(0.05)
            self.assertEqual((health["conversations"], health["units"]), (0, 0))
            await process.end()
            self.assertIn("tidied 0", process.log)

    async def test_it_ends_on_a_signal_and_what_it_started_with_it(self):
        async with Process("starts-a-process") as process, Engine(process, answer) as engine:
            await engine.open()
            ended = await engine.play((await engine.examples())[0], [0], columns=["pid"])
            child = ended[0]["row"]["pid"]
            os.kill(child, 0)
            assert process.process is not None
            process.process.send_signal(signal.SIGTERM)
            self.assertEqual(await asyncio.wait_for(process.process.wait(), 40), 0)
            with self.assertRaises(ProcessLookupError):
                for _ in range(100):
                    os.kill(child, 0)
                    await asyncio.sleep(0.05)

    async def test_what_an_environment_is_is_told_without_loading_it(self):
        async with Process("troubled") as process, Engine(process, answer) as engine:
            facts = (await engine.ask({"type": "describe", "v": 1}, "described", "failed"))["facts"]
            self.assertEqual((facts["id"], facts["description"]), ("troubled", "What goes wrong in environments: `how` says what."))
            self.assertEqual([each["name"] for each in facts["args"]], ["how", "size"])
            self.assertEqual(facts["args"][0], {"name": "how", "schema": {"type": "string"}, "required": False, "description": None, "default": "well"})
            refused = await engine.ask({"type": "describe", "v": 2}, "described", "failed")
            self.assertIn("version 2", refused["error"]["message"])
            for args, problem in (({"hwo": 1}, "hwo: load_environment has no such argument (allowed: how, size)"), ({}, None)):
                checked = await engine.ask({"type": "check", "v": 1, "request": {"env_args": args}, "keys": []}, "checked", "failed")
                self.assertEqual(checked["problem"] and checked["problem"]["message"], problem)

    async def test_variables_that_an_environment_needs_are_named_with_what_gives_them_to_it(self):
        async with Process("keyed") as process, Engine(process, answer) as engine:
            opening = {"type": "open", "v": 1, "args": {}, "extra": {}, "rubric": None, "keys": {}, "variables": {}}
            error = (await engine.ask(opening, "opened", "failed"))["error"]
            self.assertEqual(error["message"], "keyed needs variables that its process has not: JUDGE_KEY")
            self.assertIn("add --env-var JUDGE_KEY.", error["hint"])

    async def test_what_ends_load_environment_is_said(self):
        for how, message, hint in (
            ("asks for a variable", "breaks-early needs variables that its process has not: NOWHERE_KEY", "--env-var NOWHERE_KEY."),
            ("makes a client", "breaks-early needs variables that its process has not: OPENAI_API_KEY", "--env-var OPENAI_API_KEY."),
            ("looks something up", "RuntimeError: Failed to load environment 'breaks-early': 'NOWHERE_KEY'", None),
            ("leaves", "load_environment of breaks-early ended with SystemExit: no data", None),
        ):
            async with Process("breaks-early") as process, Engine(process, answer) as engine:
                opening = {"type": "open", "v": 1, "args": {"how": how}, "extra": {}, "rubric": None, "keys": {}, "variables": {}}
                error = (await engine.ask(opening, "opened", "failed"))["error"]
                self.assertEqual(error["message"], message)
                self.assertIn(hint or "", error.get("hint") or "")

    async def test_an_environment_that_takes_long_to_load_is_not_taken_for_one_that_hangs(self):
        with tempfile.TemporaryDirectory() as folder:
            until = Path(folder) / "until"
            async with Process("breaks-early") as process, Engine(process, answer) as engine:
                async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {process.token}"}) as session:
                    opening = asyncio.create_task(engine.open({"how": f"waits for {until}"}))
                    for _ in range(400):
                        if until.with_suffix(".begun").exists():
                            break
                        await asyncio.sleep(0.05)
                    looked = await asyncio.wait_for(session.get(f"{process.line['url']}/health?loop"), 30)
                    self.assertEqual((looked.status, opening.done()), (200, False))
                    until.touch()
                    await asyncio.wait_for(opening, 30)

    async def test_it_is_called_as_it_is_told_and_plays_its_share(self):
        async with Process("keyed", "--id", "other-name", "--concurrency", "7", env={"JUDGE_KEY": "k"}) as process, Engine(process, answer) as engine:
            self.assertEqual(process.line["environment"], "other-name")
            self.assertEqual((await engine.open(extra={"concurrency": 20}))["id"], "other-name")
            ended = await engine.play((await engine.examples())[0], [0])
            self.assertEqual(ended[0]["row"]["reward"], 7.0)
            async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {process.token}"}) as session:
                self.assertEqual((await session.get(f"{process.line['url']}/health?loop")).status, 200)

    async def test_cells_that_are_no_json_are_named(self):
        async with Process("odd-cells") as process, Engine(process, answer) as engine:
            await engine.open({"cell": "bytes"})
            answered = await engine.ask({"type": "read", "read": 1, "count": -1}, "examples")
            self.assertIn("column info", answered["error"]["message"])
            self.assertIn("info.raw is a bytes", answered["error"]["message"])
        async with Process("odd-cells") as process, Engine(process, answer) as engine:
            await engine.open({"cell": "date"})
            example = (await engine.examples())[0]
            ended = await engine.play(example, [0])
            self.assertEqual(ended[0]["row"]["reward"], 1.0, "it is a date again where it is scored")


if __name__ == "__main__":
    unittest.main()
