"""Writes what the tests compare the TypeScript side with: the split, the environment's rows, and logits of the committed weights.

    .venv/bin/python tools/embedded-model/fixtures.py

Run it after train.py, and after a change to problems.json or problems.py.
"""

import json
import random
from pathlib import Path

import torch

from model import encode
from problems import DIFFICULTIES, OPERATIONS, ROOT, canonical, environment_rows, is_held_out, prompt, training_problem
from weights_file import read_weights

FIXTURES = ROOT / "test/fixtures"
# Rows per operation and level of the environment with seed 3.
ROWS = 4
SPLIT = 400
LOGIT_TEXTS = [prompt("what is 3 plus 4?") + "7", prompt("12 * 34") + "408", prompt("sort hgfa"), "A", prompt("reverse é") + "?"]


def write(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def main() -> None:
    rng = random.Random(11)
    trained = list({canonical(problem): None for problem in (training_problem(rng) for _ in range(SPLIT))})
    everything = [("addition", a, b) for a in range(12) for b in range(12)] + [("sort", chr(97 + a) + chr(97 + b)) for a in range(26) for b in range(26)]
    rows = {d: {o: [list(row) for row in environment_rows(o, d, 3, ROWS)] for o in OPERATIONS} for d in DIFFICULTIES}
    write(
        FIXTURES / "arithmetic-problems.json",
        {"trained": trained, "held_out": [canonical(problem) for problem in everything if is_held_out(problem)], "rows": rows},
    )

    model, _ = read_weights(ROOT / "src/embedded-model/weights.bin")
    with torch.no_grad():
        logits = [model(torch.tensor([encode(text)]))[0].tolist() for text in LOGIT_TEXTS]
    write(FIXTURES / "embedded-model-logits.json", {"texts": LOGIT_TEXTS, "logits": [[[round(x, 9) for x in row] for row in text] for text in logits]})


if __name__ == "__main__":
    main()
