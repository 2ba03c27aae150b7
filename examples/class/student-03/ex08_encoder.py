from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = LayerNormalization(d_model)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        a = self.attention(x, x, x, mask)
        x = self.layer_norm_1(x + self.dropout(a))
        f = self.feed_forward(x)
        return self.layer_norm_2(x + self.dropout(f))


class Encoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len):
        super().__init__()
        raise NotImplementedError("ex08: Encoder.__init__")

    def forward(self, ids, mask=None):
        raise NotImplementedError("ex08: Encoder.forward")
