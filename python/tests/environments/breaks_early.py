"""What goes wrong, or takes long, in load_environment: `how` says what."""

import os
import sys
import time
from pathlib import Path

import verifiers as vf
from datasets import Dataset
from openai import AsyncOpenAI


def load_environment(how: str):
    if how == "asks for a variable":
        os.environ["NOWHERE_KEY"]
    elif how == "makes a client":
        AsyncOpenAI()
    elif how == "looks something up":
        {}["NOWHERE_KEY"]
    elif how == "leaves":
        sys.exit("no data")
    elif how.startswith("waits for "):
        until = Path(how.removeprefix("waits for "))
        until.with_suffix(".begun").touch()
        # As a download does, without giving the loop a turn.
        while not until.exists():
            time.sleep(0.05)
    return vf.SingleTurnEnv(dataset=Dataset.from_list([{"question": "q", "answer": "a"}]), rubric=vf.Rubric(funcs=[lambda completion, **kwargs: 1.0]))
