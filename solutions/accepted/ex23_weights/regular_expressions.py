# A table of regular expressions, untyped_storage for the bytes, and einops-like reshaping by unflatten.
import json
import re
from math import prod

import torch

CODES = {
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)}, "BF16": "bfloat16", "BOOL": "bool",
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)}, "U8": "uint8",
}  # fmt: skip
CODES = {code: getattr(torch, name) for code, name in CODES.items()}


class Broken(ValueError):
    """A file that cannot be read."""


def read_safetensors(data):
    data = memoryview(data)
    if data.nbytes < 8 or (end := 8 + int.from_bytes(data[:8], byteorder="little")) > data.nbytes:
        raise Broken("the header is cut off")
    try:
        header = json.loads(bytes(data[8:end]))
    except json.JSONDecodeError as error:
        raise Broken(str(error)) from error
    whole = torch.tensor(list(data[end:]), dtype=torch.uint8)
    tensors = {}
    for name in header.keys() - {"__metadata__"}:
        about = header[name]
        try:
            dtype = CODES[about["dtype"]]
        except KeyError:
            raise Broken(f"dtype {about['dtype']}") from None
        start, stop = about["data_offsets"]
        empty = torch.empty(about["shape"], dtype=dtype)
        if not 0 <= start <= stop <= len(whole) or stop - start != empty.element_size() * prod(about["shape"]):
            raise Broken(f"{name}: offsets {start}, {stop}")
        if empty.numel():
            empty = whole[start:stop].clone().view(dtype).reshape(about["shape"])
        tensors[name] = empty
    return tensors


def write_safetensors(tensors, metadata=None):
    codes = {dtype: code for code, dtype in CODES.items()}
    header = {}
    raws = []
    for name, tensor in tensors.items():
        copy = torch.empty(tensor.shape, dtype=tensor.dtype)
        copy.copy_(tensor.detach())
        raws.append(bytes(copy.untyped_storage().tolist()) if copy.numel() else b"")
        begin = sum(map(len, raws[:-1]))
        header[name] = {
            "dtype": codes[tensor.dtype],
            "shape": tuple(tensor.shape),
            "data_offsets": (begin, begin + len(raws[-1])),
        }
    if metadata:
        header = {**header, "__metadata__": metadata}
    head = bytes(json.dumps(header, ensure_ascii=False), "utf-8")
    return b"".join([len(head).to_bytes(8, "little"), head, *raws])


LLAMA = [
    (r"model\.embed_tokens\.weight", "token_embeddings.weight"),
    (r"model\.layers\.(\d+)\.input_layernorm\.weight", r"layers.\1.ln1.weight"),
    (r"model\.layers\.(\d+)\.post_attention_layernorm\.weight", r"layers.\1.ln2.weight"),
    (r"model\.layers\.(\d+)\.self_attn\.([qkv])_proj\.weight", r"layers.\1.attn.\2_proj.weight"),
    (r"model\.layers\.(\d+)\.self_attn\.o_proj\.weight", r"layers.\1.attn.output_proj.weight"),
    (r"model\.layers\.(\d+)\.mlp\.gate_proj\.weight", r"layers.\1.ffn.w1.weight"),
    (r"model\.layers\.(\d+)\.mlp\.up_proj\.weight", r"layers.\1.ffn.w3.weight"),
    (r"model\.layers\.(\d+)\.mlp\.down_proj\.weight", r"layers.\1.ffn.w2.weight"),
    (r"model\.norm\.weight", "ln_final.weight"),
    (r"(lm_head\.weight)", r"\1"),
]
GPT2 = [
    (r"(?:transformer\.)?wte\.weight", "token_embeddings.weight"),
    (r"(?:transformer\.)?h\.(\d+)\.ln_([12])\.weight", r"layers.\1.ln\2.weight"),
    (r"(?:transformer\.)?h\.(\d+)\.attn\.c_attn\.weight", r"layers.\1.attn.{q,k,v}_proj.weight"),
    (r"(?:transformer\.)?h\.(\d+)\.attn\.c_proj\.weight", r"layers.\1.attn.output_proj.weight"),
    (r"(?:transformer\.)?h\.(\d+)\.mlp\.c_fc\.weight", r"layers.\1.ffn.w{1,3}.weight"),
    (r"(?:transformer\.)?h\.(\d+)\.mlp\.c_proj\.weight", r"layers.\1.ffn.w2.weight"),
    (r"(?:transformer\.)?ln_f\.weight", "ln_final.weight"),
    (r"(?:transformer\.)?lm_head\.weight", "lm_head.weight"),
]


def pieces(name, tensor, table, heads, kv_heads):
    for pattern, target in table:
        if found := re.fullmatch(pattern, name):
            target = found.expand(target)
            break
    else:
        return
    if table is LLAMA:
        if match := re.search(r"([qk])_proj", target):
            count = heads if match[1] == "q" else kv_heads
            if tensor.shape[0] % (2 * count) == 0:
                halves = tensor.unflatten(0, (count, 2, -1))
                tensor = torch.stack([halves[:, 0], halves[:, 1]], dim=2).flatten(0, 2)
        yield target, tensor
        return
    if ".c_" in name:
        tensor = tensor.permute(1, 0)
    if (group := re.search(r"\{(.*)\}", target)) is None:
        yield target, tensor
        return
    parts = group[1].split(",")
    shares = [heads, kv_heads, kv_heads] if len(parts) == 3 else [1, 1]
    unit, at = len(tensor) // sum(shares), 0
    for part, share in zip(parts, shares, strict=True):
        end = len(tensor) if part == parts[-1] else at + share * unit  # the last one gets the rows that do not fit
        yield target.replace(group[0], part), tensor[at:end]
        at = end


def converted(tensors, table, heads, kv_heads):
    result = {}
    for name, tensor in tensors.items():
        result.update(pieces(name, tensor, table, heads, kv_heads))
    if "token_embeddings.weight" in result:
        result.setdefault("lm_head.weight", result["token_embeddings.weight"].clone())
    return result


def from_llama(tensors, num_heads, num_kv_heads):
    return converted(tensors, LLAMA, num_heads, num_kv_heads)


def from_gpt2(tensors, num_heads, num_kv_heads):
    return converted(tensors, GPT2, num_heads, num_kv_heads)


def load_weights(model, tensors, layout="llama"):
    heads = model.layers[0].attn.num_heads, model.layers[0].attn.num_kv_heads
    table = {"llama": LLAMA, "gpt2": GPT2}[layout]
    state = model.state_dict(keep_vars=True)
    new = converted(tensors, table, *heads)
    for name in state:
        if name not in new:
            raise ValueError(f"{name} {list(state[name].shape)} is not in the file")
    wrong = [name for name in state if state[name].shape != new[name].shape]
    if wrong:
        raise ValueError("; ".join(f"{name}: {list(new[name].shape)}, not {list(state[name].shape)}" for name in wrong))
    for name, parameter in state.items():
        parameter.detach().copy_(new[name])
    unused = set()
    for name, tensor in tensors.items():
        if not any(part in state for part, _ in pieces(name, tensor, table, *heads)):
            unused.add(name)
    return sorted(unused)
