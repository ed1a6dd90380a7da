"""Cells that are no JSON."""

from datetime import datetime

import verifiers as vf
from datasets import Dataset


def load_environment(cell: str):
    value = {"raw": b"12"} if cell == "bytes" else {"when": datetime(2026, 1, 2, 3)}
    dataset = Dataset.from_list([{"question": "When?", "answer": "", "info": value}])
    return vf.SingleTurnEnv(dataset=dataset, rubric=vf.Rubric(funcs=[lambda info: float(isinstance(info["when"], datetime))]))
