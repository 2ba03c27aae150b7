import torch.nn as nn
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork


class EncoderBlock(nn.Module):
    "Self-attention and feed-forward, each with a residual connection and a norm."

    def __init__(self, d_model, num_heads, d_ff, dropout):
        super(EncoderBlock, self).__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = LayerNormalization(d_model)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)

    def sublayer(self, x, norm, layer):
        "The norm first, then the layer and the residual."
        return x + self.dropout(layer(norm(x)))

    def forward(self, x, mask=None):
        x = self.sublayer(x, self.layer_norm_1, lambda x: self.attention(x, x, x, mask))
        return self.sublayer(x, self.layer_norm_2, self.feed_forward)


class Encoder(nn.Module):
    "A stack of N blocks with a norm at the end."

    def __init__(self, vocab_size, d_model, num_heads, d_ff, dropout, num_encoder_blocks, seq_len):
        super(Encoder, self).__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.encoder_blocks = nn.ModuleList(
            [EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_encoder_blocks)]
        )
        self.layer_norm = LayerNormalization(d_model)

    def forward(self, x, mask=None):
        x = self.positional_encoding(self.embedding(x))
        for block in self.encoder_blocks:
            x = block(x, mask)
        return self.layer_norm(x)
