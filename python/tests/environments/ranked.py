"""A reward that compares the rollouts of an example."""

import verifiers as vf
from datasets import Dataset


def load_environment(size: int = 2):
    rows = [{"question": f"Say something about {n}", "answer": ""} for n in range(size)]

    def longest(completions) -> list[float]:
        lengths = [len(completion[-1]["content"]) if completion else 0 for completion in completions]
        return [float(length == max(lengths)) for length in lengths]

    def length(completion) -> float:
        return float(len(completion[-1]["content"]))

    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[longest, length], weights=[1.0, 0.0]))
