# Rows padded by torch.nn.functional.pad and stacked; a class for the vocabulary; unfolded pairs.
import torch
from torch import Tensor
from torch.nn import functional


class Vocabulary(dict):
    def __missing__(self, word: str) -> int:
        self[word] = len(self)
        return self[word]


def build_vocab(sentences: list[list[str]]) -> dict[str, int]:
    vocab = Vocabulary()
    for sentence in [["<PAD>", "<SOS>", "<EOS>", "<UNK>"], *sentences]:
        for word in sentence:
            vocab[word]
    return dict(vocab)


def encode(tokens: list[str], vocab: dict[str, int]) -> list[int]:
    ids = [vocab["<SOS>"]]
    for token in tokens:
        try:
            ids.append(vocab[token])
        except KeyError:
            ids.append(vocab["<UNK>"])
    ids.append(vocab["<EOS>"])
    return ids


def decode(ids, vocab: dict[str, int]) -> list[str]:
    def words():
        for i in ids:
            word = next(word for word, at in vocab.items() if at == i)
            if word == "<EOS>":
                return
            if word not in ("<PAD>", "<SOS>"):
                yield word

    return list(words())


def pad_batch(sequences: list[list[int]], pad_idx: int = 0, device=None) -> Tensor:
    rows = [torch.tensor(each, dtype=torch.long, device=device) for each in sequences]
    longest = max(row.numel() for row in rows)
    return torch.stack([functional.pad(row, (0, longest - row.numel()), value=pad_idx) for row in rows])


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    decoder_input, labels = tgt.unfold(1, 2, 1).unbind(-1)
    return decoder_input, labels
