"""Measures the weights file on held-out problems and states the accuracies in its header; train.py does so when it ends.

    .venv/bin/python tools/embedded-model/accuracy.py

Needed by itself when the levels in problems.json change: training does not know them.
"""

import json

import torch

from model import Transformer
from problems import DIFFICULTIES, OPERATIONS, ROOT, environment_rows, prompt
from weights_file import read_weights, write_weights

# Rows per operation and level of the environment (its seed 0) that the accuracy is measured on.
MEASURED = 500


def accuracy(model: Transformer, most_rows: int) -> dict[str, dict[str, float]]:
    """Share of the environment's held-out problems that are answered exactly at temperature 0, by level and operation."""
    result: dict[str, dict[str, float]] = {}
    for difficulty in DIFFICULTIES:
        shares = {}
        for operation in OPERATIONS:
            rows = environment_rows(operation, difficulty, 0, most_rows)
            by_length: dict[int, list[tuple[str, str]]] = {}
            for question, answer in rows:
                by_length.setdefault(len(question), []).append((prompt(question), answer))
            right = 0
            for group in by_length.values():
                most = max(len(answer) for _, answer in group) + 1
                given = model.answers([question for question, _ in group], most)
                right += sum(text == answer for text, (_, answer) in zip(given, group))
            shares[operation] = round(right / len(rows), 4)
        shares["all"] = round(sum(shares.values()) / len(shares), 4)
        result[difficulty] = shares
        print(f"{difficulty}: {json.dumps(shares)}", flush=True)
    return result


def main() -> None:
    path = ROOT / "src/embedded-model/weights.bin"
    model, header = read_weights(path)
    torch.set_num_threads(1)
    write_weights(path, model, {**header["training"], "accuracy": accuracy(model, MEASURED)})


if __name__ == "__main__":
    main()
