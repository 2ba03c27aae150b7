"""ex02: a matrix power."""

from autograder.checks import Raises, Same, check


def keeps_lengths(yours, expected):
    """Judge a rotated vector by its length alone."""
    found, wanted = (yours**2).sum(), (expected**2).sum()
    return None if abs(found - wanted) < 1e-4 * wanted else f"the squared length is {found:.4f}, expected {wanted:.4f}"


@check("a power is a repeated matrix product", points=2, of="matrix_power")
def test_power(impl, given):
    rows, n = given.sizes("B N")
    return impl.matrix_power(given.normal(rows, n, n, scale=0.6), 3)


@check("the power 0 is the identity", of="matrix_power", judge=Same(exact_zeros=True), requires_any=("power",))
def test_zeroth(impl, given):
    rows, n = given.sizes("B N")
    return impl.matrix_power(given.normal(rows, n, n), 0)


@check("a negative power is refused", judge=Raises(), trials=1, requires_any=("power",))
def test_negative(impl, given):
    n = given.size("N")
    return given.raises(lambda: impl.matrix_power(given.normal(n, n), -2), -2)


@check("the power of a rotation keeps lengths", judge=keeps_lengths, of="matrix_power", requires_any=("power",))
def test_rotation(impl, given):
    turn = given.tensor([[0.6, -0.8], [0.8, 0.6]])
    return impl.matrix_power(turn, 5) @ given.normal(2)


@check("the mean counts the powers 1 to n once each", points=2, of="mean_power")
def test_mean(impl, given):
    rows, n = given.sizes("B N")
    return impl.mean_power(given.normal(rows, n, n, scale=0.6), 4)
