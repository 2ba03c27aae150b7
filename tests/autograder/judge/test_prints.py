"""What is kept of a learner's prints: the failing check first, the same once, and never more than there is room for."""

from autograder.judge import outputs_of
from autograder.judge.verdict import MOST_IN_ALL, MOST_OUTPUTS, MOST_TEXT
from autograder.results import PrintOutput


def test_the_import_comes_first_then_the_first_failure_then_the_others() -> None:
    prints = {("shapes", 0): "a\n", ("values", 0): "b\n", None: "c\n", ("values", 1): "d\n"}
    assert outputs_of(prints, "values") == (
        PrintOutput("c"),
        PrintOutput("b", "values", 1),
        PrintOutput("d", "values", 2),
        PrintOutput("a", "shapes", 1),
    )
    assert [output.check for output in outputs_of(prints, None)] == [None, "shapes", "values", "values"]


def test_the_same_text_in_several_trials_of_a_check_and_equal_lines_are_counted() -> None:
    prints = {("values", 0): "x\nx\nx\n\n\ny\n", ("values", 1): "x\nx\nx\n\n\ny\n", ("values", 2): "z", ("a", 0): " \n"}
    assert outputs_of(prints, "values") == (
        PrintOutput("x  (3 times)\n\ny", "values", 1, 2),
        PrintOutput("z", "values", 3),
    )


def test_long_and_many_outputs_are_cut() -> None:
    [long] = outputs_of({None: "".join(f"{number}\n" for number in range(10_000))}, None)
    assert len(long.text) <= MOST_TEXT + 3
    assert long.text.startswith("0\n1\n")
    lines = long.text.split("\n")
    assert [int(line) for line in lines if line != "…"] == sorted(int(line) for line in lines if line != "…")
    assert all(line == "…" or line in map(str, range(10_000)) for line in lines), "a line is whole or left out"
    assert long.text.endswith("\n9999")
    many = outputs_of({("values", trial): f"{trial}{'x' * 3000}" for trial in range(100)}, None)
    assert sum(len(output.text) for output in many) <= MOST_IN_ALL
    assert len(outputs_of({("values", trial): f"{trial}" for trial in range(100)}, None)) == MOST_OUTPUTS
