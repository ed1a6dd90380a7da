"""A judge with an address and a key of its own."""

import os

import verifiers as vf
from datasets import Dataset
from openai import AsyncOpenAI


def load_environment(judge_url: str, size: int = 2):
    rows = [{"question": f"What is {n}?", "answer": str(n)} for n in range(size)]
    judge = AsyncOpenAI(base_url=judge_url, api_key=os.environ["JUDGE_KEY"], max_retries=0)
    rubric = vf.JudgeRubric(judge_client=judge, judge_model="a judge")

    async def judge_says_yes(judge, prompt, completion, answer, state) -> float:
        return float("yes" in (await judge(prompt, completion, answer, state)).lower())

    rubric.add_reward_func(judge_says_yes)
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=rubric)
