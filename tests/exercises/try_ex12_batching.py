"""ex12: two sentences, by hand."""

from autograder.checks import step

SENTENCES = [["the", "cat", "saw", "the", "dog"], ["a", "dog", "slept"]]


def batch(impl, given):
    vocab = impl.build_vocab(SENTENCES)
    return impl.pad_batch([impl.encode(words, vocab) for words in SENTENCES])


@step("special tokens", "0 1 2 3")
def step_special(impl, given):
    vocab = impl.build_vocab(SENTENCES)
    return [vocab[word] for word in ("<PAD>", "<SOS>", "<EOS>", "<UNK>")]


@step("the cat saw dog a slept", "4 5 6 7 8 9")
def step_vocabulary(impl, given):
    vocab = impl.build_vocab(SENTENCES)
    return [vocab[word] for word in ["the", "cat", "saw", "dog", "a", "slept"]]


@step(
    "encode",
    """
    1 4 5 6 4 7 2
    1 8 7 9 2
    """,
)
def step_encode(impl, given):
    vocab = impl.build_vocab(SENTENCES)
    return [impl.encode(words, vocab) for words in SENTENCES]


@step(
    "pad_batch",
    """
    1 4 5 6 4 7 2
    1 8 7 9 2 0 0
    """,
)
def step_pad_batch(impl, given):
    return batch(impl, given)


@step(
    "teacher_forcing: input",
    """
    1 4 5 6 4 7
    1 8 7 9 2 0
    """,
)
def step_input(impl, given):
    return impl.teacher_forcing(batch(impl, given))[0]


@step(
    "teacher_forcing: labels",
    """
    4 5 6 4 7 2
    8 7 9 2 0 0
    """,
)
def step_labels(impl, given):
    return impl.teacher_forcing(batch(impl, given))[1]


@step("encode: the fox slept", "[1, 4, 3, 9, 2]")
def step_unknown(impl, given):
    return impl.encode(["the", "fox", "slept"], impl.build_vocab(SENTENCES))


@step("decode of these ids", "the <UNK> slept")
def step_decode(impl, given):
    return impl.decode([1, 4, 3, 9, 2], impl.build_vocab(SENTENCES))
