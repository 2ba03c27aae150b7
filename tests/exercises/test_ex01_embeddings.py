"""ex01: token embeddings."""

from autograder.checks import Like, check, picture, standard_checks

AS_ON_CPU = Like(tolerance=1e-4, free=("slope along the parameters",))
COMPUTED = ("shape", "rows", "scaled", "any_batch")  # one of them passes unless nothing is computed


def embeddings(impl, given, D, V, **options):
    return given.load(impl.InputEmbeddings(D, V), {"embedding.weight": (V, D)}, **options)


def square(given, words):
    """Return ids (T, T) in which token j of sentence i is token i of sentence j, so the order of the axes is free."""
    T = given.size("T")
    ids = given.integers(1, words, T, T)
    return ids.triu() + ids.triu(1).mT


@check("every token becomes one vector of d_model numbers", points=1, of="InputEmbeddings", judge=Like())
def test_shape(impl, given):
    B, T, N, D = given.sizes("B T N D")
    return {"output": embeddings(impl, given, D, N)(given.integers(0, N, B, T))}  # fewer tokens than features: N < D


@check("a token gets the row of its id, up to a scale factor", points=2, of="InputEmbeddings")
def test_rows(impl, given):
    D = given.size("D")
    ids = square(given, D)
    ids[0, 1] = ids[1, 0] = 0
    output = embeddings(impl, given, D, D)(ids)[:1]
    return {"output for one of the sentences, relative to its largest number": output / output.abs().max()}


@check("the rows are multiplied by the square root of d_model", points=3, of="InputEmbeddings")
def test_scaled(impl, given):
    B, T, D, V = given.sizes("B T D V")
    return {"output": embeddings(impl, given, D, V)(given.integers(1, V, B, T))}


@check("the same ids give the same vectors in every call, also in training", points=1, of="InputEmbeddings")
def test_repeatable(impl, given):
    D = given.size("D")
    module, ids = embeddings(impl, given, D, D, train=True), square(given, D)
    first = module(ids).detach().abs().max()
    return {"second output, relative to the first": module(ids) / first}


@check("the table is trained, and nothing else", points=1, of="InputEmbeddings", requires_any=COMPUTED)
def test_trained(impl, given):
    (B, T, D), V = given.sizes("B T D"), given.number(20, 999)
    module = embeddings(impl, given, D, V)
    output = module(given.integers(1, V, B, T))
    found = [gradient.to_dense() for gradient in given.gradients(output, *module.parameters()) if gradient is not None]
    return {
        **given.trainable(module),
        "numbers that get a gradient": sum(int((gradient != 0).sum()) for gradient in found),
    }


@check("a single token and a slice of a batch work too", points=1, of="InputEmbeddings")
def test_any_batch(impl, given):
    B, T, D, V = given.sizes("B T D V")
    module = embeddings(impl, given, D, V)
    ids = given.integers(1, V, B, T)
    outputs = {
        "vectors of one token": module(ids[:1, :1]),
        "vectors of one sentence": module(ids[:1]),
        "vectors of all tokens but the last": module(ids[:, :-1]),
    }
    return {name: output / output.abs().max() for name, output in outputs.items()}


def embeddings_and_ids(impl, given, dtype):
    D = given.size("D")
    return embeddings(impl, given, D, D, dtype=dtype), {"ids": square(given, D)}


TABLE = standard_checks(of="InputEmbeddings", make=embeddings_and_ids)

test_dtype = TABLE.dtypes(id="dtype", title="the output has the dtype of the table", features=6, requires_any=COMPUTED)
test_device = TABLE.device(judge=AS_ON_CPU, requires_any=COMPUTED)


@picture("a word has the same vector at every position (random weights)", rows="word", columns="feature")
def picture_vectors(impl, given):
    words = ["the", "cat", "saw", "the", "dog", "and", "the", "dog", "saw", "the", "cat"]
    ids = {word: i for i, word in enumerate(dict.fromkeys(words))}
    module = embeddings(impl, given, 32, len(ids))
    return module(given.tensor([[ids[word] for word in words]], "int64"))[0], words, []
