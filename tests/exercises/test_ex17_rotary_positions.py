"""ex17: rotary positions. `rotated` judges the angles, and other checks compare a module with itself."""

from autograder.checks import Like, Raises, check, picture, standard_checks

CLASS = "RotaryPositionalEmbedding"
COMPUTED = ("rotated", "theta")  # one of them passes unless nothing is computed
OUTPUT = "output, computed in two ways"
LATER = "output without heads, computed in two ways"
SHARED = "output for positions (1, T), computed in two ways"
ONES = "output for axes of size 1, computed in two ways"
DTYPES = ("float64", "bfloat16", "float16")


def agreeing(tolerance=1e-4):
    """Return the judge of two ways to the same numbers, which other checks judge."""
    return Like(tolerance=tolerance, free=(OUTPUT, LATER, SHARED, ONES, *DTYPES))


PAIRS = agreeing()
LONGEST = 2048


def rope(impl, given, K, N, theta=10000.0):
    return impl.RotaryPositionalEmbedding(theta, K, N).to(given.device).eval()


def rope_and_input(impl, given, dtype):
    """Return a module whose slowest pair is fast too, so that no turned vector resembles its input."""
    B, T, K, N = given.sizes("B T K N")
    return rope(impl, given, K, N, 2.0), {"input": given.normal(B, 2, T, K, dtype=dtype)}


def mixed(given, N, *shape):
    """Return positions in no order; with two axes, other ones in each row. The last possible one is among them."""
    positions = given.integers(0, N, *shape)
    positions[..., 2] = N - 1
    return positions


ROPE = standard_checks(of=CLASS, make=rope_and_input)


@check("pair i of neighbouring features turns by p · theta^(-2i/K)", points=5, of=CLASS)
def test_rotated(impl, given):
    B, T, K, N = given.sizes("B T K N")
    return {
        "output": rope(impl, given, K, N)(given.normal(B, 2, T, K)),
        "output with two more features": rope(impl, given, K + 2, N)(given.normal(T, K + 2)),
    }


@check("the base is the argument theta, and each vector turns alone", points=2, of=CLASS)
def test_theta(impl, given):
    T, K, N = given.sizes("T K N")
    x, place, theta = given.normal(2, T, K), given.number(0, T), given.real(20.0, 60.0)
    changed = x.clone()
    changed[:, place] += 1
    one, other = rope(impl, given, K, N), rope(impl, given, K, N, theta)
    slow = given.torch.stack([rope(impl, given, K, N, base)(x.clone()) - x for base in (1e12, 1e-12)])
    turned = (slow.abs() > 1e-3).flatten(1, 2).sum(dim=1)
    before, after, again = one(x.clone()), one(changed), one(x.clone())
    far = ((before - other(x.clone())).abs() > 1e-4).flatten(0, 1).any(dim=0)
    return {
        "some features turn otherwise with another base": bool(far.any()),
        f"vectors that a change of vector {place} changes": ((after - before).abs() > 1e-4).any(dim=-1),
        "tokens whose slowest feature turns, with the base 1e12 or 1e-12": int(turned.min()),
        "numbers that differ in a second call": int((again != before).sum()),
    }


def at_once(given, module, x, positions, N):
    """Return what vectors (T, K) become at their positions, if each is repeated at all positions in order."""
    every = given.torch.arange(N, device=given.device)
    turned = module(x.unsqueeze(-2).expand(-1, N, -1).contiguous(), token_positions=every)  # (T, N, K)
    return turned[given.torch.arange(len(x), device=given.device), positions]


@check(
    "each vector turns by its own position in token_positions",
    points=3,
    of=CLASS,
    judge=PAIRS,
    requires_any=COMPUTED,
)
def test_positions(impl, given):
    T, K, N = given.sizes("T K N")
    module, x, positions = rope(impl, given, K, N, 100.0), given.normal(T, K), mixed(given, N, T)
    return {OUTPUT: [module(x, token_positions=positions), at_once(given, module, x, positions, N)]}


@check(
    "positions (B, T) differ by sentence, and all heads share them",
    points=3,
    of=CLASS,
    judge=PAIRS,
    requires_any=COMPUTED,
)
def test_batch_positions(impl, given):
    stack, (B, H, T, K, N) = given.torch.stack, given.sizes("B H T K N")
    module, x = rope(impl, given, K, N, 100.0), given.normal(B, H, T, K)
    own, shared = mixed(given, N, B, T), mixed(given, N, 1, T)
    alone = stack([stack([at_once(given, module, x[b, h], own[b], N) for h in range(2)]) for b in range(B)])
    together = stack([module(x[b], token_positions=shared[0]) for b in range(B)])
    return {
        OUTPUT: [module(x, token_positions=own)[:, :2], alone],
        LATER: [module(x[:, 0], token_positions=own), alone[:, 0]],
        SHARED: [module(x, token_positions=shared)[:, :2], together[:, :2]],
    }


@check(
    "the input may have any axes before the last two, and axes of size 1",
    points=1,
    of=CLASS,
    judge=PAIRS,
    requires_any=COMPUTED,
)
def test_any_axes(impl, given):
    B, H, T, K, N = given.sizes("B H T K N")
    module, x = rope(impl, given, K, N, 2.0), given.normal(B, H, T, K)
    three = module(x.flatten(0, 1)).reshape(x.shape)
    return {
        OUTPUT: [module(x.clone()), three],
        LATER: [module(x[0, 0].clone()), three[0, 0]],
        SHARED: [module(x[:1, None].clone()), three[:1, None]],
        ONES: [module(x[:1, :1, :1].clone()), three[:1, :1, :1]],
    }


@check("a score depends on the distance of two positions alone", points=2, of=CLASS, judge=PAIRS, requires_any=COMPUTED)
def test_distance(impl, given):
    T, K, N = given.sizes("T K N")
    module, query, key = rope(impl, given, K, 3 * N, 2.0), given.normal(T, K), given.normal(T, K)
    at, moved = given.torch.arange(T, device=given.device), given.number(N, 2 * N)

    def scores(by):
        return module(query.clone(), token_positions=at + by) @ module(key.clone(), token_positions=at + by).mT

    return {OUTPUT: [scores(moved), scores(0)]}


@check("the angles are exact up to position 2000", points=1, of=CLASS, judge=agreeing(1e-3), requires_any=COMPUTED)
def test_long(impl, given):
    # To turn by one position and then by another is to turn by their sum; float32 angles are off by about 1e-4 there.
    T, K = given.sizes("T K")
    module, x, positions = rope(impl, given, K, LONGEST), given.normal(T, K), given.integers(1900, 2000, T)
    first = given.integers(0, 900, T)
    twice = module(module(x.clone(), token_positions=first), token_positions=positions - first)
    return {OUTPUT: [module(x.clone(), token_positions=positions), twice]}


@check(
    "half precision: the angles are made in float32", points=2, of=CLASS, judge=agreeing(0.04), requires_any=COMPUTED
)
def test_half(impl, given):
    T, K = given.sizes("T K")
    x, positions = given.normal(T, K, dtype="bfloat16"), given.integers(1900, 2000, T)
    module, cast = rope(impl, given, K, LONGEST, 100.0), rope(impl, given, K, LONGEST, 100.0).bfloat16()
    half = cast(x.clone(), token_positions=positions)
    return {OUTPUT: [half.float(), module(x.float(), token_positions=positions)]}


@check(
    "every text up to max_seq_len fits, whatever came before", points=1, of=CLASS, judge=PAIRS, requires_any=COMPUTED
)
def test_longest(impl, given):
    T, K, N = given.sizes("T K N")
    module, x = rope(impl, given, K, N, 2.0), given.normal(N, K)
    first = module(x[:T].clone())
    return {OUTPUT: [module(x.clone())[:T], first]}


def refused(impl, given, past):
    """Return the error of a text with one position that is `past` behind the last one."""
    T, K = given.sizes("T K")
    N = given.number(40, 90)
    module, positions, x = rope(impl, given, K, N), given.integers(0, 9, T), given.normal(T, K)
    last = N - 1 + past
    positions[1] = last
    return given.raises(lambda: module(x, token_positions=positions), last, N)


ERRORS = Raises(("ValueError", "IndexError"))


@check("a position past the end raises an error with both numbers", of=CLASS, judge=ERRORS, requires_any=COMPUTED)
def test_beyond(impl, given):
    return refused(impl, given, given.number(9, 30))


@check("the position max_seq_len is past the end", of=CLASS, judge=ERRORS, requires_any=COMPUTED)
def test_end(impl, given):
    return refused(impl, given, 1)


@check(
    "a text longer than max_seq_len raises an error with this number",
    points=1,
    of=CLASS,
    judge=ERRORS,
    requires_any=COMPUTED,
)
def test_too_long(impl, given):
    K, N = given.size("K"), given.number(11, 40)
    module, x = rope(impl, given, K, N), given.normal(N + 3, K)
    return given.raises(lambda: module(x), N)


@check("an odd d_k raises a ValueError with d_k", points=1, of=CLASS, judge=Raises(), requires_any=COMPUTED)
def test_odd(impl, given):
    K = 2 * given.number(3, 40) + 1
    return given.raises(lambda: rope(impl, given, K, 9), K)


@check("nothing is trained, and nothing is saved", points=1, of=CLASS, requires_any=COMPUTED)
def test_nothing_saved(impl, given):
    K, N = given.sizes("K N")
    module = rope(impl, given, K, N)
    return {**given.trainable(module), "tensors that are saved": len(module.state_dict())}


test_input_kept = ROPE.inputs_kept(id="input_kept", title="the input is not modified", requires_any=COMPUTED)
test_dtype = ROPE.dtypes(id="dtype", title="the output has the dtype of the input", judge=PAIRS, requires_any=COMPUTED)


@check("the gradient of the input is right", points=1, of=CLASS, judge=agreeing(1e-3), requires_any=COMPUTED)
def test_gradient(impl, given):
    module, inputs = rope_and_input(impl, given, "float64")
    (both,) = given.slopes(lambda x: module(x.clone()), inputs["input"])
    return {OUTPUT: both}


@check("new tensors are on the device of the input", points=1, of=CLASS, trials=1, judge=PAIRS, requires_any=COMPUTED)
def test_device(impl, given):
    module, inputs = rope_and_input(impl, given, "float32")
    T, N, x = given.size("T"), given.size("N"), inputs["input"]
    positions = mixed(given, N, T)

    def run(device):
        there = module.to(device)
        return there(x.clone().to(device)) + there(x.clone().to(device), token_positions=positions.to(device))

    here = run("cpu")  # a tensor kept from this call must not be used on the other device
    with given.another_device() as device:
        return {OUTPUT: [run(device), here]}


PLACES, WIDTH = 26, 24


@picture("(1, 0) turned: fast left, slow right", rows="position", columns="feature")
def picture_turned(impl, given):
    x = given.tensor([[1.0, 0.0] * (WIDTH // 2)] * PLACES)
    return rope(impl, given, WIDTH, PLACES, 100.0)(x)


@picture("scores: only the distance counts", rows="query", columns="key")
def picture_scores(impl, given):
    turned = rope(impl, given, WIDTH, PLACES, 100.0)(given.torch.ones(PLACES, WIDTH))
    return turned @ turned.mT
