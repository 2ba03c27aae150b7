"""ex01: the worked example of the lesson."""

from autograder.checks import step


@step("three numbers in order", "[1 2 3]")
def step_three(impl, given):
    return impl.insertion_sort([3, 1, 2])


@step("moves of the three", "2")
def step_moves(impl, given):
    return impl.moves([3, 1, 2])
