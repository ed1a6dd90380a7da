"""What becomes of units: broken ones, aborted ones, late ones, and those that are scored from rows."""

from __future__ import annotations

import asyncio
import json
import unittest

from .engine import Engine, Process, completion, refused, replied
from .scripted import respond


def answer(body):
    return replied(respond(body))


class Units(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.process = await Process("troubled").__aenter__()

    async def asyncTearDown(self) -> None:
        self.assertEqual(await self.process.end(), 0)

    async def test_end_by_themselves(self):
        """One process for many: starting it takes seconds."""
        for part in (
            self.a_broken_rollout_is_an_error_of_its_own,
            self.a_library_error_is_written_as_the_library_writes_it,
            self.a_refused_call_gives_its_code_to_the_rollout,
            self.a_refusal_for_good_ends_the_unit,
            self.a_rubric_that_breaks_leaves_rows_to_score_again,
            self.an_aborted_unit_cancels_its_calls_and_cleans_up,
            self.a_unit_whose_time_is_over_has_rows_that_say_so,
            self.time_begins_with_the_permit,
            self.units_wait_for_their_turn_to_be_scored,
            self.beats_go_on_while_the_loop_is_held,
            self.a_batch_that_comes_twice_is_taken_once,
            self.an_environment_that_does_not_load_says_why,
        ):
            with self.subTest(part.__name__):
                await part()

    def engine(self, model=answer) -> Engine:
        return Engine(self.process, model)

    async def opened(self, engine: Engine, how: str):
        await engine.open({"how": how})
        return (await engine.examples())[0]

    async def a_broken_rollout_is_an_error_of_its_own(self):
        texts = iter(["break", "go on", "well"])
        async with self.engine(lambda body: replied(completion(next(texts)))) as engine:
            ended = await engine.play(await self.opened(engine, "raises"), [0, 1])
        broken = next(each for each in ended.values() if each["row"]["error"])
        whole = next(each for each in ended.values() if not each["row"]["error"])
        self.assertEqual(broken["code"], "environment_error")
        self.assertEqual(broken["row"]["error"]["error"], "EnvironmentError")
        self.assertIn("KeyError: 'a key that is not there' (troubled.py:", broken["row"]["error"]["error_chain_repr"])
        self.assertEqual((whole["row"]["reward"], whole.get("code")), (1.0, None))

    async def a_library_error_is_written_as_the_library_writes_it(self):
        async with self.engine(lambda body: replied(completion("break"))) as engine:
            ended = await engine.play(await self.opened(engine, "tool"), [0])
        self.assertEqual(ended[0]["row"]["error"]["error"], "ToolError")
        self.assertEqual((ended[0]["row"]["stop_condition"], ended[0]["code"]), ("has_error", "tool_call_error"))

    async def a_refused_call_gives_its_code_to_the_rollout(self):
        async with self.engine(lambda body: refused(500, "provider_error", "the server is broken")) as engine:
            ended = await engine.play(await self.opened(engine, "well"), [0])
            self.assertEqual(len(engine.calls), 1, "retries are the engine's")
        self.assertEqual(ended[0]["code"], "provider_error")
        self.assertEqual(ended[0]["row"]["error"]["error_chain_str"], "ModelError -> InternalServerError")
        self.assertIn("Error code: 500", ended[0]["row"]["error"]["error_chain_repr"])

    async def a_refusal_for_good_ends_the_unit(self):
        async with self.engine(lambda body: refused(401, "auth_failed", "no such key")) as engine:
            example = await self.opened(engine, "well")
            played = await engine.ask(engine.order(example, [0, 1]), "played", "unit_failed")
        self.assertEqual(played["fatal"], {"code": "auth_failed", "message": "no such key"})

    async def a_rubric_that_breaks_leaves_rows_to_score_again(self):
        async with self.engine() as engine:
            ended = await engine.play(await self.opened(engine, "scorer breaks"), [0, 1])
        self.assertEqual({each["code"] for each in ended.values()}, {"scorer_error"})
        row = ended[0]["row"]
        self.assertEqual((row["reward"], row["error"]["error"], len(row["completion"])), (None, "ScorerError", 3))
        async with self.engine() as engine:
            example = await self.opened(engine, "well")
            order = engine.order(example, [])
            row["error"]["code"] = "scorer_error"
            rows = [{"rollout": 0, "line": json.dumps(row)}]
            asked = {**order, "type": "score", "rows": rows, "row_only": False, "counts_answers": False, "forgets": []}
            await engine.ask(asked, "scored_rows", "unit_failed")
            scores = next(message["scores"] for message in engine.heard if message["type"] == "rescored")
        self.assertEqual((scores["reward"], scores["error"], scores["lacks"], scores["metrics"]), (1.0, None, [], {"one": 1.0, "num_turns": 2.0}))

    async def an_aborted_unit_cancels_its_calls_and_cleans_up(self):
        async with self.engine(lambda body: None) as engine:
            example = await self.opened(engine, "well")
            waiting = asyncio.create_task(engine.ask(engine.order(example, [0, 1], stops=7, stops_generation=7), "played", "unit_failed"))
            while len(engine.calls) < 2:
                await asyncio.sleep(0.02)
            await engine.say({"type": "abort", "signal": 7, "reason": {"name": "Error", "message": "enough", "code": None, "causes": []}, "left": False})
            played = await waiting
            said = [message["type"] for message in engine.heard]
            printed = [message["text"] for message in engine.heard if message["type"] == "print" and "tidied" in message["text"]]
        self.assertEqual((played["aborted"], said.count("cancel_call"), said.count("ended")), (True, 2, 0))
        self.assertEqual(sum(text.count("tidied 0") for text in printed), 2)

    async def a_unit_whose_time_is_over_has_rows_that_say_so(self):
        async with self.engine() as engine:
            ended = await engine.play(await self.opened(engine, "hangs"), [0, 1], deadline_ms=200)
        self.assertEqual({each["code"] for each in ended.values()}, {"timeout"})

    async def time_begins_with_the_permit(self):
        async with self.engine(lambda body: None) as engine:
            example = await self.opened(engine, "well")
            playing = asyncio.create_task(engine.play(example, [0], deadline_ms=150))
            while not engine.calls:
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.5)
            self.assertFalse(playing.done())
            await engine.say({"type": "permitted", "call": 1, "at": 1})
            ended = await playing
        self.assertEqual(ended[0]["code"], "timeout")

    async def units_wait_for_their_turn_to_be_scored(self):
        async with self.engine() as engine:
            example = await self.opened(engine, "well")
            order = engine.order(example, [0, 1], waits_for_turn=True)
            await engine.ask(order, "generated_all")
            self.assertNotIn("ended", [message["type"] for message in engine.heard])
            await engine.ask({"type": "scoring_turn", "unit": order["unit"]}, "played")
            self.assertEqual([message["type"] for message in engine.heard].count("ended"), 2)

    async def beats_go_on_while_the_loop_is_held(self):
        async with self.engine() as engine:
            example = await self.opened(engine, "blocks")
            before = engine.beats
            await engine.play(example, [0])
            self.assertGreater(engine.beats, before)

    async def a_batch_that_comes_twice_is_taken_once(self):
        async with self.engine() as engine:
            batch = [{"type": "describe", "v": 1}]
            waiting = asyncio.create_task(engine.next("described"))
            self.assertEqual([await engine.post(batch, 1), await engine.post(batch, 1), await engine.post(batch, 3)], [204, 204, 409])
            await waiting
            await asyncio.sleep(0.2)
            self.assertEqual([message["type"] for message in engine.heard].count("described"), 1)

    async def an_environment_that_does_not_load_says_why(self):
        async with self.engine() as engine:
            opening = {"type": "open", "v": 1, "args": {"how": "does not load"}, "extra": {}, "rubric": None, "keys": {}, "variables": {}}
            failed = await engine.ask(opening, "opened", "failed")
        self.assertEqual(failed["type"], "failed")
        self.assertIn("this one never loads", failed["error"]["message"])


if __name__ == "__main__":
    unittest.main()
