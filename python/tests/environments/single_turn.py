"""Questions with one answer."""

import verifiers as vf
from datasets import Dataset


def load_environment(size: int = 3, shout: bool = False, mood: str | None = None):
    rows = [{"question": f"What is {n}?", "answer": str(n), "info": {"share": 1.0, "large": 2**60 + 1, "n": n}} for n in range(size)]

    def is_right(completion, answer, info) -> float:
        assert info["large"] == 2**60 + 1 and isinstance(info["share"], float)
        return float(answer in completion[-1]["content"])

    print("loading", size)
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[is_right]), system_prompt="Loud." if shout else None, sampling_args={"temperature": 0.5})
