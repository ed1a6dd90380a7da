"""The environments of side-by-side-environments.ts for Python's verifiers, run against a scripted server.

    python side_by_side.py URL FOLDER

Writes FOLDER/<name>/results.jsonl and metadata.json for each environment. Its rows carry their script in the question, so that an
answer depends on the request alone. Both files say the same things in the same order: change them together.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import verifiers as vf
from datasets import Dataset
from verifiers.types import ClientConfig

MODEL = "scripted"
SHARED = Path(__file__).parent / "side-by-side.json"
DATA = json.loads(SHARED.read_text())


def rows(name: str) -> Dataset:
    return Dataset.from_list([dict(row) for row in DATA[name]])


def text_of(completion) -> str:
    last = completion[-1] if completion else None
    return str(last["content"] or "") if last is not None else ""


def single() -> vf.Environment:
    parser = vf.XMLParser(["reasoning", ("answer", "code")], answer_field="answer")

    def correct(parser, completion, answer, difficulty) -> float:
        return difficulty if parser.parse_answer(completion) == answer else 0.0

    def answer_length(completion) -> int:
        return len(text_of(completion))

    rubric = vf.Rubric(
        funcs=[correct, parser.get_format_reward_func(), answer_length],
        weights=[1.0, 0.2, 0.0],
        parser=parser,
    )
    return vf.SingleTurnEnv(
        dataset=rows("single"),
        system_prompt="Answer in tags.",
        parser=parser,
        rubric=rubric,
    )


def think() -> vf.Environment:
    parser = vf.ThinkParser(extract_fn=vf.extract_boxed_answer)

    def correct(parser, completion, answer) -> bool:
        return parser.parse_answer(completion) == answer

    return vf.SingleTurnEnv(
        dataset=rows("think"),
        few_shot=[
            {"role": "user", "content": "1+1?"},
            {"role": "assistant", "content": "<think>easy</think>\\boxed{2}"},
        ],
        parser=parser,
        rubric=vf.Rubric(funcs=[correct, parser.get_format_reward_func()], parser=parser),
    )


class Guessing(vf.MultiTurnEnv):
    async def setup_state(self, state):
        state["guesses"] = []

    async def env_response(self, messages, state, **kwargs):
        guess = text_of(messages)
        state["guesses"] = state["guesses"] + [guess]
        if guess == state["answer"]:
            state["final_env_response"] = [{"role": "user", "content": "right"}]
            return state["final_env_response"]
        return [{"role": "user", "content": f"not {guess}"}]

    @vf.stop
    async def gave_up(self, state) -> bool:
        return any(guess == "pass" for guess in state.get("guesses", []))


def multi() -> vf.Environment:
    def tries(state) -> int:
        return len(state["guesses"])

    def won(completion, answer) -> float:
        return 1.0 if text_of(completion) == "right" else 0.25

    return Guessing(dataset=rows("multi"), max_turns=3, rubric=vf.Rubric(funcs=[won, tries], weights=[1.0, 0.0]))


async def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def find(name: str) -> str:
    """Finds a thing."""
    raise RuntimeError(f"there is no {name}")


def pages(text: str) -> list:
    """Gives parts."""
    return [{"type": "text", "text": text}, {"type": "text", "text": "end"}]


def called(completion) -> float:
    return float(sum(1 for message in completion if message["role"] == "tool"))


def tools() -> vf.Environment:
    return vf.ToolEnv(
        dataset=rows("tools"),
        tools=[add, find, pages],
        max_turns=4,
        rubric=vf.Rubric(funcs=[called]),
    )


class Shifting(vf.StatefulToolEnv):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)

        async def shift(x: int, offset: int) -> int:
            """Shifts a number."""
            return x + offset

        self.add_tool(shift, args_to_skip=["offset"])

    async def setup_state(self, state):
        state["shifts"] = 0

    def update_tool_args(self, tool_name, tool_args, messages, state, **kwargs):
        state["shifts"] += 1
        return {**tool_args, "offset": 100 * state["shifts"]}


def stateful() -> vf.Environment:
    return Shifting(dataset=rows("stateful"), max_turns=4, rubric=vf.Rubric(funcs=[called]))


def group() -> vf.Environment:
    def long_enough(completion) -> bool:
        return len(text_of(completion)) > 3

    plain = vf.SingleTurnEnv(dataset=rows("group_plain"), rubric=vf.Rubric(funcs=[long_enough]))
    told = vf.SingleTurnEnv(dataset=rows("group_told"), rubric=vf.Rubric(funcs=[long_enough]))
    return vf.EnvGroup(envs=[plain, told], env_names=["plain", "told"])


def ranked() -> vf.Environment:
    def rank(states) -> list[float]:
        return [index * 0.5 for index, _ in enumerate(states)]

    def constant(completion) -> float:
        return 0.25

    return vf.SingleTurnEnv(dataset=rows("ranked"), rubric=vf.Rubric(funcs=[constant, rank], weights=[2.0, 1.0]))


def judged(url: str) -> vf.Environment:
    from openai import AsyncOpenAI

    async def approved(judge, prompt, completion, answer, state) -> float:
        return 1.0 if await judge(prompt, completion, answer, state) == "yes" else 0.0

    rubric = vf.JudgeRubric(
        parser=vf.MaybeThinkParser(),
        judge_client=AsyncOpenAI(base_url=url, api_key="none"),
        judge_model="judge",
        judge_sampling_args={"max_tokens": 4, "temperature": None},
        judge_prompt="JUDGE {answer} AGAINST {response}",
    )
    rubric.add_reward_func(approved, weight=0.5)
    return vf.SingleTurnEnv(dataset=rows("judged"), parser=vf.MaybeThinkParser(), rubric=rubric)


def failing() -> vf.Environment:
    def said(completion) -> float:
        return 1.0 if text_of(completion) else 0.0

    return vf.SingleTurnEnv(dataset=rows("failing"), rubric=vf.Rubric(funcs=[said]))


def broken() -> vf.Environment:
    def fine(completion) -> float:
        return 1.0

    def bad(completion) -> float:
        raise ValueError("no score")

    return vf.SingleTurnEnv(dataset=rows("broken"), rubric=vf.Rubric(funcs=[fine, bad]))


def text() -> vf.Environment:
    def said(completion) -> int:
        return len(text_of(completion))

    return vf.SingleTurnEnv(dataset=rows("text"), rubric=vf.Rubric(funcs=[said], weights=[0.1]))


def groups_of_rubrics() -> vf.Environment:
    def length(completion) -> int:
        return len(text_of(completion))

    def same(completion, answer) -> float:
        return 1.0 if text_of(completion) == answer else 0.0

    first = vf.Rubric(funcs=[length, same], weights=[0.1, 1.0])
    second = vf.Rubric(funcs=[length], weights=[0.5])
    return vf.SingleTurnEnv(dataset=rows("rubrics"), rubric=vf.RubricGroup(rubrics=[first, second]))


def environments(url: str) -> dict[str, vf.Environment]:
    return {
        "single": single(),
        "think": think(),
        "multi": multi(),
        "tools": tools(),
        "stateful": stateful(),
        "group": group(),
        "ranked": ranked(),
        "judged": judged(url),
        "failing": failing(),
        "broken": broken(),
        "text": text(),
        "rubrics": groups_of_rubrics(),
    }


async def main(url: str, folder: Path) -> None:
    os.environ["SIDE_BY_SIDE_KEY"] = "none"
    for name, env in environments(url).items():
        settings = DATA["settings"].get(name, {})
        env.env_id = name
        env.env_args = {}
        await env.evaluate(
            client=ClientConfig(
                client_type=settings.get("client_type", "openai_chat_completions"),
                api_base_url=url,
                api_key_var="SIDE_BY_SIDE_KEY",
                max_retries=0,
            ),
            model=MODEL,
            sampling_args=settings.get("sampling_args", {"max_tokens": 64}),
            rollouts_per_example=settings.get("rollouts_per_example", 2),
            state_columns=settings.get("state_columns", []),
            independent_scoring=settings.get("independent_scoring", False),
            results_path=folder / name,
            save_results=True,
        )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
