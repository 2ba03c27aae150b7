"""ex23: weight files, names and rows of other layouts, and a model that loads them."""

import json

from autograder.checks import Raises, check, picture

DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}
FLOATS = ("F64", "F32", "F16", "BF16")
COLUMNS = 9
"""Columns of a matrix that are compared, more than a head has in most trials."""


def sample(given, kind, *shape):
    """Return a tensor of a dtype, by its name in a file."""
    dtype = getattr(given.torch, DTYPES[kind])
    if kind in FLOATS:
        return given.normal(*shape, dtype=DTYPES[kind]).to(dtype)
    if kind == "BOOL":
        return given.integers(0, 2, *shape).to(dtype)
    return given.integers(0 if kind == "U8" else -100, 100, *shape).to(dtype)


def raw(given, tensor):
    """Return the bytes of a tensor in logical order."""
    return bytes(tensor.contiguous().flatten().view(given.torch.uint8).tolist())


def file_of(given, tensors, metadata=None, blanks=0, order=None, change=None):
    """Return a weight file. `order` is that of the numbers, `change` rewrites the header."""
    names, header, body = {dtype: name for name, dtype in DTYPES.items()}, {}, b""
    places = {}
    for name in order or tensors:
        places[name] = [len(body), len(body) + len(raw(given, tensors[name]))]
        body += raw(given, tensors[name])
    for name, tensor in tensors.items():
        kind = names[str(tensor.dtype).removeprefix("torch.")]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": places[name]}
    if metadata is not None:
        header = {"__metadata__": metadata, **header}
    if change is not None:
        change(header)
    text = json.dumps(header).encode() + b" " * blanks
    return len(text).to_bytes(8, "little") + text + body


def parsed(data):
    """Observe a weight file: for each name dtype, shape and bytes, and how long the parts are."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or 8 + length > len(data):
        return {"length of the header": length}
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    seen = {"bytes after the header": len(body)}
    for name in sorted(header):
        if name == "__metadata__":
            seen["metadata"] = header[name]
            continue
        begin, end = header[name]["data_offsets"]
        seen |= {
            f"dtype of {name}": header[name]["dtype"],
            f"shape of {name}": header[name]["shape"],
            f"bytes of {name}": body[begin:end],
        }
    return seen


def by_name(tensors):
    """Observe tensors in alphabetical order of their names."""
    return {name: tensors[name] for name in sorted(tensors)}


@check("tensors come back with their names, shapes and values", points=3, of="read_safetensors")
def test_read(impl, given):
    T, S, K, V = given.sizes("T S K V")
    shapes = {"layers.0.weight": (T, S), "bias": (V,), "a": (2, K, 3)}
    tensors = {name: sample(given, "F32", *shape) for name, shape in shapes.items()}
    return by_name(impl.read_safetensors(file_of(given, tensors)))


@check("all ten dtypes are read", points=2, of="read_safetensors")
def test_read_dtypes(impl, given):
    T, K = given.sizes("T K")
    return by_name(impl.read_safetensors(file_of(given, {kind: sample(given, kind, T, K) for kind in DTYPES})))


@check("offsets may be in any order, and the header may end with spaces", points=1, of="read_safetensors")
def test_read_order(impl, given):
    T, S, K = given.sizes("T S K")
    tensors = {"b": sample(given, "F32", T), "a": sample(given, "I16", S), "c": sample(given, "F16", K)}
    data = file_of(given, tensors, blanks=given.number(3, 9), order=given.choice(["cab", "bca", "abc"]))
    return by_name(impl.read_safetensors(data))


@check("metadata are no tensor", points=1, of="read_safetensors")
def test_read_metadata(impl, given):
    tensors = {"w": sample(given, "F32", *given.sizes("T K"))}
    return by_name(impl.read_safetensors(file_of(given, tensors, metadata={"format": "pt", "step": given.text(4)})))


@check("a shape may be (), and a size may be 0", points=1, of="read_safetensors")
def test_read_shapes(impl, given):
    T, K = given.sizes("T K")
    shapes = {"number": (), "one": (1,), "empty": (0, K), "empty too": (T, 0, 2), "row": (1, T)}
    tensors = {name: sample(given, "F32", *shape) for name, shape in shapes.items()}
    tensors["empty numbers"] = sample(given, "I16", 0, T)
    alone = file_of(given, {"empty and alone": sample(given, "F32", 0, K)})
    return by_name({**impl.read_safetensors(file_of(given, tensors)), **impl.read_safetensors(alone)})


@check("the caller may write into the tensors", points=1, of="read_safetensors")
def test_read_writable(impl, given):
    data = file_of(given, {"w": sample(given, "F32", *given.sizes("T K")), "v": sample(given, "F32", 3)})
    tensors = impl.read_safetensors(data)
    for tensor in tensors.values():
        tensor += 1
    return {"plus 1": by_name(tensors), "read again": by_name(impl.read_safetensors(data))}


def read_or_refused(impl, data):
    """Observe the tensor `w` of a file, or the exception that refuses the file, in words."""
    try:
        return impl.read_safetensors(data)["w"]
    except NotImplementedError:  # the function is not written: that is no refusal
        raise
    except Exception as error:
        return "a ValueError" if isinstance(error, ValueError) else f"a {type(error).__name__}"


def with_reversed_length(data):
    """Return a file with the 8 bytes of its length in the other order: it seems to end in its header."""
    return data[7::-1] + data[8:]


@check("the length of the header is read with the lowest byte first", points=1, of="read_safetensors")
def test_byte_order(impl, given):
    data = file_of(given, {"w": sample(given, "F32", *given.sizes("T K"))})
    return {
        "result for a file": read_or_refused(impl, data),
        "result for a file whose length has its highest byte first": read_or_refused(impl, with_reversed_length(data)),
    }


def refused(impl, given, **options):
    """Observe the exception for a file of two tensors."""
    data = file_of(given, {"v": sample(given, "F32", 3), "w": sample(given, "F32", 5, 4)}, **options)
    return lambda cut=None: given.raises(lambda: impl.read_safetensors(data[:cut]))


READ = ("read", "read_order", "read_metadata")
NEEDS_READ = {"of": "read_safetensors", "judge": Raises(), "trials": 1, "requires_any": READ}


@check("a file without its last bytes is refused", points=1, **NEEDS_READ)
def test_cut_off(impl, given):
    return refused(impl, given)(-4)  # one whole number: torch itself refuses a part of one with a ValueError


@check("a file that ends in its header is refused", points=1, **NEEDS_READ)
def test_header_cut_off(impl, given):
    cut = refused(impl, given)(40)
    data = with_reversed_length(file_of(given, {"w": sample(given, "F32", 5, 4)}))
    return given.raises(lambda: impl.read_safetensors(data)) if "ValueError" in cut["raised"] else cut


@check("offsets that do not fit shape and dtype are refused", points=1, **NEEDS_READ)
def test_offsets(impl, given):
    return refused(impl, given, change=lambda header: header["v"].update(data_offsets=[0, 16]))()


@check("offsets that are too close for shape and dtype are refused", points=1, **NEEDS_READ)
def test_offsets_short(impl, given):
    return refused(impl, given, change=lambda header: header["v"].update(data_offsets=[0, 8]))()


@check("an unknown dtype is refused", points=1, **NEEDS_READ)
def test_unknown_dtype(impl, given):
    return refused(impl, given, change=lambda header: header["v"].update(dtype="F12"))()


@check("a written file has length, header and numbers", points=3, of="write_safetensors")
def test_written(impl, given):
    T, S, K, V = given.sizes("T S K V")
    tensors = {"b": sample(given, "F32", T, S), "a.weight": sample(given, "F32", V), "c": sample(given, "F32", 2, K, 3)}
    tensors["a.weight"] = given.torch.nn.Parameter(tensors["a.weight"])
    return parsed(impl.write_safetensors(tensors))


@check("all ten dtypes are written", points=2, of="write_safetensors")
def test_written_dtypes(impl, given):
    T, K = given.sizes("T K")
    return parsed(impl.write_safetensors({kind: sample(given, kind, T, K) for kind in DTYPES}))


@check("views are written in logical order", points=2, of="write_safetensors")
def test_written_views(impl, given):
    G, S, K = given.sizes("G S K")
    tensor = sample(given, "F32", G, S, K)
    views = {
        "transposed": tensor.transpose(0, 2),
        "slice": tensor[:, 1:3],
        "part": tensor[1:],  # contiguous, in a larger storage
        "every other": tensor[..., ::2],
        "expanded": tensor[:, :1].expand(G, 3, K),
    }
    return parsed(impl.write_safetensors(views))


@check("shapes () and empty tensors are written", points=1, of="write_safetensors")
def test_written_shapes(impl, given):
    T, K = given.sizes("T K")
    shapes = {"number": (), "empty": (0, K), "empty too": (T, 0), "row": (1, T)}
    return parsed(impl.write_safetensors({name: sample(given, "F32", *shape) for name, shape in shapes.items()}))


@check("a tensor on another device is written", points=1, of="write_safetensors", requires_any=("written",))
def test_written_device(impl, given):
    tensor = sample(given, "F32", *given.sizes("T K"))
    with given.another_device() as device:
        return parsed(impl.write_safetensors({"w": tensor.to(device)}))


@check("metadata are written, and only if there are any", points=1, of="write_safetensors")
def test_written_metadata(impl, given):
    tensors, metadata = {"w": sample(given, "F32", given.size("K"))}, {"merges": given.text(9), "layers": "2"}
    return {
        "with metadata": parsed(impl.write_safetensors(tensors, metadata=metadata)),
        "without metadata": parsed(impl.write_safetensors(tensors)),
        "read back": by_name(impl.read_safetensors(impl.write_safetensors(tensors, metadata=metadata))),
    }


def llama(given, layers=2, head=True):
    """Return the tensors of a Hugging Face Llama."""
    G, H, K, D, F, V = given.sizes("G H K D F V")
    shapes = {"model.embed_tokens": (V, D)}
    for i in range(layers):
        shapes |= {
            f"model.layers.{i}.input_layernorm": (D,),
            f"model.layers.{i}.self_attn.q_proj": (H * K, D),
            f"model.layers.{i}.self_attn.k_proj": (G * K, D),
            f"model.layers.{i}.self_attn.v_proj": (G * K, D),
            f"model.layers.{i}.self_attn.o_proj": (D, H * K),
            f"model.layers.{i}.post_attention_layernorm": (D,),
            f"model.layers.{i}.mlp.gate_proj": (F, D),
            f"model.layers.{i}.mlp.up_proj": (F, D),
            f"model.layers.{i}.mlp.down_proj": (D, F),
        }
    shapes |= {"model.norm": (D,), **({"lm_head": (V, D)} if head else {})}
    return {f"{name}.weight": given.normal(*shape) for name, shape in shapes.items()}


def gpt2(given, layers=2, head=True, prefix="", small=False):
    """Return tensors in GPT-2's layout."""
    G, H, K, D, F, V = (1, 2, 2, 4, 3, 5) if small else given.sizes("G H K D F V")
    shapes = {f"{prefix}wte": (V, D)}
    for i in range(layers):
        shapes |= {
            f"{prefix}h.{i}.ln_1": (D,),
            f"{prefix}h.{i}.attn.c_attn": (D, (H + 2 * G) * K),
            f"{prefix}h.{i}.attn.c_proj": (H * K, D),
            f"{prefix}h.{i}.ln_2": (D,),
            f"{prefix}h.{i}.mlp.c_fc": (D, 2 * F),
            f"{prefix}h.{i}.mlp.c_proj": (F, D),
        }
    shapes |= {f"{prefix}ln_f": (D,), **({"lm_head": (V, D)} if head else {})}
    return {f"{name}.weight": given.normal(*shape) for name, shape in shapes.items()}


def of_llama(impl, given, tensors):
    H, G = given.sizes("H G")
    return impl.from_llama(tensors, num_heads=H, num_kv_heads=G)


def of_gpt2(impl, given, tensors):
    H, G = given.sizes("H G")
    return impl.from_gpt2(tensors, num_heads=H, num_kv_heads=G)


def chosen(tensors, *parts):
    """Observe the tensors whose names contain one of these parts: of a matrix all rows, but few columns."""
    named = {name: tensors[name] for name in sorted(tensors) if any(part in name for part in parts)}
    return {name: value[:, :COLUMNS] if getattr(value, "ndim", 0) == 2 else value for name, value in named.items()}


def shapes_of(tensors):
    """Observe the names of tensors, with their shapes."""
    return {f"shape of {name}": list(getattr(tensors[name], "shape", ())) for name in sorted(tensors)}


@check("the tensors of a Llama get the names of this course", points=3, of="from_llama")
def test_llama_names(impl, given):
    tensors = of_llama(impl, given, llama(given))
    many = {"names of 12 layers": len(of_llama(impl, given, llama(given, layers=12)))}
    return {**shapes_of(tensors), **many, **chosen(tensors, "ln", "lm_head", "token_embeddings", "0.ffn")}


@check("values and output projections of a Llama keep their rows", points=1, of="from_llama")
def test_llama_kept(impl, given):
    return chosen(of_llama(impl, given, llama(given, layers=1)), "v_proj", "output_proj")


@check("the query rows of a Llama become neighbours, head by head", points=3, of="from_llama")
def test_llama_queries(impl, given):
    return chosen(of_llama(impl, given, llama(given)), "q_proj")


@check("the key rows of a Llama become neighbours in each of the G heads", points=2, of="from_llama")
def test_llama_keys(impl, given):
    return chosen(of_llama(impl, given, llama(given)), "k_proj")


def names_without_weights(given, prefix):
    """Return tensors that a file may hold beside its weights."""
    K = given.size("K")
    extra = {"rotary_emb.inv_freq": (K // 2,), "attn.bias": (1, 1, 3, 3), "attn.masked_bias": ()}
    return {f"{prefix}1.{name}": given.normal(*shape) for name, shape in extra.items()}


@check("names that are no weights are left out", points=1, of="from_llama")
def test_left_out(impl, given):
    tensors = of_llama(impl, given, {**names_without_weights(given, "model.layers."), **llama(given)})
    others = of_gpt2(impl, given, {**names_without_weights(given, "h."), **gpt2(given)})
    return {
        "names from Llama": sorted(tensors),
        "names from GPT-2": sorted(others),
        **chosen(tensors, "0.attn.v_proj"),
        **chosen(others, "1.ln2"),
    }


@check("without a head, the embedding serves", points=2, of="from_llama")
def test_tied_head(impl, given):
    return {
        "from Llama": chosen(of_llama(impl, given, llama(given, head=False)), "lm_head", "token_embeddings"),
        "from GPT-2": chosen(of_gpt2(impl, given, gpt2(given, head=False)), "lm_head", "token_embeddings"),
    }


@check("names of GPT-2 are translated; norms and embeddings keep their shape", points=2, of="from_gpt2")
def test_gpt2_names(impl, given):
    tensors = of_gpt2(impl, given, gpt2(given))
    return {**shapes_of(tensors), **chosen(tensors, "ln", "lm_head", "token_embeddings")}


@check("the matrices of GPT-2 are transposed", points=2, of="from_gpt2")
def test_gpt2_transposed(impl, given):
    return chosen(of_gpt2(impl, given, gpt2(given, layers=1)), "output_proj", "w2")


@check("c_attn is cut into H query heads, G key heads and G value heads", points=3, of="from_gpt2")
def test_gpt2_attention(impl, given):
    return chosen(of_gpt2(impl, given, gpt2(given, layers=1)), "q_proj", "k_proj", "v_proj")


@check("c_fc is cut into gate and value", points=2, of="from_gpt2")
def test_gpt2_gate(impl, given):
    return chosen(of_gpt2(impl, given, gpt2(given, layers=1)), "w1", "w3")


@check("names of GPT-2 may begin with `transformer.`", points=1, of="from_gpt2")
def test_gpt2_prefix(impl, given):
    tensors = of_gpt2(impl, given, gpt2(given, prefix="transformer."))
    return {"names": sorted(tensors), **chosen(tensors, "ln_final", "0.attn.output_proj")}


@check("layers with two digits stay apart", points=1, of="from_gpt2")
def test_many_layers(impl, given):
    tensors = impl.from_gpt2(gpt2(given, layers=12, small=True), num_heads=2, num_kv_heads=1)
    norms = [tensors.get(f"layers.{i}.ln1.weight") for i in range(12)]
    values = [tensors.get(f"layers.{i}.attn.v_proj.weight") for i in range(12)]
    return {"number of names": len(tensors), "ln1 of each layer": norms, "v_proj of each layer": values}


def model_of(given, layers=2, tied=False, dtype="float32"):
    """Return a model with the names of this course and random weights; it computes nothing."""
    nn = given.torch.nn
    G, H, K, D, F, V = given.sizes("G H K D F V")

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(given.normal(D))

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.num_heads, self.num_kv_heads = H, G
            self.q_proj, self.k_proj = linear(D, H * K), linear(D, G * K)
            self.v_proj, self.output_proj = linear(D, G * K), linear(H * K, D)

    class FeedForward(nn.Module):
        def __init__(self):
            super().__init__()
            self.w1, self.w2, self.w3 = linear(D, F), linear(F, D), linear(D, F)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln1, self.attn, self.ln2, self.ffn = Norm(), Attention(), Norm(), FeedForward()

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.token_embeddings = nn.Embedding(V, D)
            self.layers = nn.ModuleList(Block() for _ in range(layers))
            self.ln_final, self.lm_head = Norm(), linear(D, V)
            if tied:
                self.lm_head.weight = self.token_embeddings.weight

    def linear(inputs, outputs):
        layer = nn.Linear(inputs, outputs, bias=False, device="meta").to_empty(device="cpu")
        with given.torch.no_grad():
            layer.weight.copy_(given.normal(outputs, inputs))
        return layer

    model = Model()
    with given.torch.no_grad():
        model.token_embeddings.weight.copy_(given.normal(V, D))
    return model.to(given.device, getattr(given.torch, dtype))


def held(model):
    """Observe the parameters, as they are now."""
    return {name: value.detach().clone() for name, value in model.named_parameters(remove_duplicate=False)}


@check("a Llama is loaded into the model", points=3, of="load_weights")
def test_loaded(impl, given):
    model = model_of(given)
    unused = impl.load_weights(model, llama(given))
    return {"unused names": unused, **chosen(held(model), "ln", "0.attn.q", "1.attn.k", "1.ffn.w3", "lm_head")}


@check("a file in GPT-2's layout is loaded into the model", points=2, of="load_weights")
def test_loaded_gpt2(impl, given):
    model = model_of(given)
    unused = impl.load_weights(model, gpt2(given, head=False, prefix="transformer."), layout="gpt2")
    return {"unused names": unused, **chosen(held(model), "1.attn.k", "lm_head", "0.ffn.w1", "1.attn.output")}


@check("the names that were not used come back, sorted", points=2, of="load_weights")
def test_unused(impl, given):
    model, G, K = model_of(given, layers=1), *given.sizes("G K")
    extra = {f"model.layers.0.self_attn.{given.text(5)}.weight": given.normal(G, K), "zebra": given.normal(2)}
    unused = impl.load_weights(model, {**extra, **llama(given), "model.layers.0.rotary_emb.inv_freq": given.normal(K)})
    return {"unused names": unused, **chosen(held(model), "0.attn.v_proj", "ln_final")}


def faulty(given, name, fault):
    """Return a Llama with one tensor that is missing, misspelt, too long or too short, in its second layer."""
    tensors = llama(given)
    full = f"model.layers.1.self_attn.{name}.weight"
    tensor = tensors.pop(full)
    if fault == "misspelt":
        tensors[full.replace("_proj", "_project")] = tensor
    elif fault != "missing":
        rows = tensor.size(0) + {"too long": 1, "too short": -2}[fault]
        tensors[full] = given.normal(rows, tensor.size(1))
    return tensors


LOADED = ("loaded", "loaded_gpt2", "unused", "in_place")
NEEDS_LOADED = {"of": "load_weights", "judge": Raises(), "trials": 1, "requires_any": LOADED}


@check("a parameter without a tensor is refused by its name", points=2, **NEEDS_LOADED)
def test_missing(impl, given):
    model = model_of(given)
    return given.raises(lambda: impl.load_weights(model, faulty(given, "v_proj", "misspelt")), "v_proj")


@check("a file without head and embedding is refused", points=1, **NEEDS_LOADED)
def test_missing_embedding(impl, given):
    model, tensors = model_of(given), llama(given, head=False)
    del tensors["model.embed_tokens.weight"]
    return given.raises(lambda: impl.load_weights(model, tensors))  # the message may name either


@check("a tensor of another shape is refused, with both shapes", points=2, **NEEDS_LOADED)
def test_shapes(impl, given):
    G, K, D = given.sizes("G K D")
    model = model_of(given)
    tensors = faulty(given, "v_proj", "too long")
    return given.raises(lambda: impl.load_weights(model, tensors), "v_proj", G * K, G * K + 1, D)


@check("a wrong number of rows in the queries is refused, too", points=1, **NEEDS_LOADED)
def test_query_shapes(impl, given):
    D = given.size("D")
    tensors, model = faulty(given, "q_proj", "too short"), model_of(given)
    return given.raises(lambda: impl.load_weights(model, tensors), "q_proj", D, D - 2)


@check("a c_attn of GPT-2 with a column too many is refused, too", points=1, **NEEDS_LOADED)
def test_gpt2_shapes(impl, given):
    G, H, K, D = given.sizes("G H K D")
    tensors, model = gpt2(given), model_of(given)
    tensors["h.1.attn.c_attn.weight"] = given.normal(D, (H + 2 * G) * K + 1)
    # The message may name c_attn, or one of the three parts that are cut from it.
    return given.raises(lambda: impl.load_weights(model, tensors, layout="gpt2"), "attn", D)


@check("after an error the model is as before", points=2, of="load_weights")
def test_unchanged(impl, given):
    model, seen = model_of(given), {}
    for fault in ("missing", "too long"):
        before = held(model)
        error = given.raises(lambda fault=fault: impl.load_weights(model, faulty(given, "v_proj", fault)))
        change = {name: now - before[name] for name, now in held(model).items()}
        change = chosen(change, "0.ln", "0.attn.v_proj")
        seen |= {f"change of {name} if a tensor is {fault}": value for name, value in change.items()}
        seen[f"exception if a tensor is {fault}"] = next(
            (kind for kind in error["raised"] if kind == "ValueError"), "another one"
        )
    unused = impl.load_weights(model, llama(given))
    return {**seen, "unused names of a right file": unused, **chosen(held(model), "v_proj", "ln_final")}


@check("the numbers are written into the parameters, and ties stay", points=2, of="load_weights")
def test_in_place(impl, given):
    model, tied = model_of(given, layers=1), model_of(given, layers=1, tied=True)
    before, both = dict(model.named_parameters()), dict(tied.named_parameters())
    impl.load_weights(model, llama(given, layers=1))
    impl.load_weights(tied, llama(given, layers=1, head=False))
    with given.torch.no_grad():
        both["token_embeddings.weight"] += 1
    kept = chosen(before, "k_proj", "ln", "w2")
    return {
        "parameters that an optimizer holds": {name: value.detach() for name, value in kept.items()},
        "tied head after a step of the embedding": tied.lm_head.weight.detach(),
        **{f"requires_grad of {name}": value.requires_grad for name, value in before.items()},
    }


@check("the model keeps its dtype", points=1, of="load_weights")
def test_dtype(impl, given):
    double, half = model_of(given, layers=1, dtype="float64"), model_of(given, layers=1, dtype="bfloat16")
    tensors = llama(given, layers=1)
    impl.load_weights(double, tensors)
    impl.load_weights(half, tensors)
    return {"float64": chosen(held(double), "k_proj", "ln1"), "bfloat16": chosen(held(half), "v_proj", "ln1")}


@check("the tensors of the file are not modified", points=1, requires_any=("llama_queries", "gpt2_gate", "loaded"))
def test_inputs_kept(impl, given):
    H, G = given.sizes("H G")
    first, second, third = llama(given, layers=1, head=False), gpt2(given, layers=1, head=False), llama(given, layers=1)
    impl.from_llama(first, num_heads=H, num_kv_heads=G)
    impl.from_gpt2(second, num_heads=H, num_kv_heads=G)
    model = model_of(given, layers=1)
    impl.load_weights(model, third)
    with given.torch.no_grad():
        for value in model.parameters():
            value += 1
    return {
        "names of a Llama": sorted(first),
        "names of GPT-2": sorted(second),
        "a Llama": chosen(first, "k_proj", "norm"),
        "GPT-2": chosen(second, "c_fc", "ln_f"),
        "a Llama that was loaded": chosen(third, "k_proj", "final", "o_proj"),
    }


@picture("where each row of q_proj comes from: 2 heads of 8", rows="row in the model", columns="row in the file")
def picture_rows(impl, given):
    rows, layer = 16, "model.layers.0."
    square = ("self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj")
    wide = ("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
    norms = (f"{layer}input_layernorm", f"{layer}post_attention_layernorm", "model.norm")
    names = ("model.embed_tokens", *norms, *(layer + name for name in (*square, *wide)))
    file = {f"{name}.weight": given.torch.zeros((rows,) if name in norms else (rows, rows)) for name in names}
    file[f"{layer}self_attn.q_proj.weight"] = given.torch.eye(rows)
    weights = impl.from_llama(file, num_heads=2, num_kv_heads=2)
    return weights["layers.0.attn.q_proj.weight"], [str(i) for i in range(rows)], []
