"""A tool that sees the state of its rollout."""

import verifiers as vf
from datasets import Dataset


def store(value: str, place: str) -> str:
    """Stores a value.

    Args:
        value: what to store
        place: where; filled in
    """
    return f"{value} is at {place}"


class Vault(vf.StatefulToolEnv):
    def __init__(self, **options):
        super().__init__(tools=[], **options)
        self.add_tool(store, args_to_skip=["place"])

    async def setup_state(self, state, **kwargs):
        state["place"] = f"box {state['example_id']}"
        return state

    def update_tool_args(self, tool_name, tool_args, messages, state, **kwargs):
        return {**tool_args, "place": state["place"]}


def load_environment(size: int = 2):
    rows = [{"question": f"Store {n}", "answer": f"{n} is at box {n}"} for n in range(size)]

    def is_told(completion, answer) -> float:
        return float(any(message["content"] == answer for message in completion))

    return Vault(dataset=Dataset.from_list(rows), max_turns=3, rubric=vf.Rubric(funcs=[is_told]))
