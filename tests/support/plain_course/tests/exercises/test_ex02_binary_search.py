"""ex02: binary search."""

from autograder.checks import Raises, check


@check("every number is found at its place", points=2, of="search")
def test_found(impl, given):
    items = sorted(given.distinct(0, 90, 13))
    return [impl.search(items, wanted) for wanted in given.shuffled(items)]


@check("a number that is absent gives -1", of="search", requires_any=("found",))
def test_absent(impl, given):
    items = sorted(2 * number for number in given.distinct(0, 40, 9))
    return [impl.search(items, wanted + 1) for wanted in items]


@check("the median is the middle of the sorted numbers", points=2, of="median")
def test_median(impl, given):
    return {"odd": impl.median(given.numbers(0, 99, 9)), "even": impl.median(given.numbers(0, 99, 8))}


@check("an empty list has no median", judge=Raises(), trials=1, requires_any=("median",))
def test_empty(impl, given):
    return given.raises(lambda: impl.median([]))
