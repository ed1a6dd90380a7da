"""What goes wrong in environments: `how` says what."""

import asyncio

import verifiers as vf
from datasets import Dataset

CLEANED = []


class Troubled(vf.MultiTurnEnv):
    how = "well"

    async def setup_state(self, state):
        if self.how == "hangs":
            await asyncio.sleep(3600)
        if self.how == "blocks":
            import time

            time.sleep(8)
        return state

    async def env_response(self, messages, state, **kwargs):
        if self.how == "raises" and "break" in messages[-1]["content"]:
            raise KeyError("a key that is not there")
        if self.how == "tool" and "break" in messages[-1]["content"]:
            raise vf.ToolError("a tool that does not work")
        return [{"role": "user", "content": "And then?"}]

    @vf.cleanup
    async def tidy(self, state):
        print("tidied", state["example_id"])


def load_environment(how: str = "well", size: int = 2):
    rows = [{"question": f"Begin {n}", "answer": ""} for n in range(size)]

    def one(completion, state) -> float:
        if how == "scores badly":
            raise ValueError("no score")
        return 1.0

    class Rubric(vf.Rubric):
        async def score_group(self, *given, **named):
            if how == "scorer breaks":
                raise RuntimeError("the rubric is broken")
            return await super().score_group(*given, **named)

    if how == "does not load":
        raise RuntimeError("this one never loads")
    environment = Troubled(dataset=Dataset.from_list(rows), max_turns=2, rubric=Rubric(funcs=[one]))
    environment.how = how
    return environment
