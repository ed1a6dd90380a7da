"""The first way through: an environment of one turn, from the start line to `closed`."""

from __future__ import annotations

import unittest

from .engine import Engine, Process, completion, replied


def echo(body):
    return replied(completion(f"It is {body['messages'][-1]['content'][8:]}"))


class SingleTurn(unittest.IsolatedAsyncioTestCase):
    async def test_a_run_from_its_first_line_to_its_end(self):
        async with Process("single-turn") as process:
            self.assertEqual((process.line["edgewise_env"], process.line["environment"]), (1, "single-turn"))
            async with Engine(process, echo) as engine:
                traits = await engine.open({"shout": True})
                self.assertEqual((traits["whole"], traits["args"]), (True, {"shout": True}))
                self.assertEqual(traits["sampling_args"], {"n": 1, "extra_body": {}, "temperature": 0.5})
                examples = await engine.examples()
                self.assertEqual([each["example_id"] for each in examples], [0, 1, 2])
                ended = await engine.play(examples[1], [0, 1], sampling_args={"temperature": 0})
                self.assertEqual([each["row"]["reward"] for each in ended.values()], [1.0, 1.0])
                body = engine.calls[0]["request"]["body"]
                self.assertEqual((body["temperature"], body["n"], [each["role"] for each in body["messages"]]), (0, 1, ["system", "user"]))
                self.assertEqual((await engine.ask({"type": "close"}, "closed", "failed"))["type"], "closed")
            self.assertEqual(await process.end(), 0)


if __name__ == "__main__":
    unittest.main()
