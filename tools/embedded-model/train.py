"""Trains the embedded model and writes its weights file and loss curve. Not part of installing or testing.

    python -m venv .venv && .venv/bin/pip install -r tools/embedded-model/requirements.txt
    .venv/bin/python tools/embedded-model/train.py --seed 1 --steps 8000 --batch 128

It takes about 25 minutes on one core and gives the same weights again on the same machine. Afterwards run fixtures.py beside it.
Texts for training are made on the fly (problems.py) and are never held out.
"""

import argparse
import datetime
import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from accuracy import MEASURED, accuracy
from model import END_OF_TEXT, UNKNOWN, VOCABULARY, Muon, Shape, Transformer, encode
from problems import ROOT, training_text
from weights_file import round_weights, write_weights

# One thread: two wait for each other more than they gain on matrices of this size.
THREADS = 1
WARM_UP = 100
# The rate is constant for this part of the training and falls to zero in the rest.
CONSTANT = 0.4
MATRIX_RATE = 0.02
OTHER_RATE = 0.003
# The prompt's characters are random operands for the most part; learning them is worth little beside the answer.
PROMPT_WEIGHT = 0.1
# Characters of prompts that are replaced by the unknown token, so that the model has met it.
UNKNOWN_SHARE = 0.001
# Texts that begin with the end of the text before, so that an empty prompt can be continued too.
EMPTY_SHARE = 0.05
# Texts are sorted by length within this many batches, so that little of a batch is padding.
POOL = 8


def training_tokens(rng: random.Random) -> tuple[list[int], int]:
    """Token ids of a random text, and how many of them are before its answer."""
    question, answer = training_text(rng)
    asked = [UNKNOWN if rng.random() < UNKNOWN_SHARE else token for token in encode(question)]
    if rng.random() < EMPTY_SHARE:
        asked.insert(0, END_OF_TEXT)
    return [*asked, *encode(answer), END_OF_TEXT], len(asked)


def batches(rng: random.Random, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Token ids and the weight of each token in the loss, both (size, longest); padding has weight 0."""
    while True:
        pool = sorted((training_tokens(rng) for _ in range(size * POOL)), key=lambda text: len(text[0]))
        starts = list(range(0, len(pool), size))
        rng.shuffle(starts)
        for start in starts:
            batch = pool[start : start + size]
            longest = len(batch[-1][0])
            ids = np.full((size, longest), END_OF_TEXT)
            weights = np.zeros((size, longest), np.float32)
            for row, (tokens, asked) in enumerate(batch):
                ids[row, : len(tokens)] = tokens
                weights[row, :asked] = PROMPT_WEIGHT
                weights[row, asked : len(tokens)] = 1
            yield torch.from_numpy(ids), torch.from_numpy(weights)


def rate_at(step: int, steps: int) -> float:
    """Share of the full learning rate."""
    done = step / steps
    return min(1, (step + 1) / WARM_UP) * min(1, (1 - done) / (1 - CONSTANT))


def train(model: Transformer, seed: int, steps: int, batch: int) -> list[tuple[int, float]]:
    """Returns the mean loss of the answers' tokens by step, every 50 steps."""
    layers = list(model.layers.parameters())
    others = [model.embedding.weight, model.head.weight]
    optimizers = [(Muon(layers, MATRIX_RATE), MATRIX_RATE), (torch.optim.Adam(others, OTHER_RATE, betas=(0.9, 0.95)), OTHER_RATE)]
    texts = batches(random.Random(seed), batch)
    curve: list[tuple[int, float]] = []
    recent: list[float] = []
    begin = time.monotonic()
    for step in range(steps):
        for optimizer, rate in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate * rate_at(step, steps)
        ids, weights = next(texts)
        losses = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
        wanted = weights[:, 1:].flatten()
        model.zero_grad()
        ((losses * wanted).sum() / wanted.sum()).backward()
        for optimizer, _ in optimizers:
            optimizer.step()
        recent.append(losses.detach()[wanted == 1].mean().item())
        if (step + 1) % 50 == 0:
            curve.append((step + 1, sum(recent) / len(recent)))
            recent.clear()
            print(f"step {step + 1}/{steps}  loss {curve[-1][1]:.4f}  {time.monotonic() - begin:.0f} s", flush=True)
        if (step + 1) % 1000 == 0 and step + 1 < steps:
            accuracy(model, MEASURED // 10)
    return curve


def draw_curve(path: Path, curve: list[tuple[int, float]], title: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "edgewise"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.5))
    axes.plot(*zip(*curve), linewidth=1.2)
    axes.set(yscale="log", xlabel="step", ylabel="loss per token of the answer (nats)", title=title)
    axes.grid(alpha=0.3, which="both")
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the embedded model.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=8_000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--weights", type=Path, default=ROOT / "src/embedded-model/weights.bin")
    parser.add_argument("--curve", type=Path, default=ROOT / "docs/embedded-model-loss.svg")
    options = parser.parse_args()

    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(options.seed)
    model = Transformer(Shape())
    print(f"{sum(parameter.numel() for parameter in model.parameters())} parameters, {len(VOCABULARY)} tokens", flush=True)
    begin = time.monotonic()
    curve = train(model, options.seed, options.steps, options.batch)
    seconds = time.monotonic() - begin
    rounded = round_weights(model)
    training = {
        "command": f"python tools/embedded-model/train.py --seed {options.seed} --steps {options.steps} --batch {options.batch}",
        "seed": options.seed,
        "steps": options.steps,
        "examples": options.steps * options.batch,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "torch": torch.__version__,
        "final_loss": round(curve[-1][1], 5),
        "accuracy": accuracy(rounded, MEASURED),
    }
    write_weights(options.weights, rounded, training)
    draw_curve(options.curve, curve, f"seed {options.seed}, {options.steps} steps of {options.batch} texts")
    print(f"wrote {options.weights} and {options.curve} after {seconds:.0f} s of training", flush=True)


if __name__ == "__main__":
    main()
