"""One view of a failure, and renderers that all show what it contains."""

import io
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console

from autograder.report import ASCII, UNICODE, FailureView, Page, failure_text, failure_view
from autograder.report.failures import fitting_parts, print_parts
from autograder.report.html import card
from autograder.report.terminal_failure import WHOLE, failure_lines, failure_sentences, print_sentences
from autograder.results import Finding, Place, PrintOutput
from tests.support import report_examples as examples

FAILING = [name for name, exercise in examples.EXERCISES.items() if exercise.first_failure]
PRINTS = (PrintOutput("imported\n"), PrintOutput("".join(f"step {number}\n" for number in range(8)), "scaled", 1, 3))


def view_of(name: str) -> FailureView:
    check = examples.EXERCISES[name].first_failure
    assert check is not None
    return failure_view(check, prints=PRINTS, hints_shown=2, next_commands=[("course hint 5", "hint 3 of 3")])


def in_terminal(view: FailureView) -> str:
    page = Page.on(Console(file=io.StringIO(), width=300), UNICODE, widest=300)
    return "\n".join(line.plain for line in failure_lines(page, view, None, WHOLE))


def in_html(view: FailureView) -> str:
    texts: list[str] = []
    parser = HTMLParser()
    parser.handle_data = texts.append  # type: ignore[method-assign]
    parser.feed(card("failure", view=view))
    return "".join(texts)


def essentials(view: FailureView) -> Iterator[str]:
    """Yield what every renderer shows: message, detail, place and the line of code."""
    yield view.opening
    yield view.more
    yield from view.detail
    if view.location is not None:
        yield view.location.file
        yield view.location.function
        yield view.location.wrong.text.strip() if view.location.wrong else ""


def details(view: FailureView) -> Iterator[str]:
    """Yield what the renderers with room show: the claim, the evidence, the output and the hint."""
    yield view.claim
    yield view.location.label if view.location else ""
    yield from (cell for row in (view.values.rows if view.values else ()) for cell in row)
    yield from (cell for row in (view.comparison.rows if view.comparison else ()) for cell in row[:2])
    yield from (cell for row in (view.witnesses.rows if view.witnesses else ()) for cell in row)
    yield from (text for part in view.prints for text in (part.label, *part.lines))
    yield from (part for hint in view.hints[-1:] for part in hint)


@pytest.mark.parametrize("name", FAILING)
def test_every_renderer_shows_the_message_and_the_place(name: str) -> None:
    view = view_of(name)
    for text in (in_terminal(view), in_html(view), failure_text(view)):
        assert [part for part in essentials(view) if part not in text] == []
    plain = "\n".join(map(ASCII.spell, failure_sentences(view)))
    assert [part for part in map(ASCII.spell, essentials(view)) if part not in plain] == []


@pytest.mark.parametrize("name", FAILING)
def test_terminal_sentences_and_html_show_the_same_evidence(name: str) -> None:
    view = view_of(name)
    for text in (in_terminal(view), in_html(view), "\n".join(failure_sentences(view))):
        assert [part for part in details(view) if part not in text] == []


def test_the_next_command_is_the_last_thing() -> None:
    view = view_of("fail")
    assert in_terminal(view).splitlines()[-1].strip() == "Next  course hint 5  hint 3 of 3"
    assert failure_sentences(view)[-1] == "Next: course hint 5: hint 3 of 3."


def test_a_table_without_a_difference_is_shown_only_with_every_measurement() -> None:
    check = examples.MASK.first_failure
    assert check is not None
    assert failure_view(check).comparison is None
    assert failure_view(check, every_measurement=True).comparison is not None


def test_elements_without_a_table_say_what_was_measured_unless_the_message_does() -> None:
    check = examples.MASK.first_failure
    assert check is not None
    assert check.finding is not None
    assert check.finding.evidence is not None
    evidence = replace(check.finding.evidence, name="where weights are 0", witness_title="largest differences")
    for message, title in (
        ("The mask is not used.", "where weights are 0: largest differences"),
        ("where weights are 0: 3 of 9 places differ.", "largest differences"),
    ):
        shown = failure_view(replace(check, finding=replace(check.finding, message=message, evidence=evidence)))
        assert shown.witnesses is not None
        assert shown.witnesses.title == title


def test_what_was_printed_has_the_trial_it_came_from_and_is_cut_to_its_last_lines() -> None:
    parts = print_parts([*PRINTS, PrintOutput("step 0\nstep 1\n", "scaled", 2), PrintOutput("imported", "masked")])
    assert [part.label for part in parts] == [
        "Your code printed while it was imported",
        "Your code printed in check scaled, trial 1 (same text in 3 trials)",
        "Your code printed in check scaled, trial 2",
    ]
    shown, others = fitting_parts(parts, 6)
    assert [part.lines for part in shown] == [("imported",), tuple(f"step {number}" for number in range(4, 8))]
    assert shown[1].label == "Your code printed in check scaled, trial 1 (same text in 3 trials), the last 4 lines"
    assert others
    assert [part.lines for part in fitting_parts(parts, 2)[0]] == [("step 6", "step 7")]
    assert fitting_parts(parts, 100) == (parts, False)
    assert fitting_parts((), 5) == ((), False)


def test_a_warning_is_not_called_a_print_and_names_no_file_of_a_library() -> None:
    text = (
        "hello\nex01_a.py:3: UserWarning: odd use (Triggered internally at /pytorch/a.cpp:4.)\n  return f(x)\n"
        "/venv/lib/torch/nn.py:9: FutureWarning: old name\n  self.f()\n  indented by hand\n"
        "[W1128 05:00:00.1 a.cpp:7] Warning: a native one (function f)\nex.py:3: no warning"
    )
    printed, warned = print_parts([PrintOutput(text, "scaled")])
    assert (printed.label, warned.label) == (
        "Your code printed in check scaled",
        "Python or a library warned in check scaled",
    )
    assert printed.lines == ("hello", "  indented by hand", "ex.py:3: no warning")
    assert warned.lines == ("ex01_a.py:3: UserWarning: odd use", "FutureWarning: old name", "Warning: a native one")
    assert print_sentences([warned])[1] == "Python or a library warned: FutureWarning: old name"
    [of_check] = print_parts([PrintOutput("test_ex01_a.py:1: UserWarning: b")])
    assert (of_check.warns, of_check.lines) == (True, ("UserWarning: b",))


@pytest.mark.parametrize(("column", "end", "marked"), [(4, 10, "scores"), (4, None, "scores = 1"), (99, 100, "")])
def test_the_marked_characters_are_those_of_the_place(column: int, end: int | None, marked: str) -> None:
    place = Place("a.py", 3, "f", column, end)
    finding = Finding("pattern", "p", "It differs.", place=place, source=((3, "    scores = 1  "),))
    location = failure_view(replace(examples.FAIL.checks[0], status="fail", finding=finding)).location
    assert location is not None
    assert location.wrong is not None
    assert location.wrong.marked == marked
