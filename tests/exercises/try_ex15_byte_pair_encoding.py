"""ex15: four words, by hand."""

from autograder.checks import step

TEXT = "\n".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3)


def trained(impl):
    """Return the vocabulary and the merges of the lesson."""
    return impl.train_bpe(TEXT, vocab_size=261)


@step("pairs by rank", "s t e st o w l ow w est")
def step_merges(impl, given):
    _, merges = trained(impl)
    return [part.decode() for pair in merges for part in pair]


@step("entries from id 256 on", "st est ow low west")
def step_entries(impl, given):
    vocab, _ = trained(impl)
    return [vocab[i].decode() for i in range(256, 261)]


@step("encode lowest", "[259, 257]")
def step_encode(impl, given):
    vocab, merges = trained(impl)
    return impl.Tokenizer(vocab, merges=merges).encode("lowest")


@step("encode west, low and st", "[260, 10, 259, 10, 256]")
def step_words(impl, given):
    vocab, merges = trained(impl)
    return impl.Tokenizer(vocab, merges=merges).encode("west\nlow\nst")


@step("decode 259 257", "lowest")
def step_decode(impl, given):
    vocab, merges = trained(impl)
    return impl.Tokenizer(vocab, merges=merges).decode([259, 257])


@step("runs: aaaa, then aaa", "[256, 256, 10, 256, 97]")
def step_runs(impl, given):
    vocab, merges = impl.train_bpe("aaaa\naaa", vocab_size=257)
    return impl.Tokenizer(vocab, merges=merges).encode("aaaa\naaa")
