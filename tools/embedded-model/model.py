"""The embedded model in PyTorch; src/embedded-model/model.ts computes the same."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

UNKNOWN, END_OF_TEXT = 0, 1
VOCABULARY = ["<unk>", "<eot>", *"\n 0123456789abcdefghijklmnopqrstuvwxyz+-*=?QA:"]
ROTATION_BASE = 100
IDS = {token: index for index, token in enumerate(VOCABULARY)}


def encode(text: str) -> list[int]:
    return [IDS.get(character, UNKNOWN) for character in text]


@dataclass(frozen=True)
class Shape:
    layers: int = 4
    heads: int = 4
    width: int = 64
    hidden: int = 256
    context: int = 64


def norm(x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), eps=1e-5)


def rotate(x: Tensor) -> Tensor:
    """Rotary position embedding of queries or keys (..., length, size): value i and value i + size / 2 turn by an angle that grows with the position."""
    length, size = x.shape[-2:]
    rates = ROTATION_BASE ** (-torch.arange(size // 2, dtype=torch.float64) / (size // 2))
    angles = torch.arange(length, dtype=torch.float64)[:, None] * rates
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1)


class Layer(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.heads = shape.heads
        self.qkv = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)
        self.up = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.down.weight)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(norm(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k = rotate(qkv[:2])
        mixed = F.scaled_dot_product_attention(q, k, qkv[2], is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.relu(self.up(norm(x))).square())


class Transformer(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(len(VOCABULARY), shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.head = nn.Linear(shape.width, len(VOCABULARY), bias=False)
        nn.init.normal_(self.embedding.weight, std=0.5)
        nn.init.zeros_(self.head.weight)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (batch, length, vocabulary) for ids (batch, length)."""
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(norm(x))

    def matrices(self) -> dict[str, Tensor]:
        """Every parameter under its name in the weights file, in the file's order."""
        named = {"embedding": self.embedding.weight}
        for index, layer in enumerate(self.layers):
            for part in ("qkv", "out", "up", "down"):
                named[f"layers.{index}.{part}"] = getattr(layer, part).weight
        return {**named, "head": self.head.weight}

    @torch.no_grad()
    def answers(self, prompts: list[str], most: int) -> list[str]:
        """The arg-max continuation of prompts of one length, to the end of the text or `most` tokens."""
        ids = torch.tensor([encode(prompt) for prompt in prompts])
        start = ids.shape[1]
        for _ in range(most):
            ids = torch.cat([ids, self(ids)[:, -1].argmax(-1, keepdim=True)], 1)
        texts = []
        for row in ids[:, start:].tolist():
            end = row.index(END_OF_TEXT) if END_OF_TEXT in row else len(row)
            texts.append("".join(VOCABULARY[token] for token in row[:end]))
        return texts


class Muon(torch.optim.Optimizer):
    """Momentum whose steps are made orthogonal by Newton-Schulz iterations (Jordan 2024), for the matrices of the layers.

    It needs about half the steps of AdamW here. The three parts of `qkv` are made orthogonal each by itself.
    """

    def __init__(self, parameters: list[nn.Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.1):
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            by_shape: dict[tuple[int, int], list[tuple[Tensor, Tensor]]] = {}
            for parameter in group["params"]:
                average = self.state[parameter].setdefault("average", torch.zeros_like(parameter))
                average.lerp_(parameter.grad, 1 - group["momentum"])
                parts = 3 if parameter.shape[0] == 3 * parameter.shape[1] else 1
                direction = parameter.grad.lerp(average, group["momentum"])
                for part, change in zip(parameter.chunk(parts), direction.chunk(parts)):
                    by_shape.setdefault(tuple(part.shape), []).append((part, change))
            for (rows, columns), pairs in by_shape.items():
                changes = orthogonal(torch.stack([change for _, change in pairs]))
                for (part, _), change in zip(pairs, changes):
                    part.mul_(1 - group["lr"] * group["weight_decay"])
                    part.add_(change, alpha=-group["lr"] * max(1, rows / columns) ** 0.5)


def orthogonal(x: Tensor) -> Tensor:
    """Each matrix of a stack with its singular values brought near 1, by five steps of a quintic iteration."""
    tall = x.shape[1] > x.shape[2]
    x = x.mT if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.mT if tall else x
