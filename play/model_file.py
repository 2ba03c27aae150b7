"""Trained models as files: a safetensors file of the student's, and the small files of the demo."""

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.course import read_plain, write_atomically
from autograder.play import Stage
from play.chatter import Chatter


def packed(stage: Stage, chatter: Chatter) -> bytes:
    """Return the model as the student's `write_safetensors` makes it. Tied weights are written once."""
    tensors, seen = {}, set()
    for name, tensor in chatter.model.state_dict().items():
        place = (tensor.data_ptr(), tuple(tensor.shape))
        if place not in seen:
            tensors[name] = tensor.detach().cpu()
        seen.add(place)
    metadata = {
        "arguments": json.dumps(chatter.arguments),
        "merges": json.dumps([[list(part) for part in pair] for pair in chatter.merges]),
        "vocab": json.dumps([list(chatter.vocabulary[id_]) for id_ in sorted(chatter.vocabulary)]),
    }
    data: bytes = stage.own("ex23_weights").write_safetensors(tensors, metadata)
    return data


def unpacked(stage: Stage, data: bytes) -> Chatter:
    """Return the model of a file: the tensors by the student's `read_safetensors`, the rest from the metadata."""
    size = int.from_bytes(data[:8], "little")
    metadata: dict[str, str] = json.loads(data[8 : 8 + size])["__metadata__"]
    merges = [(bytes(first), bytes(second)) for first, second in json.loads(metadata["merges"])]
    vocab = {id_: bytes(entry) for id_, entry in enumerate(json.loads(metadata["vocab"]))}
    chatter = Chatter(stage, vocab, merges, json.loads(metadata["arguments"]))
    tensors: dict[str, Any] = stage.own("ex23_weights").read_safetensors(data)
    chatter.model.load_state_dict(tensors, strict=False)
    return chatter


def write_and_read(stage: Stage, chatter: Chatter, file: Path) -> Chatter:
    """Write the model to a file, read it back, and report if its logits differ. Return the model of the file."""
    try:
        data = packed(stage, chatter)
        write_atomically(file, data, mode=0o600)
        again = unpacked(stage, read_plain(file, len(data)))
    except (ValueError, KeyError, RuntimeError, TypeError) as error:
        stage.report_fault("ex23_weights", f"the written model cannot be read: {type(error).__name__}: {error}")
        return chatter
    ids = chatter.batch([[chatter.end, *range(1, min(chatter.window, 64))]])
    with torch.no_grad():
        same = torch.equal(chatter.model.eval()(ids), again.model.eval()(ids))
    if not same:
        stage.report_fault("ex23_weights", "the model that was written and read back has other logits")
        return chatter
    stage.print(f"The model is in {file} ({len(data):,} bytes). Read back, it has the same logits.")
    return again


ABOUT, SCALE = "about", ".scale"
"""The names of what is no parameter in a file of the demo: JSON as bytes, and the scales of the rows of a matrix."""


def in_bytes(parameters: Iterable[tuple[str, Tensor]], about: Mapping[str, Any]) -> bytes:
    """Return parameters and JSON data as an npz file: matrices in 8 bits with a scale per row, the rest as float32."""
    arrays = {ABOUT: np.frombuffer(json.dumps(about).encode(), np.uint8)}
    for name, parameter in parameters:
        values = parameter.detach().cpu().numpy()
        if values.ndim > 1:
            scales = np.abs(values).max(-1, keepdims=True) / 127
            arrays[name + SCALE] = scales.astype(np.float32)
            values = np.rint(values / np.where(scales, scales, 1)).astype(np.int8)
        arrays[name] = values
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def from_bytes(data: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the parameters of a file as float32 by name, and its JSON data."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    about: dict[str, Any] = json.loads(arrays.pop(ABOUT).tobytes())
    scales = {name: arrays.pop(name) for name in [*arrays] if name.endswith(SCALE)}
    floats = {name: values.astype(np.float32) * scales.get(name + SCALE, 1) for name, values in arrays.items()}
    return {name: torch.from_numpy(values) for name, values in floats.items()}, about
