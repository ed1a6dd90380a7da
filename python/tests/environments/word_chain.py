"""Several turns: each answer is asked to be said again, louder, until it ends with a mark."""

import verifiers as vf
from datasets import Dataset


class WordChain(vf.MultiTurnEnv):
    async def setup_state(self, state):
        state["asked"] = []
        return state

    async def env_response(self, messages, state, **kwargs):
        state["asked"].append(len(messages))
        return [{"role": "user", "content": f"Louder ({len(state['trajectory'])})."}]

    @vf.stop
    async def is_loud(self, state) -> bool:
        return bool(state["trajectory"]) and state["completion_text"](state).endswith("!")


def text_of(state):
    content = state["trajectory"][-1]["completion"][-1]
    return content["content"] if isinstance(content, dict) else content.content


def load_environment(size: int = 2, turns: int = 4):
    rows = [{"question": f"Say word {n}", "answer": f"word {n}"} for n in range(size)]

    def ends_loudly(completion) -> float:
        return float(completion[-1]["content"].endswith("!"))

    class Chain(WordChain):
        async def setup_state(self, state):
            state["completion_text"] = text_of
            return await super().setup_state(state)

    return Chain(dataset=Dataset.from_list(rows), max_turns=turns, rubric=vf.Rubric(funcs=[ends_loudly]))
