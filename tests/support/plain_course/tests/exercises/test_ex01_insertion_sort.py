"""ex01: insertion sort."""

from autograder.checks import check


@check("the numbers come out in ascending order", points=3, of="insertion_sort")
def test_ordered(impl, given):
    return impl.insertion_sort(given.numbers(-50, 50, 9 + given.number(0, 4)))


@check("the list of the caller stays as it is", of="insertion_sort", requires_any=("ordered",))
def test_kept(impl, given):
    values = given.distinct(0, 100, 8)
    before = list(values)
    impl.insertion_sort(values)
    return {"before": before, "after": values}


@check("the moves are counted", points=2, of="moves")
def test_count(impl, given):
    return impl.moves(given.numbers(0, 20, 12))


@check("words are sorted as well", of="insertion_sort")
def test_words(impl, given):
    return impl.insertion_sort([given.text(5) for _ in range(7)])
