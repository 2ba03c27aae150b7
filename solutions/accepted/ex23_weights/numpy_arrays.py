# Reads and writes with struct and NumPy; names by string parts; rows by an index.
import json
import struct

import numpy as np
import torch
from torch import Tensor

NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<i2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1"}
NUMPY |= {"U8": "u1", "BOOL": "?"}
KINDS = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def read_safetensors(data):
    if len(data) < 8:
        raise ValueError("no header")
    (length,) = struct.unpack_from("<Q", data)
    if 8 + length > len(data):
        raise ValueError(f"a header of {length} bytes in a file of {len(data)}")
    result = {}
    for name, entry in json.loads(bytes(data[8 : 8 + length]).decode("utf-8")).items():
        if name != "__metadata__":
            result[name] = one(data, 8 + length, name, **entry)
    return result


def one(data, start, name, dtype, shape, data_offsets):
    if dtype not in NUMPY:
        raise ValueError(f"{name}: {dtype}?")
    first, last = data_offsets
    count = int(np.prod(shape, dtype=np.int64))
    if last - first != count * np.dtype(NUMPY[dtype]).itemsize or start + last > len(data):
        raise ValueError(f"{name}: {shape} of {dtype} from {first} to {last}")
    array = np.frombuffer(data, NUMPY[dtype], count, start + first).copy().reshape(shape)
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == "BF16" else tensor


def write_safetensors(tensors, metadata=None):
    header, chunks, at = {}, [], 0
    for name in sorted(tensors):
        tensor = tensors[name].detach().to("cpu")
        plain = tensor.contiguous()
        array = plain.view(torch.int16).numpy() if tensor.dtype == torch.bfloat16 else plain.numpy()
        chunks.append(array.tobytes())
        end = at + len(chunks[-1])
        header[name] = {"dtype": KINDS[tensor.dtype], "shape": [*tensor.shape], "data_offsets": [at, end]}
        at = end
    if metadata:
        header["__metadata__"] = dict(metadata)
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(chunks)


def order(heads, rows):
    """For each row of the model, the row of the file."""
    size = rows // heads
    return [h * size + j + half * (size // 2) for h in range(heads) for j in range(size // 2) for half in (0, 1)]


def from_llama(tensors, num_heads, num_kv_heads):
    count = 1 + max((int(name.split(".")[2]) for name in tensors if name.startswith("model.layers.")), default=-1)
    result = {"token_embeddings.weight": tensors["model.embed_tokens.weight"]}
    for i in range(count):
        here, there = f"layers.{i}.", f"model.layers.{i}."
        for ours, theirs in (
            ("ln1", "input_layernorm"),
            ("attn.q_proj", "self_attn.q_proj"),
            ("attn.k_proj", "self_attn.k_proj"),
            ("attn.v_proj", "self_attn.v_proj"),
            ("attn.output_proj", "self_attn.o_proj"),
            ("ln2", "post_attention_layernorm"),
            ("ffn.w1", "mlp.gate_proj"),
            ("ffn.w2", "mlp.down_proj"),
            ("ffn.w3", "mlp.up_proj"),
        ):
            if f"{there}{theirs}.weight" in tensors:
                result[f"{here}{ours}.weight"] = tensors[f"{there}{theirs}.weight"]
        for ours, heads in (("q_proj", num_heads), ("k_proj", num_kv_heads)):
            name = f"{here}attn.{ours}.weight"
            if name in result and len(result[name]) % (2 * heads) == 0:
                result[name] = result[name][order(heads, len(result[name]))]
    result["ln_final.weight"] = tensors["model.norm.weight"]
    result["lm_head.weight"] = tensors.get("lm_head.weight", tensors["model.embed_tokens.weight"])
    return result


def from_gpt2(tensors, num_heads, num_kv_heads):
    plain = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    result = {}
    for name, tensor in plain.items():
        words = name.split(".")
        if words[0] != "h" or words[-1] != "weight":
            continue
        here, part = f"layers.{words[1]}.", ".".join(words[2:-1])
        if part == "attn.c_attn":
            size = tensor.shape[1] // (num_heads + 2 * num_kv_heads)
            ends = [num_heads * size, (num_heads + num_kv_heads) * size]
            q, k, v = torch.tensor_split(tensor, ends, dim=1)
            result |= {
                here + "attn.q_proj.weight": q.t(),
                here + "attn.k_proj.weight": k.t(),
                here + "attn.v_proj.weight": v.t(),
            }
        elif part == "mlp.c_fc":
            result[here + "ffn.w1.weight"], result[here + "ffn.w3.weight"] = (half.t() for half in tensor.chunk(2, 1))
        elif part in ("attn.c_proj", "mlp.c_proj"):
            ours = "attn.output_proj" if part.startswith("attn") else "ffn.w2"
            result[f"{here}{ours}.weight"] = tensor.t().contiguous()
        elif part in ("ln_1", "ln_2"):
            result[f"{here}ln{part[-1]}.weight"] = tensor
    result["token_embeddings.weight"] = plain["wte.weight"]
    result["ln_final.weight"] = plain["ln_f.weight"]
    result["lm_head.weight"] = plain.get("lm_head.weight", plain["wte.weight"])
    return result


def load_weights(model, tensors, layout="llama"):
    attention = model.layers[0].attn
    convert = from_gpt2 if layout == "gpt2" else from_llama
    # A name is used if the conversion of a copy shows its number in a parameter of the model.
    marked = {name: torch.full(tensor.shape, float(i)) for i, (name, tensor) in enumerate(tensors.items())}
    try:
        converted = convert(tensors, attention.num_heads, attention.num_kv_heads)
        marks = convert(marked, attention.num_heads, attention.num_kv_heads)
    except KeyError as error:
        raise ValueError(f"no {error}") from error
    state = model.state_dict()
    for name, old in state.items():
        if name not in converted:
            raise ValueError(f"{name} is missing")
        new: Tensor = converted[name]
        if new.shape != old.shape:
            raise ValueError(f"{name}: {list(new.shape)} for {list(old.shape)}")
    model.load_state_dict({name: converted[name] for name in state})
    used = {int(mark) for name in state for mark in marks[name].unique().tolist()}
    return sorted(name for i, name in enumerate(tensors) if i not in used)
