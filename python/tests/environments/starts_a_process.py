"""Leaves a process behind."""

import subprocess

import verifiers as vf
from datasets import Dataset


class Leaves(vf.SingleTurnEnv):
    async def setup_state(self, state):
        state["pid"] = subprocess.Popen(["sleep", "600"]).pid
        return state


def load_environment():
    return Leaves(dataset=Dataset.from_list([{"question": "Go", "answer": ""}]), rubric=vf.Rubric(funcs=[lambda completion: 1.0]))
