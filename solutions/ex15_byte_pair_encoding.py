# %% [markdown]
# # ex15: byte pair encoding
#
# A model computes with ids. Which pieces of text get one? With one id per word, a new word has no
# id (`<UNK>` in ex12). With one id per letter, texts become long, and attention over a text of $T$
# tokens needs $T^2$ scores. Byte pair encoding lies between these two. It starts with single bytes
# and learns from a text which neighbours occur together most often. Frequent words become one
# token, rare words a few tokens. Every text can be encoded, since every text is a row of bytes.
#
# Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units" (arXiv
# 1508.07909, section 3.2, algorithm 1), use it for letters. GPT-2 uses it for bytes (Radford et al.
# 2019, "Language Models are Unsupervised Multitask Learners", section 2.2), and so does this
# exercise.
#
# | word | meaning |
# |---|---|
# | byte | a number from 0 to 255; UTF-8 writes `a` as one byte, `é` as two, `😀` as four |
# | pre-token | a piece of text that no merge goes beyond: mostly a word with the space before it |
# | pair | two neighbours within a pre-token, as a tuple of two byte strings |
# | merge | a pair that becomes one token everywhere |
# | rank | the number of a merge: the first one that was learned has rank 0 |
# | special token | a text, such as a mark for the end, that is always one token; nothing is learned from it |
#
# **Python you need.** This exercise needs no tensors. Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`text.encode()`], [`bytes([65])`] | the UTF-8 bytes of a text; a byte string of one byte |
# | [`data.decode(errors="replace")`] | the text of UTF-8 bytes; `�` (U+FFFD) where bytes are no UTF-8 |
# | [`re.findall(pattern, text)`] | all matches of a pattern, from left to right |
# | [`re.split(pattern, text)`] | cuts at matches; if the pattern is in `(...)`, keeps the matches too |
# | [`re.escape(text)`] | the pattern that matches only this text |
# | [`Counter(items)`] | a dict of counts; a missing key counts 0 |
# | [`max(items, key=...)`] | the item with the largest key; tuples compare item by item |
# | [`itertools.pairwise(items)`] | all pairs of neighbours |
#
# [`text.encode()`]: https://docs.python.org/3/library/stdtypes.html#str.encode
# [`bytes([65])`]: https://docs.python.org/3/library/stdtypes.html#bytes
# [`data.decode(errors="replace")`]: https://docs.python.org/3/library/stdtypes.html#bytes.decode
# [`re.findall(pattern, text)`]: https://docs.python.org/3/library/re.html#re.findall
# [`re.split(pattern, text)`]: https://docs.python.org/3/library/re.html#re.split
# [`re.escape(text)`]: https://docs.python.org/3/library/re.html#re.escape
# [`Counter(items)`]: https://docs.python.org/3/library/collections.html#collections.Counter
# [`max(items, key=...)`]: https://docs.python.org/3/library/functions.html#max
# [`itertools.pairwise(items)`]: https://docs.python.org/3/library/itertools.html#itertools.pairwise
#
# **Training.** Cut the text at special tokens, and drop them. Cut the rest into pre-tokens with
# `PATTERN`, and write each pre-token as its bytes. Then repeat: count every pair, take the most
# frequent one, and merge it everywhere, from left to right. Stop when the vocabulary is full, or
# when no pair is left.
#
# $$\text{best} = \arg\max_{(a, b)} \; \bigl(\mathrm{count}(a, b), \; (a, b)\bigr)$$
#
# **Ids.** The byte $b$ has the id $b$. The merge of rank $r$ has the id $256 + r$. The special
# tokens come last. They count in `vocab_size`.
#
# **Other conventions.** Of equally frequent pairs, this course takes the *greatest*, compared as a
# tuple of two byte strings. That is the rule of Stanford's CS336, and it depends on no order.
# minbpe and the listing in the paper take the pair that they saw first. Hugging Face's trainer
# takes the pair of the smallest ids. Here `aaa` has the pair (a, a) twice, since every position
# counts. Some programs count it once. Some programs number the special tokens first.
#
# **Not allowed:** the packages `tokenizers`, `tiktoken`, `sentencepiece` and `transformers`.

# %% [markdown]
# ## Four words, by hand
#
# The text has one word per line: `low` 5 times, `lower` 2 times, `newest` 6 times and `widest` 3
# times. `PATTERN` makes a pre-token of each word and of each line break.
#
# ```text
#   bytes          l o w ×5    l o w e r ×2    n e w e s t ×6    w i d e s t ×3
#
#   counts         e s 9    s t 9    w e 8    l o 7    o w 7    n e 6    e w 6    ...
#
#   rank 0         s + t    9    greater than e + s, which also occurs 9 times
#   rank 1         e + st   9
#   rank 2         o + w    7    greater than l + o; w e has only 2 left, in lower
#   rank 3         l + ow   7
#   rank 4         w + est  6    greater than n + e and e + w
#
#   afterwards     low ×5      low e r ×2      n e west ×6       w i d est ×3
# ```
#
# The counts change with every merge. Before the first one, w e occurs 8 times. After `st` and
# `est`, the e of `newest` belongs to another token, and only `lower` has w e.
#
# **Encoding** does not count anything. It applies the merges by rank. `lowest` is not in the text,
# and still it needs only two tokens:
#
# ```text
#   lowest         l o w e s t
#   rank 0         l o w e st
#   rank 1         l o w est
#   rank 2         l ow est
#   rank 3         low est              ids 259 257
# ```
#
# Rank 4 needs the neighbours w and est, but the w belongs to `low` now. The lines `west`, `low` and
# `st` become the ids 260 10 259 10 256. The line break is the byte 10.
#
# **Runs.** In `aaaa` the pair (a, a) occurs 3 times. Merged from left to right, it becomes `aa aa`.
# And `aaa` becomes `aa a`. If `aa` is the only merge, their ids are 256 256 and 256 97.

# %%
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

# GPT-2's pattern in the words of the standard library: endings such as 's, then letters, digits and other signs, each
# with a space before them, then blanks. Every character of a text belongs to one match.
PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:_|[^\s\w])+|\s+(?!\S)|\s+"""


# %%
### BEGIN SOLUTION
def cut_at_special(text: str, special_tokens: Sequence[str]) -> list[str]:
    """Return the pieces of a text in order: special tokens, and the texts between them."""
    if not special_tokens:
        return [text]
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text)


def merge(tokens: Sequence[bytes], pair: tuple[bytes, bytes]) -> tuple[bytes, ...]:
    """Return the tokens with every place of a pair merged, from left to right."""
    merged, i = [], 0
    while i < len(tokens):
        if tuple(tokens[i : i + 2]) == pair:
            merged.append(tokens[i] + tokens[i + 1])
            i += 2
        else:
            merged.append(tokens[i])
            i += 1
    return tuple(merged)


### END SOLUTION
def train_bpe(
    text: str, vocab_size: int, special_tokens: Sequence[str] = ()
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Return the vocabulary (id to bytes) and the merges in order of rank.

    Of equally frequent pairs, the greatest tuple of bytes wins. Pairs that occur once are merged too. The vocabulary
    has vocab_size entries with the special tokens, or fewer if no pair is left. Special tokens get the last ids, in
    their order. A vocab_size below 256 + len(special_tokens) is a ValueError with both numbers.
    """
    # TODO ex15: refuse a vocab_size that is too small. Cut the text at special tokens and into pre-tokens, and count
    # equal ones. Then merge the most frequent pair until the vocabulary is full or no pair is left. Number the tokens.
    ### BEGIN SOLUTION
    fixed = 256 + len(special_tokens)
    if vocab_size < fixed:
        raise ValueError(f"vocab_size is {vocab_size}, but bytes and special tokens alone are {fixed} entries")
    frequencies: Counter[str] = Counter()
    for piece in cut_at_special(text, special_tokens):
        if piece not in special_tokens:
            frequencies.update(re.findall(PATTERN, piece))
    words = {word: tuple(bytes([byte]) for byte in word.encode()) for word in frequencies}

    merges: list[tuple[bytes, bytes]] = []
    while fixed + len(merges) < vocab_size:
        counts: Counter[tuple[bytes, bytes]] = Counter()
        for word, tokens in words.items():
            for pair in pairwise(tokens):
                counts[pair] += frequencies[word]
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        words = {word: merge(tokens, best) for word, tokens in words.items()}

    entries = [bytes([byte]) for byte in range(256)]
    entries += [first + second for first, second in merges]
    entries += [token.encode() for token in special_tokens]
    return dict(enumerate(entries)), merges
    ### END SOLUTION


# %% [markdown]
# ## The tokenizer
#
# `encode` turns a text into ids, and `decode` turns ids into a text. `decode(encode(text))` is
# `text` for every text. A merge never goes beyond a pre-token or a special token.
#
# Within a pre-token, merge the pair of the lowest *rank* first, wherever it stands. The first pair
# from the left, or the longest entry of the vocabulary, often gives other tokens. The model has not
# seen these in training.
#
# A token may hold a part of a letter. For example, `é` is the bytes C3 and A9. A merge may join the
# first one with the byte before it. So `decode` joins all bytes before it makes a text of them.
# A model can write ids that are no UTF-8. Their text has `�` in place of the wrong bytes.


# %%
class Tokenizer:
    """Encodes texts as ids, and decodes ids as texts."""

    def __init__(
        self,
        vocab: dict[int, bytes],
        merges: list[tuple[bytes, bytes]],
        special_tokens: Sequence[str] | None = None,
    ) -> None:
        """Keep a vocabulary with the ids 0 ... n-1 in any order, the merges by rank, and the special tokens.

        Special tokens that vocab lacks get the ids len(vocab), len(vocab) + 1, ... The arguments stay as they are.
        """
        # TODO ex15: copy the vocabulary and add the missing special tokens. You also need the id of each token and the
        # rank of each pair.
        ### BEGIN SOLUTION
        self.vocab = dict(vocab)
        self.special_tokens = list(special_tokens or ())
        for token in self.special_tokens:
            if token.encode() not in self.vocab.values():
                self.vocab[len(self.vocab)] = token.encode()
        self.ids = {token: i for i, token in self.vocab.items()}
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        ### END SOLUTION

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text. Special tokens in it are single ids, the longest first at each place."""
        # TODO ex15: cut the text at special tokens. Cut the rest into pre-tokens, and merge the bytes of each: all
        # places of the pair of lowest rank, from left to right, until no pair has a rank. Look up the ids.
        ### BEGIN SOLUTION
        ids = []
        for piece in cut_at_special(text, self.special_tokens):
            if piece in self.special_tokens:
                ids.append(self.ids[piece.encode()])
                continue
            for word in re.findall(PATTERN, piece):
                tokens = tuple(bytes([byte]) for byte in word.encode())
                while pairs := self.ranks.keys() & set(pairwise(tokens)):
                    tokens = merge(tokens, min(pairs, key=self.ranks.__getitem__))
                ids += [self.ids[token] for token in tokens]
        return ids
        ### END SOLUTION

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, with � for bytes that are no UTF-8. An unknown id is a ValueError with the id."""
        # TODO ex15: refuse an unknown id. Join the bytes of all ids, then decode them once.
        ### BEGIN SOLUTION
        unknown = [i for i in ids if i not in self.vocab]
        if unknown:
            raise ValueError(f"the id {unknown[0]} is not in the vocabulary of {len(self.vocab)} tokens")
        return b"".join(self.vocab[i] for i in ids).decode(errors="replace")
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Train 500 merges on a page of English. Which token is the longest, and which tokens begin with a
# space? Encode the page, and divide its bytes by its tokens. Then encode a page in another language
# with the same tokenizer. How many bytes does one token hold there? Encode the same word with and
# without a space before it. Why are the ids different?
