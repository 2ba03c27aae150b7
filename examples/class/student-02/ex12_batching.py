# Part 12: batches

from typing import Dict, List, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor

SPECIAL_TOKENS = ("<PAD>", "<SOS>", "<EOS>", "<UNK>")


def build_vocab(sentences: List[List[str]]) -> Dict[str, int]:
    vocab = {}
    # the special tokens get 0, 1, 2, 3
    for token in SPECIAL_TOKENS:
        vocab[token] = len(vocab)
    # then every new word gets the next number
    for sentence in sentences:
        for word in sentence:
            if word not in vocab:
                vocab[word] = len(vocab)
    return vocab


def encode(tokens: List[str], vocab: Dict[str, int]) -> List[int]:
    ids = [vocab["<SOS>"]]
    for token in tokens:
        if token in vocab:
            ids.append(vocab[token])
        else:
            ids.append(vocab["<UNK>"])
    ids.append(vocab["<EOS>"])
    return ids


def decode(ids: Sequence[int], vocab: Dict[str, int]) -> List[str]:
    # the other direction: id -> word
    id_to_word = {number: word for word, number in vocab.items()}
    words = []
    for number in ids:
        word = id_to_word[number]
        # the sentence is over
        if word == "<EOS>":
            break
        # these two are not words
        if word == "<PAD>" or word == "<SOS>":
            continue
        words.append(word)
    return words


def pad_batch(
    sequences: List[List[int]],
    pad_idx: int = 0,
    device: Optional[Union[torch.device, str]] = None,
) -> Tensor:
    max_length = max(len(sequence) for sequence in sequences)
    # first everything is padding, then write the sentences into it
    batch = torch.full((len(sequences), max_length), pad_idx, dtype=torch.long, device=device)
    for i, sequence in enumerate(sequences):
        batch[i, : len(sequence)] = torch.tensor(sequence, dtype=torch.long, device=device)
    return batch


def teacher_forcing(tgt: Tensor) -> Tuple[Tensor, Tensor]:
    # the input has no last token, the labels have no first token
    decoder_input = tgt[:, :-1]
    labels = tgt[:, 1:]
    return decoder_input, labels
