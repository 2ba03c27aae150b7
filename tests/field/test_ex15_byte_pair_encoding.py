"""ex15 beside tokenizers and tiktoken: the same ids with the same merges, the same merges where no counts are equal."""

import json
import re
import sys
from pathlib import Path

import pytest

tokenizers = pytest.importorskip("tokenizers")
tiktoken = pytest.importorskip("tiktoken")
regex = pytest.importorskip("regex")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "solutions"))

from ex15_byte_pair_encoding import PATTERN, Tokenizer, train_bpe  # noqa: E402

GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
SPECIAL = ["<|end|>", "<|end|><|end|>"]
TEXTS = [
    "",
    "the cat saw the dog, and the dog saw the cat's 12 kittens!",
    "  two blanks,\ttabs\n\n  and lines \n",
    "Zürich, naïve_names, 日本語 and 😀🦆 don't fit: we'll see 3.14...",
    "one<|end|>two<|end|><|end|>three <|end|>\n<|end|><|end|><|end|>",
    "__init__(self, x_1): return x_1**2 # ½-free",
]
TEXT = " ".join(TEXTS[:4] * 3)


def trained() -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    return train_bpe(TEXT, vocab_size=256 + 60 + len(SPECIAL), special_tokens=SPECIAL)


def letters() -> dict[int, str]:
    """Return the letter that GPT-2 writes for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(others)}


def written(token: bytes) -> str:
    return "".join(letters()[byte] for byte in token)


def test_the_pattern_splits_as_that_of_gpt2() -> None:
    for text in TEXTS[:5]:
        assert re.findall(PATTERN, text) == regex.findall(GPT2, text)


def test_the_ids_are_those_of_tokenizers() -> None:
    vocab, merges = trained()
    plain = {written(token): i for i, token in vocab.items() if i < 256 + len(merges)}
    model = tokenizers.models.BPE(vocab=plain, merges=[(written(one), written(other)) for one, other in merges])
    other = tokenizers.Tokenizer(model)
    other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    other.decoder = tokenizers.decoders.ByteLevel()
    other.add_special_tokens(SPECIAL)
    own = Tokenizer(vocab, merges, SPECIAL)
    for text in TEXTS[:5]:
        ids = own.encode(text)
        assert ids == other.encode(text).ids
        assert own.decode(ids) == other.decode(ids, skip_special_tokens=False) == text


def test_the_ids_are_those_of_tiktoken() -> None:
    vocab, merges = trained()
    ranks = {token: i for i, token in vocab.items() if i < 256 + len(merges)}
    special = {token: 256 + len(merges) + i for i, token in enumerate(SPECIAL)}
    other = tiktoken.Encoding("course", pat_str=GPT2, mergeable_ranks=ranks, special_tokens=special)
    own = Tokenizer(vocab, merges, SPECIAL)
    for text in [*TEXTS[:4], "one<|end|>two three <|end|>\n"]:  # tiktoken does not promise the longest special token
        ids = own.encode(text)
        assert ids == other.encode(text, allowed_special="all")
        assert own.decode(ids) == other.decode(ids) == text
    wrong = [255, 97, 195]
    assert own.decode(wrong) == other.decode(wrong)


def test_the_merges_are_those_of_tokenizers_where_no_counts_are_equal() -> None:
    words = {"ab": 29, "abc": 17, "de": 13, "dehi": 5, "fg": 7, "éx": 3}
    text = "\n".join(word for word, count in words.items() for _ in range(count))
    _, merges = train_bpe(text, vocab_size=256 + 5)
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=261, initial_alphabet=alphabet, show_progress=False)
    other.train_from_iterator([text], trainer)
    theirs = json.loads(other.to_str())["model"]["merges"]
    assert [tuple(pair) for pair in theirs] == [(written(one), written(two)) for one, two in merges]
