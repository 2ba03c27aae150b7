from itertools import chain, takewhile, zip_longest

import torch

PAD, SOS, EOS, UNK = SPECIAL_TOKENS = "<PAD>", "<SOS>", "<EOS>", "<UNK>"


def build_vocab(sentences):
    # a dict keeps the first of equal keys, and their order
    return {word: i for i, word in enumerate(dict.fromkeys(chain(SPECIAL_TOKENS, *sentences)))}


def encode(tokens, vocab):
    return [vocab.get(word, vocab[UNK]) for word in (SOS, *tokens, EOS)]


def decode(ids, vocab):
    words = dict(zip(vocab.values(), vocab))
    return [word for word in takewhile(EOS.__ne__, map(words.get, ids)) if word not in (PAD, SOS)]


def pad_batch(sequences, pad_idx=0, device=None):
    columns = list(zip_longest(*sequences, fillvalue=pad_idx))
    return torch.tensor(columns, dtype=torch.long, device=device).T


def teacher_forcing(tgt):
    return tgt[:, :-1], tgt[:, 1:]
