# %% [markdown]
# # ex10: the Transformer
#
# All parts are there; this exercise puts them together (Vaswani et al. 2017, "Attention Is All You Need", figure 1 and
# sections 3.1 and 3.4). The encoder reads the sentence to be translated. The decoder reads the translation so far and
# looks at what the encoder made of the source. A last linear layer turns the decoder's output at each position into one
# number for every word of the target language, a *logit*; the softmax of these is the probability of the next word:
#
# $$\mathrm{logits} = W \, \mathrm{Decoder}(y, \mathrm{Encoder}(x)) + b, \qquad
# P(y_{t+1} \mid y_0, \ldots, y_t, x) = \mathrm{softmax}(\mathrm{logits}_t)$$
#
# | tensor | shape | what it is |
# |---|---|---|
# | `src` $x$ | `(B, S)` | ids of the source language |
# | `tgt` $y$ | `(B, T)` | ids of the target language, from `<SOS>` on |
# | encoder output | `(B, S, D)` | what the source says, a vector for each of its tokens |
# | decoder output | `(B, T, D)` | what the target needs next, at each of its positions |
# | logits | `(B, T, V_tgt)` | how much speaks for each word as the next one |
#
# The two languages have a vocabulary each, so the encoder has a table of `src_vocab_size` rows, the decoder one of
# `tgt_vocab_size`, and there are as many logits as target words. The paper lets the tables and the projection share one
# matrix (section 3.4); here each has weights of its own.
#
# **Logits or probabilities.** Training wants logits: the cross-entropy of PyTorch takes the softmax itself, and taken
# twice it can never come near 0. So `forward` returns logits, and whoever wants to read probabilities asks
# `forward_with_softmax`.
#
# **Masks.** Whoever calls the model has ids and no masks, so the model makes them (ex04). The three attentions:
#
# | attention | queries | keys | mask |
# |---|---|---|---|
# | in the encoder | source | source | `src_mask`: no padding of the source |
# | in the decoder, first | target | target | `tgt_mask`: no padding of the target, and nothing later |
# | in the decoder, second | target | source | `src_mask` again, for the keys are the source's |
#
# A mask that is given is used as it is: the caller knows better. Where masks are made, they belong on the device of the
# ids. A tutorial that this course draws on makes its look-ahead mask on the CPU, and fails on every accelerator.

# %% [markdown]
# ## Two sentences and their masks
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
# The first row of a target mask is that of `<SOS>`: all it sees is itself, and from this and the source it has to tell
# the first word. The last two rows of the second sentence are queries of padding. They may look at the real tokens, and
# what comes out of them is of no interest: the loss leaves them out (ex13).
#
# ## From the decoder to a word
#
# $D = 2$ features and three words. The decoder says `[1.0 -0.5]` at some position:
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
    """Translates: source ids and target ids in, logits of the next target word out (figure 1).

    The defaults are the base model of the paper (table 3). `seq_len` is the most tokens, `pad_idx` what padding is.
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
        # TODO ex10: make encoder, decoder and output_projection (a linear layer with a bias). Mind whose vocabulary and
        # whose number of blocks each gets, and keep what forward will need.
        raise NotImplementedError("ex10: Transformer.__init__")

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Return logits (B, T, V_tgt) for src (B, S) and tgt (B, T). A mask that is None is made from the ids."""
        # TODO ex10: make the masks that are missing; then encoder, decoder, projection. No softmax here.
        raise NotImplementedError("ex10: Transformer.forward")

    def forward_with_softmax(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Return the probabilities (B, T, V_tgt) of the next word at each position, under the same masks."""
        # TODO ex10: turn the logits into probabilities. Which axis has to add up to 1?
        raise NotImplementedError("ex10: Transformer.forward_with_softmax")


# %% [markdown]
# ## Try
#
# Teach it a little German. English has one article where German has `der`, `die`, `das`, and `den` for a `Hund` that
# something happens to: to choose, the decoder has to look at the noun and at its place in the sentence. The function
# below trains on all sentences but three, and then translates those three, which the model has never seen. On a
# laptop it takes some seconds. How batches, training and translation are done properly is the subject of ex12 to ex14.
#
# ```python
# def learn_to_translate(steps=300):
#     subjects = {"the dog": "der Hund", "the cat": "die Katze", "the child": "das Kind", "the teacher": "der Lehrer"}
#     objects = {"the dog": "den Hund", "the cat": "die Katze", "the child": "das Kind", "the teacher": "den Lehrer"}
#     verbs = {"sees": "sieht", "hears": "hört", "looks for": "sucht"}
#     pairs = [(f"{a} sleeps", f"{b} schläft") for a, b in subjects.items()]
#     pairs += [
#         (f"{a} {v} {c}", f"{b} {w} {d}")
#         for a, b in subjects.items() for v, w in verbs.items() for c, d in objects.items() if a != c
#     ]
#     unseen = ["the cat sees the dog", "the child hears the teacher", "the dog looks for the child"]
#
#     def table(sentences):
#         words = dict.fromkeys(word for sentence in sentences for word in sentence.split())
#         return {word: i for i, word in enumerate(["<PAD>", "<SOS>", "<EOS>", *words])}
#
#     def ids(sentences, words):
#         rows = [torch.tensor([1, *(words[word] for word in each.split()), 2]) for each in sentences]
#         return nn.utils.rnn.pad_sequence(rows, batch_first=True)
#
#     english, german = table(each for each, _ in pairs), table(each for _, each in pairs)
#     training = [pair for pair in pairs if pair[0] not in unseen]
#     src = ids([each for each, _ in training], english)
#     tgt = ids([each for _, each in training], german)
#
#     torch.manual_seed(0)
#     model = Transformer(len(english), len(german), 32, 4, 64, 2, 2, seq_len=16)
#     optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
#     for step in range(1, steps + 1):
#         logits = model(src, tgt[:, :-1])  # every position is asked for the token after it
#         loss = nn.functional.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=0)
#         optimizer.zero_grad()
#         loss.backward()
#         optimizer.step()
#         if step == 1 or step % 100 == 0:
#             print(f"step {step:3}  loss {loss:.3f}")
#
#     model.eval()
#     names = list(german)
#     for sentence in unseen:
#         said = [1]
#         while len(said) < 10 and said[-1] != 2:
#             said.append(int(model(ids([sentence], english), torch.tensor([said]))[0, -1].argmax()))
#         print(sentence, "->", " ".join(names[each] for each in said[1:] if each != 2))
# ```
#
# What it printed where this was written (another seed or machine gives other losses, and may get a sentence wrong):
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
# Then take the causal mask away (in training, give `tgt_mask=torch.ones(1, 1, dtype=torch.bool)`) and train again. The
# loss falls as low as before, and the translations are nonsense. Where did the model have its answers from?
