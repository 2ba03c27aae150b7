"""ex23: a small file, and rows in another order, by hand."""

from autograder.checks import step

HEADER = b'{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}} '
FILE = (55).to_bytes(8, "little") + HEADER + bytes([0x00, 0x3C, 0x00, 0xC0])


@step("numbers of the file", "[1, -2]")
def step_read(impl, given):
    return impl.read_safetensors(FILE)["a"]


@step("numbers written and read", "[1, -2]")
def step_written(impl, given):
    data = impl.write_safetensors({"a": given.tensor([1.0, -2.0], "float16")})
    return impl.read_safetensors(data)["a"]


def llama(given, rows):
    """Return a file of one layer with a column for each weight, whose rows have their numbers."""
    torch, layer = given.torch, "model.layers.0"
    shapes = {
        "model.embed_tokens": (3, 1),
        f"{layer}.input_layernorm": (1,),
        f"{layer}.self_attn.k_proj": (rows, 1),
        f"{layer}.self_attn.v_proj": (rows, 1),
        f"{layer}.self_attn.o_proj": (1, rows),
        f"{layer}.post_attention_layernorm": (1,),
        f"{layer}.mlp.gate_proj": (2, 1),
        f"{layer}.mlp.up_proj": (2, 1),
        f"{layer}.mlp.down_proj": (1, 2),
        "model.norm": (1,),
    }
    file = {f"{name}.weight": torch.zeros(shape) for name, shape in shapes.items()}
    file[f"{layer}.self_attn.q_proj.weight"] = torch.arange(float(rows)).reshape(rows, 1)
    return file


@step("rows of q_proj", "[0, 2, 1, 3, 4, 6, 5, 7]")
def step_rows(impl, given):
    weights = impl.from_llama(llama(given, 8), num_heads=2, num_kv_heads=2)
    return weights["layers.0.attn.q_proj.weight"][:, 0]
