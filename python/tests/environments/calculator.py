"""Tools without state."""

import verifiers as vf
from datasets import Dataset


def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: the first
        b: the second
    """
    return a + b


def load_environment(size: int = 2):
    rows = [{"question": f"What is {n} + 2?", "answer": str(n + 2)} for n in range(size)]

    def is_sum(completion, answer) -> float:
        return float(completion[-1]["content"] == answer)

    return vf.ToolEnv(dataset=Dataset.from_list(rows), tools=[add], max_turns=3, rubric=vf.Rubric(funcs=[is_sum]))
