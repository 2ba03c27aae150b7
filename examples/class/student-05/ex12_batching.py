import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

special_symbols = ['<PAD>', '<SOS>', '<EOS>', '<UNK>']


def build_vocab(sentences):
    words = list(special_symbols)
    for tokens in sentences:
        words.extend(tokens)
    # dict.fromkeys, because a set has no order
    return {word: i for i, word in enumerate(dict.fromkeys(words))}


def encode(tokens, vocab):
    unk = vocab['<UNK>']
    return [vocab['<SOS>']] + [vocab.get(token, unk) for token in tokens] + [vocab['<EOS>']]


def decode(ids, vocab):
    itos = {i: s for s, i in vocab.items()}
    tokens = [itos[i] for i in ids]
    if '<EOS>' in tokens:
        tokens = tokens[:tokens.index('<EOS>')]
    return [token for token in tokens if token not in ('<PAD>', '<SOS>')]


def pad_batch(sequences, pad_idx: int = 0, device=None) -> Tensor:
    rows = [torch.tensor(ids, dtype=torch.long) for ids in sequences]
    return pad_sequence(rows, batch_first=True, padding_value=pad_idx).to(device)


def teacher_forcing(tgt: Tensor):
    tgt_input = tgt[:, :-1]
    tgt_out = tgt[:, 1:]
    return tgt_input, tgt_out
