"""reverse-text for Python's verifiers: the rows of Edgewise's environment (rows.jsonl beside this file), its prompt and its reward."""

import json
from pathlib import Path

import verifiers as vf
from datasets import Dataset


def likeness(a: str, b: str) -> float:
    """Twice the longest common subsequence over both lengths."""
    above = [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[j]))
        above = row
    return 1.0 if a == b else 2 * above[-1] / (len(a) + len(b))


def load_environment(**_: object) -> vf.Environment:
    lines = (Path(__file__).parent / "rows.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    parser = vf.XMLParser(["reversed_text"], answer_field="reversed_text")

    def similarity(completion, answer, **_) -> float:
        text = parser.parse_answer(completion)
        if text is None:
            text = str(completion[-1]["content"]).strip() if completion else ""
        return likeness(text, answer)

    return vf.SingleTurnEnv(
        dataset=Dataset.from_list([{"question": row["question"], "answer": row["answer"]} for row in rows]),
        system_prompt=rows[0]["system_prompt"],
        parser=parser,
        rubric=vf.Rubric(funcs=[similarity]),
    )
