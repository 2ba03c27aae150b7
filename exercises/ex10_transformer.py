# %% [markdown]
# # ex10: the Transformer
#
# All parts are ready, and this exercise combines them (Vaswani et al. 2017, "Attention Is All You
# Need", figure 1 and sections 3.1 and 3.4). The encoder reads the source sentence. The decoder
# reads the translation so far and the encoder output. At each position, a last linear layer
# computes a score for each word of the target language, its *logit*. The softmax turns the logits
# of a position into the probabilities of the next word:
#
# $$\mathrm{logits} = W \, \mathrm{Decoder}(y, \mathrm{Encoder}(x)) + b, \qquad
# P(y_{t+1} \mid y_0, \ldots, y_t, x) = \mathrm{softmax}(\mathrm{logits}_t)$$
#
# $W$ and $b$ are the weight and the bias of the last layer, and $x$ and $y$ are the ids:
#
# | tensor | shape | what it is |
# |---|---|---|
# | `src` $x$ | `(B, S)` | ids of the source language |
# | `tgt` $y$ | `(B, T)` | ids of the target language, from the start token `<SOS>` on |
# | encoder output | `(B, S, D)` | one vector for each source token |
# | decoder output | `(B, T, D)` | one vector for each target position |
# | logits | `(B, T, V_tgt)` | a score for each word as the next one |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.Linear(m, n)`] | a trained layer from `m` to `n` features, with a bias unless `bias=False` |
# | [`torch.softmax(x, dim)`] | turns scores into positive numbers that sum to 1 along an axis |
# | [`model.named_parameters()`] | name and tensor of every trained parameter, to look at |
#
# [`nn.Linear(m, n)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html
# [`torch.softmax(x, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.softmax.html
# [`model.named_parameters()`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.named_parameters
#
# Each of the two languages has its own vocabulary. So the encoder has a table of `src_vocab_size`
# rows, and the decoder has one of `tgt_vocab_size` rows. There is one logit per target word. In the
# paper, the tables and the projection share one matrix (section 3.4). In this course each has its
# own weights.
#
# **Logits or probabilities.** Training needs logits, because the cross-entropy of PyTorch applies
# the softmax itself. If the softmax is applied twice, the loss can never come near 0. So `forward`
# returns logits, and `forward_with_softmax` returns probabilities.
#
# **Masks.** The caller often has ids and no masks, so the model makes them (ex04). There are three
# attentions:
#
# | attention | queries | keys | mask |
# |---|---|---|---|
# | in the encoder | source | source | `src_mask`: hides source padding |
# | in the decoder, first | target | target | `tgt_mask`: hides target padding and later tokens |
# | in the decoder, second | target | source | `src_mask` again, because the keys are the source |
#
# If the caller gives a mask, use it unchanged. If you make a mask, make it on the device of the
# ids. One public tutorial makes its look-ahead mask on the CPU, so it fails on every GPU.

# %% [markdown]
# ## Two sentences and their masks
#
# `<EOS>` is the token that ends a sentence. In the masks, 1 is True and 0 is False:
#
# ```text
#   src   the dog sleeps <EOS>         tgt   <SOS> der Hund schläft
#         hello <EOS> <PAD> <PAD>            <SOS> hallo <PAD> <PAD>
#
#   src_mask (B, 1, 1, S)              tgt_mask (B, 1, T, T)
#     [1 1 1 1]     [1 1 0 0]            [1 0 0 0]     [1 0 0 0]
#                                        [1 1 0 0]     [1 1 0 0]
#                                        [1 1 1 0]     [1 1 0 0]
#                                        [1 1 1 1]     [1 1 0 0]
# ```
#
# The first row of a target mask belongs to `<SOS>`. This position sees only itself. It must predict
# the first word from `<SOS>` and the source. The last two rows of the second sentence are queries
# of padding. They may look at the real tokens. Their result does not matter, because the loss
# ignores it (ex13).
#
# ## From the decoder to a word
#
# There are $D = 2$ features and three words. At some position, the decoder output is `[1.0 -0.5]`:
#
# ```text
#             W          b      logit              exp    probability
#   Hund    [1  0]       0      1.0              2.718       0.307
#   Katze   [0  1]       1      -0.5 + 1 = 0.5   1.649       0.186
#   Kind    [1 -1]       0      1.0 + 0.5 = 1.5  4.482       0.506
# ```

# %%
import torch
from ex04_masks import create_padding_mask, create_target_mask
from ex08_encoder import Encoder
from ex09_decoder import Decoder
from torch import Tensor, nn


# %%
class Transformer(nn.Module):
    """Map source ids and target ids to logits of the next target word (figure 1).

    The defaults are the base model of the paper (table 3). `seq_len` is the maximum length, `pad_idx` the padding id.

    Attributes:
        encoder: `Encoder` (ex08) of the source words.
        decoder: `Decoder` (ex09) of the target words.
        output_projection: `nn.Linear` from D to V_tgt with a bias. Nothing shares its weights.

    Not allowed: `nn.Transformer` and its parts, `nn.MultiheadAttention` among them.
    """

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int = 512,
        num_heads: int = 8,
        d_ff: int = 2048,
        num_encoder_blocks: int = 6,
        num_decoder_blocks: int = 6,
        dropout: float = 0.1,
        seq_len: int = 512,
        pad_idx: int = 0,
    ) -> None:
        super().__init__()
        # TODO ex10: create encoder, decoder and output_projection, and store what forward needs. Check which
        # vocabulary and which number of blocks each of them gets.
        raise NotImplementedError("ex10: Transformer.__init__")

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Return logits (B, T, V_tgt) for src (B, S) and tgt (B, T). If a mask is None, make it from the ids."""
        # TODO ex10: make the missing masks, then apply encoder, decoder and projection. No softmax here.
        raise NotImplementedError("ex10: Transformer.forward")

    def forward_with_softmax(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Return the probabilities (B, T, V_tgt) of the next word at each position, with the same masks."""
        # TODO ex10: turn the logits into probabilities. Along which axis must they sum to 1?
        raise NotImplementedError("ex10: Transformer.forward_with_softmax")


# %% [markdown]
# ## Try
#
# Teach the model a little German. English has one definite article, `the`. German has `der`, `die`,
# `das`, and also `den` if a masculine noun like `Hund` is the object of the verb. To choose, the
# decoder must look at the noun and at its position in the sentence. The function below trains on
# all sentences except three. Then it translates these three, which the model has never seen. On a
# laptop it takes a few seconds. The exercises ex12 to ex14 show how to do batches, training and
# translation properly.
#
# ```python
# def learn_to_translate(steps=300):
#     subjects = {
#         "the dog": "der Hund", "the cat": "die Katze",
#         "the child": "das Kind", "the teacher": "der Lehrer",
#     }
#     objects = {**subjects, "the dog": "den Hund", "the teacher": "den Lehrer"}
#     verbs = {"sees": "sieht", "hears": "hört", "looks for": "sucht"}
#     pairs = [(f"{a} sleeps", f"{b} schläft") for a, b in subjects.items()]
#     pairs += [
#         (f"{a} {v} {c}", f"{b} {w} {d}")
#         for a, b in subjects.items()
#         for v, w in verbs.items()
#         for c, d in objects.items()
#         if a != c
#     ]
#     unseen = [
#         "the cat sees the dog", "the child hears the teacher", "the dog looks for the child"
#     ]
#
#     def table(sentences):
#         words = dict.fromkeys(word for sentence in sentences for word in sentence.split())
#         return {word: i for i, word in enumerate(["<PAD>", "<SOS>", "<EOS>", *words])}
#
#     def ids(sentences, words):
#         rows = [
#             torch.tensor([1, *(words[word] for word in sentence.split()), 2])
#             for sentence in sentences
#         ]
#         return nn.utils.rnn.pad_sequence(rows, batch_first=True)
#
#     english, german = table(en for en, _ in pairs), table(de for _, de in pairs)
#     training = [pair for pair in pairs if pair[0] not in unseen]
#     src = ids([en for en, _ in training], english)
#     tgt = ids([de for _, de in training], german)
#
#     torch.manual_seed(0)
#     model = Transformer(len(english), len(german), 32, 4, 64, 2, 2, seq_len=16)
#     optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
#     for step in range(1, steps + 1):
#         logits = model(src, tgt[:, :-1]).flatten(0, 1)  # each position predicts the next token
#         loss = nn.functional.cross_entropy(logits, tgt[:, 1:].flatten(), ignore_index=0)
#         optimizer.zero_grad()
#         loss.backward()
#         optimizer.step()
#         if step == 1 or step % 100 == 0:
#             print(f"step {step:3}  loss {loss:.3f}")
#
#     model.eval()
#     names = list(german)
#     for sentence in unseen:
#         source, output = ids([sentence], english), [1]
#         while len(output) < 10 and output[-1] != 2:
#             output.append(int(model(source, torch.tensor([output]))[0, -1].argmax()))
#         print(sentence, "->", " ".join(names[i] for i in output[1:] if i != 2))
# ```
#
# One run printed this. Another seed or machine gives other losses, and may get a sentence wrong:
#
# ```text
# step   1  loss 3.012
# step 100  loss 0.159
# step 200  loss 0.042
# step 300  loss 0.027
# the cat sees the dog -> die Katze sieht den Hund
# the child hears the teacher -> das Kind hört den Lehrer
# the dog looks for the child -> der Hund sucht das Kind
# ```
#
# Then remove the causal mask: pass `tgt_mask=torch.ones(1, 1, dtype=torch.bool)` in training, and
# train again. The loss falls as low as before, but the translations are nonsense. Where did the
# model get its answers?
