# A Boolean mask of the real positions is filled with all ids at once. The shift uses narrow.
import torch
from torch import Tensor


def build_vocab(sentences: list[list[str]]) -> dict[str, int]:
    words = [word for sentence in sentences for word in sentence]
    distinct = sorted(set(words), key=words.index)
    return {word: i for i, word in enumerate(["<PAD>", "<SOS>", "<EOS>", "<UNK>", *distinct])}


def encode(tokens: list[str], vocab: dict[str, int]) -> list[int]:
    framed = ["<SOS>", *tokens, "<EOS>"]
    return [vocab.get(token, 3) for token in framed]


def decode(ids, vocab):
    ids = list(ids)
    end = ids.index(2) if 2 in ids else len(ids)
    word_of = dict(map(reversed, vocab.items()))
    return [word_of[i] for i in ids[:end] if i > 1]


def pad_batch(sequences: list[list[int]], pad_idx: int = 0, device=None) -> Tensor:
    lengths = torch.tensor([len(each) for each in sequences], device=device)
    longest = max(len(each) for each in sequences)
    real = torch.arange(longest, device=device) < lengths.unsqueeze(1)
    batch = torch.full(real.shape, pad_idx, device=device)
    batch[real] = torch.tensor([i for each in sequences for i in each], dtype=torch.long, device=device)
    return batch


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    return tgt.narrow(1, 0, tgt.size(1) - 1), tgt.narrow(1, 1, tgt.size(1) - 1)
