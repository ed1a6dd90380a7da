"""Six calls of the model at once, before the turn itself."""

import asyncio

import verifiers as vf
from datasets import Dataset


class SixCalls(vf.SingleTurnEnv):
    async def setup_state(self, state):
        def asked(n):
            prompt = [{"role": "user", "content": f"Part {n}"}]
            return vf.utils.message_utils.normalize_messages(prompt, field_name="prompt") if hasattr(vf.utils.message_utils, "normalize_messages") else prompt

        answers = await asyncio.gather(*(self.get_model_response(state, asked(n)) for n in range(6)))
        state["parts"] = [answer.message.content for answer in answers]
        return state


def load_environment(size: int = 1):
    import verifiers.utils.message_utils  # noqa: F401

    rows = [{"question": f"Add up {n}", "answer": ""} for n in range(size)]

    def parts(state) -> float:
        return float(len(set(state["parts"])))

    return SixCalls(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[parts]))
