# Encodes with a linked list of tokens; trains on one long row of ids, with None between pre-tokens, counted anew.
import collections
import itertools
import re

PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:_|[^\s\w])+|\s+(?!\S)|\s+"""


class Node:
    def __init__(self, token, before):
        self.token, self.before, self.after = token, before, None
        if before is not None:
            before.after = self


def divide(text, special):
    """Find special tokens without a pattern: the longest that fits, at each place."""
    start = at = 0
    while at < len(text):
        fitting = [token for token in special if text.startswith(token, at)]
        if fitting:
            token = max(fitting, key=len)
            yield text[start:at], token
            start = at = at + len(token)
        else:
            at += 1
    yield text[start:], None


def train_bpe(text, vocab_size, special_tokens=()):
    least = 256 + len(special_tokens)
    if vocab_size < least:
        raise ValueError(f"vocab_size must be {least} or more, not {vocab_size}")
    vocab = {i: bytes([i]) for i in range(256)}
    row = []
    for part, _ in divide(text, special_tokens):
        for word in re.compile(PATTERN).findall(part):
            row += [*word.encode(), None]
    merges = []
    for new in range(256, 256 + vocab_size - least):
        counts = collections.Counter(pair for pair in itertools.pairwise(row) if None not in pair)
        if len(counts) == 0:
            break
        most = max(counts.values())
        chosen = max(
            (pair for pair, count in counts.items() if count == most), key=lambda p: (vocab[p[0]], vocab[p[1]])
        )
        merges.append((vocab[chosen[0]], vocab[chosen[1]]))
        vocab[new] = vocab[chosen[0]] + vocab[chosen[1]]
        shorter, skip = [], False
        for one, other in zip(row, [*row[1:], None], strict=False):
            if skip:
                skip = False
            elif (one, other) == chosen:
                shorter.append(new)
                skip = True
            else:
                shorter.append(one)
        row = shorter
    for token in special_tokens:
        vocab[len(vocab)] = token.encode()
    return vocab, merges


class Tokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        self.vocab = vocab.copy()
        self.merges = list(merges)
        self.special = tuple(special_tokens) if special_tokens else ()
        for token in map(str.encode, self.special):
            if token not in set(self.vocab.values()):
                self.vocab.update({len(self.vocab): token})
        self.inverse = dict(zip(self.vocab.values(), self.vocab.keys(), strict=True))

    def encode(self, text):
        ids = []
        for part, special in divide(text, self.special):
            for word in re.findall(PATTERN, part):
                ids.extend(self.inverse[token] for token in self.merged(word.encode()))
            if special is not None:
                ids.append(self.inverse[special.encode()])
        return ids

    def merged(self, data):
        first = last = None
        for i in range(len(data)):
            last = Node(data[i : i + 1], last)
            first = first or last
        for pair in self.merges:  # a later merge never makes a pair of an earlier one possible
            node = first
            while node is not None and node.after is not None:
                if (node.token, node.after.token) == pair:
                    node.token += node.after.token
                    node.after = node.after.after
                    if node.after is not None:
                        node.after.before = node
                node = node.after
        tokens = []
        while first is not None:
            tokens.append(first.token)
            first = first.after
        return tokens

    def decode(self, ids):
        data = bytearray()
        for i in ids:
            data += self.vocab[i]
        return data.decode("utf-8", errors="replace")
