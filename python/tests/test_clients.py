"""The types of clients: each makes the requests of its API, and has the answers that its server gave."""

from __future__ import annotations

import json
import unittest
from importlib import metadata

from .engine import Engine, Process, completion, refused, replied

ANTHROPIC = {
    **{"id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None},
    **{"content": [{"type": "text", "text": "It is 0"}], "usage": {"input_tokens": 3, "output_tokens": 2}},
}
RESPONSES = {
    **{"id": "r1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "parallel_tool_calls": True, "tool_choice": "auto", "tools": []},
    "output": [{"id": "o1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "It is 0", "annotations": []}]}],
    "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}},
}
COMPLETION = {
    **{"id": "t1", "object": "text_completion", "created": 1, "model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}},
    "choices": [{"index": 0, "text": "It is 0", "finish_reason": "stop", "logprobs": None}],
}
ROUTES = {
    "openai_chat_completions": ("chat/completions", completion("It is 0")),
    "openai_completions": ("completions", COMPLETION),
    "openai_responses": ("responses", RESPONSES),
    "anthropic_messages": ("messages", ANTHROPIC),
}
TOO_LONG = "This model's maximum context length is 10 tokens."


def types() -> list[str]:
    release = tuple(int(part) for part in metadata.version("verifiers").split(".")[:3])
    if release < (0, 1, 11):
        return ["openai_chat_completions"]
    # The library's own conversion to Anthropic's messages fails with the newest of its SDKs.
    return [each for each in ROUTES if each != "anthropic_messages" and (each != "openai_responses" or release >= (0, 1, 14))]


class Clients(unittest.IsolatedAsyncioTestCase):
    async def test_of_every_type(self):
        async with Process("single-turn") as process:
            for kind in types():
                with self.subTest(kind):
                    route, body = ROUTES[kind]
                    async with Engine(process, lambda _: replied(body)) as engine:
                        await engine.open()
                        example = (await engine.examples())[0]
                        asked = {"sampling_args": {"max_tokens": 9}, "client_type": kind, "state_keys": ["example_id", "trajectory_id"]}
                        ended = await engine.play(example, [0], **asked)
                        row, call = ended[0]["row"], engine.calls[0]
                    self.assertEqual((row["error"], row["reward"], row["completion"][-1]["content"]), (None, 1.0, "It is 0"))
                    self.assertEqual(row["token_usage"]["output_tokens"], 2.0)
                    self.assertEqual((call["request"]["kind"], call["request"]["route"]), ("relay", route))
                    self.assertIn(9, [value for name, value in call["request"]["body"].items() if name.startswith("max_")])
                    # The library sends no headers of the state to this one.
                    if metadata.version("verifiers") >= "0.1.14" and kind != "openai_completions":
                        self.assertEqual(call["state_values"]["example_id"], "0")
                        self.assertEqual(len(call["state_values"]["trajectory_id"]), 32)

    async def test_of_anthropics_sdk(self):
        async with Process("raw-anthropic") as process, Engine(process, lambda _: replied(ANTHROPIC)) as engine:
            await engine.open()
            ended = await engine.play((await engine.examples())[0], [0], client_type="anthropic_messages", columns=["texts"])
            self.assertEqual((ended[0]["row"]["error"], ended[0]["row"]["texts"]), (None, ["It is 0", "It is 0"]))
            self.assertEqual([call["request"]["route"] for call in engine.calls], ["messages", "messages"])

    async def test_a_prompt_that_is_too_long_is_an_outcome_and_no_error(self):
        async with Process("single-turn") as process:
            for told in (refused(400, "bad_request", TOO_LONG, overlong=True), {"error": refused(400, "bad_request", "too much", overlong=True)["error"]}):
                async with Engine(process, lambda _: told) as engine:
                    await engine.open()
                    row = (await engine.play((await engine.examples())[0], [0]))[0]["row"]
                self.assertEqual((row["error"], row["stop_condition"], row["is_truncated"]), (None, "prompt_too_long", True))

    async def test_an_error_without_an_answer_is_the_sdks_own(self):
        lost = {"name": "EdgewiseError", "message": "nobody answers at api.example", "causes": []}
        async with Process("single-turn") as process:
            for code, name in (("connection_failed", "APIConnectionError"), ("request_timeout", "APITimeoutError"), ("provider_error", "InternalServerError")):
                with self.subTest(code):
                    async with Engine(process, lambda _: {"error": {**lost, "code": code}}) as engine:
                        await engine.open()
                        ended = await engine.play((await engine.examples())[0], [0])
                    self.assertEqual(ended[0]["code"], code)
                    self.assertIn(f"ModelError -> {name}", ended[0]["row"]["error"]["error_chain_str"])
                    self.assertIn("nobody answers at api.example", json.dumps(ended[0]["row"]["error"]))

    async def test_rows_beside_the_missing_rollouts_of_a_group_are_scored_with_them(self):
        async with Process("ranked") as process:
            async with Engine(process, lambda _: replied(completion("a longer answer"))) as engine:
                await engine.open()
                example = (await engine.examples())[0]
                row = (await engine.play(example, [0]))[0]["row"]
                self.assertEqual((row["reward"], row["longest"]), (1.0, 1.0))
            async with Engine(process, lambda _: replied(completion("an answer that is longer still"))) as engine:
                traits = await engine.open()
                self.assertTrue(traits["has_group_rewards"] and traits["independent_problem"])
                stored = {"rows": [{"rollout": 0, "line": json.dumps({**row, "rollout_index": 0})}], "columns": []}
                ended = await engine.play(example, [0, 1], stored=stored)
                scores = next(message for message in engine.heard if message["type"] == "rescored")
            self.assertEqual(list(ended), [1])
            self.assertEqual((ended[1]["row"]["reward"], scores["rollout"], scores["scores"]["reward"]), (1.0, 0, 0.0))
            self.assertEqual((scores["scores"]["metrics"]["length"], scores["scores"]["lacks"]), (15.0, []))


if __name__ == "__main__":
    unittest.main()
