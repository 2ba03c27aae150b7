"""Stand-in for ex09, by torch.nn.TransformerDecoderLayer."""

import torch
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from torch import nn

__all__ = ["Decoder", "DecoderBlock"]

EPS = 1e-6


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(d_model, num_heads, d_ff, dropout, batch_first=True, layer_norm_eps=EPS)
        self.layer.self_attn.in_proj_bias.requires_grad_(False)
        self.layer.multihead_attn.in_proj_bias.requires_grad_(False)

    def from_reference(self, state):
        fill_attention(self.layer.self_attn, state, "self_attention")
        fill_attention(self.layer.multihead_attn, state, "cross_attention")
        for number, linear in enumerate((self.layer.linear1, self.layer.linear2), 1):
            linear.weight.copy_(state[f"feed_forward.linear_{number}.weight"])
            linear.bias.copy_(state[f"feed_forward.linear_{number}.bias"])
        for number, norm in enumerate((self.layer.norm1, self.layer.norm2, self.layer.norm3), 1):
            norm.weight.copy_(state[f"layer_norm_{number}.alpha"])
            norm.bias.copy_(state[f"layer_norm_{number}.bias"])

    def forward(self, x, encoder_output, src_mask=None, tgt_mask=None):
        heads = self.layer.self_attn.num_heads
        own, read = blocked(tgt_mask, x, x, heads), blocked(src_mask, x, encoder_output, heads)
        return self.layer(x, encoder_output, tgt_mask=own, memory_mask=read)


class FinalNorm(nn.LayerNorm):
    def from_reference(self, state):
        self.weight.copy_(state["alpha"])
        self.bias.copy_(state["bias"])


class Decoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, dropout, num_decoder_blocks, seq_len):
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        blocks = [DecoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_decoder_blocks)]
        self.decoder_blocks = nn.ModuleList(blocks)
        self.layer_norm = FinalNorm(d_model, eps=EPS)

    def forward(self, ids, encoder_output, src_mask=None, tgt_mask=None):
        x = self.positional_encoding(self.embedding(ids))
        for block in self.decoder_blocks:
            x = block(x, encoder_output, src_mask, tgt_mask)
        return self.layer_norm(x)


def fill_attention(attention, state, name):
    attention.in_proj_weight.copy_(torch.cat([state[f"{name}.w_{each}.weight"] for each in "qkv"]))
    attention.in_proj_bias.zero_()
    attention.out_proj.weight.copy_(state[f"{name}.w_o.weight"])
    attention.out_proj.bias.copy_(state[f"{name}.w_o.bias"])


def blocked(mask, query, key, heads):
    """Return the mask as torch.nn wants it: (B * H, T, S), True where attention is blocked, nowhere for a whole row."""
    if mask is None:
        return None
    mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
    mask = (mask | ~mask.any(-1, keepdim=True)).expand(query.size(0), heads, query.size(1), key.size(1))
    return mask.logical_not().flatten(0, 1)
