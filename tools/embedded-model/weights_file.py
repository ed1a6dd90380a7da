"""Writes and reads the weights file; src/embedded-model/weights-file.ts describes the format and reads it too."""

import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import torch

from model import VOCABULARY, Shape, Transformer

MAGIC = b"EDGEWISE"
VERSION = 1
PREFIX_BYTES = 48


def round_weights(model: Transformer) -> Transformer:
    """A float64 model with the parameters as the file holds them, rounded to float16."""
    rounded = Transformer(model.shape).double()
    with torch.no_grad():
        for name, matrix in rounded.matrices().items():
            matrix.copy_(model.matrices()[name].half().double())
    return rounded


def write_weights(path: Path, model: Transformer, training: dict) -> None:
    matrices = model.matrices()
    header = {
        "name": "edgewise/tiny",
        "shape": vars(model.shape),
        "vocabulary": VOCABULARY,
        "tensors": [{"name": name, "rows": matrix.shape[0], "columns": matrix.shape[1]} for name, matrix in matrices.items()],
        "training": training,
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    body = text + b"".join(matrix.detach().numpy().astype("<f2").tobytes() for matrix in matrices.values())
    path.write_bytes(MAGIC + struct.pack("<II", VERSION, len(text)) + hashlib.sha256(body).digest() + body)


def read_weights(path: Path) -> tuple[Transformer, dict]:
    """The model, in float64, and the header."""
    data = path.read_bytes()
    version, header_bytes = struct.unpack("<II", data[8:16])
    if data[:8] != MAGIC or version != VERSION or hashlib.sha256(data[PREFIX_BYTES:]).digest() != data[16:PREFIX_BYTES]:
        raise ValueError(f"{path} is no intact weights file of version {VERSION}")
    header = json.loads(data[PREFIX_BYTES : PREFIX_BYTES + header_bytes])
    if header["vocabulary"] != VOCABULARY:
        raise ValueError(f"{path} has another vocabulary than model.py")
    model = Transformer(Shape(**header["shape"])).double()
    at = PREFIX_BYTES + header_bytes
    with torch.no_grad():
        for matrix in model.matrices().values():
            values = np.frombuffer(data, "<f2", matrix.numel(), at).astype(np.float64)
            matrix.copy_(torch.from_numpy(values).view(matrix.shape))
            at += 2 * matrix.numel()
    return model, header
