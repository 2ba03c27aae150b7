# %% [markdown]
# # ex23: weights
#
# Somebody else has trained a model. You have a file with its numbers, and a model of your own with
# the same architecture. To use the file you take two steps. First, read its bytes. Second, find
# out which tensor belongs to which parameter, and in which order of rows. A mistake in the second
# step raises no error. The shapes fit, a word or two is right, and then the text is nonsense.
#
# **The file.** The safetensors format (github.com/huggingface/safetensors, section "Format") is
# simple. Unlike a pickle file, it cannot run code:
#
# | bytes | what they hold |
# |---|---|
# | 8 | the length $n$ of the header, little-endian: the lowest byte comes first |
# | $n$ | the header, in JSON: for each name a `dtype`, a `shape` and `data_offsets`, `[begin, end]` |
# | the rest | the numbers of all tensors, little-endian, the last axis fastest |
#
# Offsets count from the end of the header. The name `__metadata__` is no tensor: it holds a dict of
# texts. The header may end with spaces.
#
# **The names.** Your model has the names of the left column. They are those of Stanford's CS336. A
# *layout* is a set of names together with an order of numbers. Each name ends with `.weight`:
#
# | your model | `llama`: Hugging Face | `gpt2`: the layout of GPT-2 |
# |---|---|---|
# | `token_embeddings` (V, D) | `model.embed_tokens` | `wte` |
# | `layers.i.ln1` (D,) | `model.layers.i.input_layernorm` | `h.i.ln_1` |
# | `layers.i.attn.q_proj` (H*K, D) | `...self_attn.q_proj`, halves | in `h.i.attn.c_attn` (D, (H+2G)*K) |
# | `layers.i.attn.k_proj` (G*K, D) | `...self_attn.k_proj`, halves | in the same matrix, after q |
# | `layers.i.attn.v_proj` (G*K, D) | `...self_attn.v_proj` | in the same matrix, after k |
# | `layers.i.attn.output_proj` (D, H*K) | `...self_attn.o_proj` | `h.i.attn.c_proj` (H*K, D) |
# | `layers.i.ln2` (D,) | `...post_attention_layernorm` | `h.i.ln_2` |
# | `layers.i.ffn.w1` (F, D), the gate | `...mlp.gate_proj` | in `h.i.mlp.c_fc` (D, 2F) |
# | `layers.i.ffn.w3` (F, D), the value | `...mlp.up_proj` | in the same matrix, after w1 |
# | `layers.i.ffn.w2` (D, F) | `...mlp.down_proj` | `h.i.mlp.c_proj` (F, D) |
# | `ln_final` (D,) | `model.norm` | `ln_f` |
# | `lm_head` (V, D) | `lm_head` | `lm_head` |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`int.from_bytes(data, "little")`] | the number that some bytes stand for; `to_bytes` is the way back |
# | [`json.loads(text)`], [`json.dumps(value)`] | a value from its JSON; the JSON of a value |
# | [`torch.frombuffer(buffer, dtype)`] | a tensor on the memory of a `bytearray`; it refuses an empty one |
# | [`x.view(dtype)`] | the same memory, read as another dtype |
# | [`x.contiguous()`] | the tensor with its numbers in order in memory |
# | [`x.split(sizes, dim)`] | parts of the given sizes along an axis |
# | [`model.named_parameters()`] | names and parameters; a tied one comes once, unless you ask otherwise |
# | [`parameter.copy_(x)`] | writes numbers into a parameter, in its dtype and on its device |
#
# [`int.from_bytes(data, "little")`]: https://docs.python.org/3/library/stdtypes.html#int.from_bytes
# [`json.loads(text)`]: https://docs.python.org/3/library/json.html#json.loads
# [`json.dumps(value)`]: https://docs.python.org/3/library/json.html#json.dumps
# [`torch.frombuffer(buffer, dtype)`]: https://docs.pytorch.org/docs/stable/generated/torch.frombuffer.html
# [`x.view(dtype)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html
# [`x.contiguous()`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html
# [`x.split(sizes, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.split.html
# [`model.named_parameters()`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.named_parameters
# [`parameter.copy_(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.copy_.html

# %% [markdown]
# ## A file of 67 bytes, by hand
#
# The file has one tensor: `a` = (1, -2) in float16. In float16, 1 is `3C00` and -2 is `C000`. The
# lowest byte comes first:
#
# ```text
#   length    37 00 00 00 00 00 00 00                                  55, in 8 bytes
#   header    {"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}   54 letters and a space
#   numbers   00 3C 00 C0                                              4 bytes, from 0 to 4
# ```
#
# ## Halves and neighbours, by hand
#
# Rotary positions (ex17) turn pairs of features. Your model pairs *neighbours*: 0 with 1, 2 with 3.
# Hugging Face pairs *halves*: `j` with `j + K/2`. Row `i` of `q_proj` makes feature `i`. So both
# models compute the same scores if the rows are in another order:
#
# $$\text{row } j \to 2j, \quad \text{row } K/2 + j \to 2j + 1, \quad 0 \le j < K/2$$
#
# Take 2 heads of `K = 4` rows. Each head is reordered for itself:
#
# ```text
#   rows in the file     0 1 2 3    4 5 6 7      pairs (0, 2) (1, 3)    (4, 6) (5, 7)
#   rows in your model   0 2 1 3    4 6 5 7      pairs (0, 2) (1, 3)    (4, 6) (5, 7)
# ```
#
# Queries and keys are turned, so `q_proj` and `k_proj` change; `k_proj` has `G` heads. Values are
# never turned, so `v_proj` and `o_proj` stay as they are.
#
# **Other convention.** A model that rotates halves itself needs no new order. Files in the names of
# CS336, and files of Meta, have neighbours already.
#
# **GPT-2's layout.** GPT-2 stores each matrix as `Conv1D`: it computes `x @ weight`, so the matrix
# is (in, out). `nn.Linear` holds (out, in). Every matrix is transposed. `c_attn` and `c_fc` are cut
# along their rows after that, or along their columns before. Here the pairs are neighbours already.
# (No real file of GPT-2 fits your model: its architecture is another one.)
#
# **Not allowed:** `torch.load`, and the packages `safetensors` and `transformers`.

# %%
import json
import math

import torch
from torch import Tensor, nn

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}  # dtype.itemsize is the number of bytes of an element

# %% [markdown]
# ## Bytes to tensors, and back


# %%
def read_safetensors(data: bytes) -> dict[str, Tensor]:
    """Return the tensors of a file by name, without the metadata.

    The caller may write into them. A file that is cut off, offsets that do not fit shape and dtype, and an unknown
    dtype are a ValueError.
    """
    # TODO ex23: read the length and the header. For each tensor, compare its offsets with its shape and dtype, and with
    # the bytes that are there. Then make a tensor from a copy of its bytes.
    raise NotImplementedError("ex23: read_safetensors")


def write_safetensors(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """Return a file with these tensors, one after the other without gaps, and the metadata if there are any."""
    # TODO ex23: for each tensor, take its bytes in logical order, and note dtype, shape and offsets. Then write the
    # header, and put length, header and bytes together.
    raise NotImplementedError("ex23: write_safetensors")


# %% [markdown]
# ## Names and rows of other layouts
#
# A name such as `model.layers.10.mlp.up_proj.weight` has three parts: the layer, the part within
# the layer, and the end. Take the number of the layer as a whole: `h.1` also begins `h.10`. Some
# files also hold names that are no weights: `rotary_emb.inv_freq`, `attn.bias` and
# `attn.masked_bias`. Leave them out. A file without `lm_head.weight` ties head and embedding.

# %%
def from_llama(tensors: dict[str, Tensor], num_heads: int, num_kv_heads: int) -> dict[str, Tensor]:
    """Return the tensors of a Hugging Face Llama under the names of this course, with neighbours as pairs.

    Without `lm_head.weight`, the embedding is the head, too. Names that are no weights are left out.
    """
    # TODO ex23: translate each name. Reorder the rows of q_proj and k_proj, each head for itself.
    raise NotImplementedError("ex23: from_llama")


def from_gpt2(tensors: dict[str, Tensor], num_heads: int, num_kv_heads: int) -> dict[str, Tensor]:
    """Return the tensors of GPT-2's layout under the names of this course, with matrices (out, in).

    Each name may begin with `transformer.`. The rest is as in from_llama; the pairs are neighbours already.
    """
    # TODO ex23: translate each name and transpose each matrix of a layer. Cut c_attn into three parts of unequal sizes,
    # and c_fc into gate and value.
    raise NotImplementedError("ex23: from_gpt2")


# %% [markdown]
# ## Into the model
#
# Write the numbers **into** the parameters. A new `nn.Parameter` would break the tie between
# embedding and head, and an optimizer would still train the old one. Check everything before you
# write anything: after an error, the model is as before. And report the names that you did not use,
# since a misspelt name is easy to miss.


# %%
def load_weights(model: nn.Module, tensors: dict[str, Tensor], layout: str = "llama") -> list[str]:
    """Copy a file in the layout "llama" or "gpt2" into a ModernModel; return its unused names, sorted.

    The numbers of heads are those of `model.layers[0].attn`. The parameters keep dtype and device. A parameter without
    a tensor, or with one of another shape, is a ValueError with its name (and both shapes), and the model is as before.
    A name is unused if no parameter gets a number from it: names that are no weights count, too.
    """
    # TODO ex23: convert the tensors. Compare names and shapes with all parameters first, then copy without gradients.
    raise NotImplementedError("ex23: load_weights")


# %% [markdown]
# ## Try
#
# Write your trained model with `write_safetensors`, and read it with the library `safetensors`.
# Then load a small Llama of Hugging Face. Leave out the new order of `q_proj` and `k_proj`, and
# compare the first ten tokens of a text. How many are right? Which position is right in any case,
# and why?
