# One table for both layouts; the file as a stream; converted tensors are always new ones.
import io
import json

import torch

SIZES = {
    "F64": (8, torch.float64), "F32": (4, torch.float32), "F16": (2, torch.float16), "BF16": (2, torch.bfloat16),
    "I64": (8, torch.int64), "I32": (4, torch.int32), "I16": (2, torch.int16), "I8": (1, torch.int8),
    "U8": (1, torch.uint8), "BOOL": (1, torch.bool),
}  # fmt: skip


def exactly(stream, count):
    data = stream.read(count)
    if len(data) != count:
        raise ValueError(f"{count} bytes are announced, {len(data)} are there")
    return data


def read_safetensors(data):
    stream = io.BytesIO(data)
    header = json.loads(exactly(stream, int.from_bytes(exactly(stream, 8), "little")))
    start = stream.tell()
    found = {}
    for name, entry in header.items():
        if name.startswith("__"):
            continue
        if entry["dtype"] not in SIZES:
            raise ValueError(entry["dtype"])
        size, dtype = SIZES[entry["dtype"]]
        for axis in entry["shape"]:
            size *= axis
        begin, end = entry["data_offsets"]
        if end != begin + size:
            raise ValueError(f"{name} is {size} bytes, not {end - begin}")
        stream.seek(start + begin)
        raw = exactly(stream, size)
        flat = torch.frombuffer(bytearray(raw or b"\0" * 8), dtype=dtype)
        found[name] = flat.clone().reshape(entry["shape"]) if raw else flat[:0].reshape(entry["shape"])
    return found


def write_safetensors(tensors, metadata=None):
    header, body = {}, io.BytesIO()
    for name, tensor in tensors.items():
        kind = next(kind for kind, (_, dtype) in SIZES.items() if dtype == tensor.dtype)
        begin = body.tell()
        numbers = tensor.detach().clone(memory_format=torch.contiguous_format).reshape(-1)
        body.write(memoryview(numbers.view(torch.uint8).cpu().numpy()))
        header[name] = {"dtype": kind, "shape": list(tensor.size()), "data_offsets": [begin, body.tell()]}
    if metadata is not None and len(metadata) > 0:
        header.update(__metadata__=metadata)
    text = json.dumps(header).encode("ascii")
    return len(text).to_bytes(8, "little", signed=False) + text + body.getvalue()


TABLE = """
token_embeddings  model.embed_tokens        wte
ln1               input_layernorm           ln_1
attn.q_proj       self_attn.q_proj          attn.c_attn
attn.k_proj       self_attn.k_proj          attn.c_attn
attn.v_proj       self_attn.v_proj          attn.c_attn
attn.output_proj  self_attn.o_proj          attn.c_proj
ln2               post_attention_layernorm  ln_2
ffn.w1            mlp.gate_proj             mlp.c_fc
ffn.w3            mlp.up_proj               mlp.c_fc
ffn.w2            mlp.down_proj             mlp.c_proj
ln_final          model.norm                ln_f
lm_head           lm_head                   lm_head
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()]


def sources(ours, layout):
    """Yield the names that a tensor may have in a file."""
    name = ours.removesuffix(".weight")
    prefix = ""
    if name.startswith("layers."):
        _, number, name = name.split(".", 2)
        prefix = f"model.layers.{number}." if layout == "llama" else f"h.{number}."
    column = 1 if layout == "llama" else 2
    for row in ROWS:
        if row[0] == name:
            yield f"{prefix}{row[column]}.weight"
            if layout == "gpt2":
                yield f"transformer.{prefix}{row[column]}.weight"


def fetched(ours, tensors, layout, heads, kv_heads):
    """Return the name in the file, and the tensor as the model needs it; None if there is none."""
    for name in sources(ours, layout):
        if name in tensors:
            return name, changed(ours, tensors[name], layout, heads, kv_heads)
    if ours == "lm_head.weight":
        return fetched("token_embeddings.weight", tensors, layout, heads, kv_heads)
    return None


def changed(ours, tensor, layout, heads, kv_heads):
    if layout == "llama":
        count = heads if "q_proj" in ours else kv_heads if "k_proj" in ours else 0
        result = tensor.clone()
        size = len(tensor) // count if count else 0
        if size % 2:
            return result  # its shape is wrong
        for head in range(count):
            rows = tensor[head * size : (head + 1) * size]
            result[head * size : (head + 1) * size : 2] = rows[: size // 2]
            result[head * size + 1 : (head + 1) * size : 2] = rows[size // 2 :]
        return result
    if "layers." not in ours or tensor.ndim == 1:
        return tensor.clone()
    tensor = torch.einsum("io->oi", tensor)
    width = len(tensor) // (heads + 2 * kv_heads)
    bounds = {
        "q_proj": (0, heads * width),
        "k_proj": (heads * width, (heads + kv_heads) * width),
        "v_proj": ((heads + kv_heads) * width, len(tensor)),
        "w1": (0, len(tensor) // 2),
        "w3": (len(tensor) // 2, len(tensor)),
    }
    begin, end = bounds.get(ours.split(".")[-2], (0, len(tensor)))
    return tensor[begin:end].clone()


def converted(tensors, layout, heads, kv_heads):
    numbers = {word for name in tensors for word in name.split(".") if word.isdigit()}
    names = [row[0] for row in ROWS if row[0] in ("token_embeddings", "ln_final", "lm_head")]
    names += [f"layers.{i}.{row[0]}" for i in sorted(numbers) for row in ROWS if f"{row[0]}" not in names]
    every = {f"{name}.weight": fetched(f"{name}.weight", tensors, layout, heads, kv_heads) for name in names}
    return {name: pair[1] for name, pair in every.items() if pair is not None}


def from_llama(tensors, num_heads, num_kv_heads):
    return converted(tensors, "llama", num_heads, num_kv_heads)


def from_gpt2(tensors, num_heads, num_kv_heads):
    return converted(tensors, "gpt2", num_heads, num_kv_heads)


def load_weights(model, tensors, layout="llama"):
    attention, plan, used = model.layers[0].attn, [], set()
    for name, parameter in model.named_parameters():
        pair = fetched(name, tensors, layout, attention.num_heads, attention.num_kv_heads)
        if pair is None:
            raise ValueError(f"nothing for {name}, shape {tuple(parameter.shape)}")
        if pair[1].shape != parameter.shape:
            raise ValueError(f"{name}: {tuple(pair[1].shape)} does not fit {tuple(parameter.shape)}")
        plan.append((parameter, pair[1]))
        used.add(pair[0])
    for parameter, tensor in plan:
        parameter.data.copy_(tensor)
    return sorted(set(tensors) - used)
