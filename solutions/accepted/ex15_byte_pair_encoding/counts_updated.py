# Keeps the counts up to date and finds the best pair with a heap; words are lists of ids. The pattern's equal in words.
import heapq
import itertools
import re
from collections import defaultdict

PATTERN = r"""'s|'d|'m|'t|'ll|'ve|'re| ?[^\W\d_]+| ?[0-9]+| ?[^\s\w]+(?:_|[^\s\w])*| ?_(?:_|[^\s\w])*|\s+(?!\S)|\s+"""


class Greatest:
    """A pair of byte strings in a heap that gives the least item first."""

    def __init__(self, pair):
        self.pair = pair

    def __lt__(self, other):
        return self.pair > other.pair


def parts(text, special):
    if not special:
        yield text, False
        return
    finder = re.compile("|".join(re.escape(token) for token in sorted(special, key=lambda token: -len(token))))
    at = 0
    for match in finder.finditer(text):
        yield text[at : match.start()], False
        yield match.group(), True
        at = match.end()
    yield text[at:], False


def train_bpe(text, vocab_size, special_tokens=()):
    room = vocab_size - 256 - len(special_tokens)
    if room < 0:
        raise ValueError(f"{vocab_size} entries, but at least {256 + len(special_tokens)} are needed")
    frequency = defaultdict(int)
    for part, is_special in parts(text, special_tokens):
        if not is_special:
            for match in re.finditer(PATTERN, part):
                frequency[match.group().encode("utf-8")] += 1
    words = [(list(word), count) for word, count in frequency.items()]
    table = [bytes((i,)) for i in range(256)]
    counts, where, heap = defaultdict(int), defaultdict(set), []

    def change(pair, amount, index):
        counts[pair] += amount
        if amount > 0:
            where[pair].add(index)
        heapq.heappush(heap, (-counts[pair], Greatest((table[pair[0]], table[pair[1]])), pair))

    for index, (ids, count) in enumerate(words):
        for pair in itertools.pairwise(ids):
            change(pair, count, index)
    merges = []
    while len(merges) < room and heap:
        negative, greatest, pair = heapq.heappop(heap)
        if counts[pair] != -negative or not counts[pair]:
            continue
        merges.append(greatest.pair)
        table.append(b"".join(greatest.pair))
        for index in sorted(where[pair]):
            ids, count = words[index]
            for old in itertools.pairwise(ids):
                change(old, -count, index)
            at = 0
            while at < len(ids) - 1:
                if (ids[at], ids[at + 1]) == pair:
                    ids[at : at + 2] = [len(table) - 1]
                at += 1
            for new in itertools.pairwise(ids):
                change(new, count, index)
    return dict(enumerate(table + [token.encode("utf-8") for token in special_tokens])), merges


class Tokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        self.bytes_of = {**vocab}
        self.special = {}
        back = {token: i for i, token in vocab.items()}
        for token in special_tokens or []:
            data = token.encode("utf-8")
            if data not in back:
                back[data] = len(self.bytes_of)
                self.bytes_of[back[data]] = data
            self.special[token] = back[data]
        self.back, self.merges = back, {(a, b): (i, a + b) for i, (a, b) in enumerate(merges)}

    def encode(self, text):
        return [i for part, is_special in parts(text, self.special) for i in self.part(part, is_special)]

    def part(self, text, is_special):
        if is_special:
            return [self.special[text]]
        return [self.back[token] for match in re.finditer(PATTERN, text) for token in self.word(match.group())]

    def word(self, word):
        tokens = [bytes((byte,)) for byte in word.encode("utf-8")]
        while True:
            known = [
                (self.merges[pair][0], at) for at, pair in enumerate(itertools.pairwise(tokens)) if pair in self.merges
            ]
            if not known:
                return tokens
            _, at = min(known)
            tokens[at : at + 2] = [tokens[at] + tokens[at + 1]]

    def decode(self, ids):
        try:
            data = b"".join([self.bytes_of[i] for i in ids])
        except KeyError as error:
            raise ValueError(f"no token has the id {error}") from error
        return str(data, "utf-8", "replace")
