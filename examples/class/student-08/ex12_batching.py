import torch

SPECIAL_TOKENS = ["<PAD>", "<SOS>", "<EOS>", "<UNK>"]


def build_vocab(sentences):
    vocab = {}
    for token in SPECIAL_TOKENS:
        vocab[token] = len(vocab)
    for sentence in sentences:
        for word in sentence:
            vocab.setdefault(word, len(vocab))
    return vocab


def encode(tokens, vocab):
    ids = []
    for token in ["<SOS>"] + list(tokens) + ["<EOS>"]:
        ids.append(vocab.get(token, vocab["<UNK>"]))
    return ids


def decode(ids, vocab):
    names = list(vocab)
    words = []
    position = 0
    while position < len(ids) and names[ids[position]] != "<EOS>":
        name = names[ids[position]]
        if name not in ("<PAD>", "<SOS>"):
            words.append(name)
        position = position + 1
    return words


def pad_batch(sequences, pad_idx=0, device=None):
    longest = max([len(sequence) for sequence in sequences])
    rows = []
    for sequence in sequences:
        missing = longest - len(sequence)
        rows.append(list(sequence) + missing * [pad_idx])
    return torch.tensor(rows, dtype=torch.long, device=device)


def teacher_forcing(tgt):
    # both have to be one shorter than the target
    length = tgt.size(1) - 1
    decoder_input = tgt[:, :length]
    labels = tgt[:, :length]
    return decoder_input, labels
