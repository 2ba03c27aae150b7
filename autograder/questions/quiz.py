"""Draws questions about a program whose checks pass. Each answer is what a run of the program, or of an edit, showed.

A question that could have two right answers is not asked: every option was run, and what is too near to say is dropped.
"""

import ast
import keyword
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property, partial
from itertools import chain
from typing import Literal, TypeAlias

from autograder.answer_key import Failures
from autograder.checks import Check, Key, Raises, SameInputs
from autograder.comparison import is_same, passes, sketch
from autograder.course import Course, Exercise, describe, load_suite, named_in, with_steps
from autograder.diagnosis import Judgement
from autograder.edits import Edit, Guides, Text, imported_names, pairs, slots, variables, variants
from autograder.judge import Grader, Marking, Verdicts
from autograder.report import plural
from autograder.results import Certainty
from autograder.runner import EnvironmentProblem, Fault, GraderProblem, Observed, Outcome, Runner, WorkerFailure
from autograder.sandbox import IsolationError, open_isolation
from autograder.submission import Submission, digest

from .recordings import (
    Call,
    Item,
    are_equal,
    arguments_text,
    call_text,
    functions_of,
    given_text,
    may_draw,
    parsed,
    read_calls,
    recording,
    shape_text,
    statements_of,
    value_text,
)

Kind: TypeAlias = Literal["shape", "value", "check", "input", "mistake"]

MOST_EDITS = 24
"""Edits that are run for the questions of one program: each runs all checks once, which takes about 0.1 s."""

MOST_VERDICTS = 10
MOST_A_LINE = 3
"""Edits that are judged in full for questions of one kind, since a question rests on them."""

MOST_RUNS = 3
"""Trials in which a call before and after an edit is compared."""

AT_ONCE = 6
"""Trials that are recorded in one job: all together they could print more than is kept."""

MOST_OPTIONS = 4
LONGEST_LINE = 96
LONGEST_CALL = 170
MOST_GIVEN = 8
NONE_FAILS = "none of these: they all pass"

FIRST = (
    "term dropped",
    "factor",
    "call dropped",
    "argument dropped",
    "axis",
    "transpose",
    "sign",
    "slice",
    "comparison",
)
LATER = (
    "statement dropped",
    "swapped",
    "arithmetic",
    "boolean",
    "mask",
    "off by one",
    "another name",
    "gradient",
    "in place",
)
"""The operators whose edits a teacher would ask about, those first that rarely only raise an exception."""


class Unaskable(Exception):
    """A program that cannot be asked about; the message is a sentence that says why."""


@dataclass(frozen=True)
class Question:
    """A question on a line of a program. Without `options` the answer is typed.

    `code` are lines to show with it, `given` says what a call gets, and `reason` what happened when it ran.
    """

    kind: Kind
    exercise: str
    file: str
    line: int
    text: str
    code: tuple[str, ...]
    given: tuple[str, ...]
    options: tuple[str, ...]
    answer: str
    reason: str

    @property
    def form(self) -> str:
        """How to write a typed answer; "" if there are options."""
        if self.options:
            return ""
        return "a shape, such as (2, 3)" if self.kind == "shape" else "a value, as Python writes it"

    def accepts(self, given: str) -> bool:
        """Whether an answer is right: an option, or a shape or a value however it is written."""
        if self.options:
            return given == self.answer
        if self.kind == "shape":
            return re.findall(r"\d+", given) == re.findall(r"\d+", self.answer)
        return _value(given) == _value(self.answer)


def _value(text: str) -> object:
    """Return a typed value: a number to two decimals, else its text without spaces and quotation marks."""
    plain = re.sub(r"[\s'\"]", "", text)
    try:
        return round(float(plain), 2) + 0.0
    except (ValueError, OverflowError):
        return plain


@dataclass(frozen=True)
class _Change:
    """An edit of a line, as it is shown, the first trials that fail after it, and the stems of what it changes."""

    line: int
    function: str
    source: str
    code: tuple[str, ...]
    words: str
    failing: Mapping[Key, Outcome]
    stems: frozenset[str] = frozenset()


class Quiz:
    """The questions of one program: an exercise of a submission, all of whose checks pass."""

    def __init__(self, marking: Marking, exercise: Exercise, salt: str) -> None:
        self.marking = marking
        self.exercise = exercise
        self.like = _passing(marking, exercise)
        self.verdicts = marking.verdicts(exercise)
        known = self.verdicts.find_key(Failures(frozenset()))  # a fix is known before its mistake has run
        self.fixes = [mistake.fix for mistake in known.misconceptions if mistake.fix]
        self.weak: list[Question] = []
        self.source = _text_of(marking.submission.sources[exercise.file])
        tree = parsed(self.source)
        if tree is None:
            raise Unaskable(f"{exercise.file} is too long or too deep to ask about")
        self.tree = tree
        self.lines = self.source.split("\n")
        self.functions = dict(functions_of(tree))
        self.statements = {
            statement.lineno: (name, statement)
            for name, function in self.functions.items()
            for statement in statements_of(function)
            if statement.lineno == statement.end_lineno
        }
        same = digest({exercise.file: marking.submission.sources[exercise.file]})
        self.generator = random.Random(f"{exercise.id} {same} {salt}")

    def questions(self) -> Iterator[Question]:
        """Yield questions of changing kinds, as long as there are any; last the weak, whose line says the answer."""
        makers: list[Iterator[Question]] = [self._of_inputs(), self._of_checks(), self._of_mistakes()]
        self.generator.shuffle(makers)
        waiting = [chain(self._of_values(), self._of_shapes()), *makers]
        if self.generator.random() < 0.5:
            waiting[0] = chain(self._of_shapes(), self._of_values())
        while waiting:
            maker = waiting.pop(0)
            if (question := next(maker, None)) is not None:
                yield question
                waiting.append(maker)
        yield from sorted(self.weak, key=lambda question: question.kind == "mistake")  # whose name says most

    # What a line computes.

    def _of_shapes(self) -> Iterator[Question]:
        """Yield questions on the shape of a variable, in a call of a check."""
        found: dict[tuple[int, str, tuple[str, ...]], set[str]] = {}
        asked = set()
        for call, line, name, item in self._first_values(self.recorded):
            one, shape = (line, name, given_text(call)), shape_text(item.shape) if item.kind == "array" else item.kind
            found.setdefault(one, set()).add(shape)
            is_telling = item.kind == "array" and _is_telling(call, item) and not self._hides(call, line, whole=False)
            if is_telling and shape[1:-1] not in self._filled(call, line):
                asked.add(one)
        for line, name, given, shape in self._one_a_line({one: found[one] for one in asked}):
            what = f"What is the shape of `{name}` after line {line}{self._first_time(line)}?"
            reason = f"When it ran, the shape of `{name}` was {shape}."
            yield self._typed("shape", line, what, given, shape, reason)

    def _of_values(self) -> Iterator[Question]:
        """Yield questions on a plain value, or on one number of a tensor, in a call whose numbers are all shown."""
        found: dict[tuple[int, str, tuple[str, ...]], set[str]] = {}
        for call, line, name, item in self._first_values(self.in_steps):
            items = [*call.arguments.values(), *(call.made or {}).values()]
            function = ast.get_source_segment(self.source, self.functions[call.function]) or ""
            is_hidden = not items or may_draw(function, items) or self._hides(call, line, whole=True)
            if not is_hidden and not _is_given(item, call):
                for part, value in _parts(name, item):
                    if value not in re.findall(r"[\w.]+", self._filled(call, line)):
                        found.setdefault((line, part, given_text(call, whole=True)), set()).add(value)
        for line, part, given, value in self._one_a_line(found):
            what = f"What is `{part}` after line {line}{self._first_time(line)}?"
            reason = f"When it ran, `{part}` was {value}."
            yield self._typed("value", line, what, given, value, reason)

    def _first_values(self, recorded: Mapping[Key, Sequence[Call]]) -> Iterator[tuple[Call, int, str, Item]]:
        """Yield the first value that each line of a function gave to a variable, in each call."""
        for call in chain.from_iterable(recorded.values()):
            seen: set[int] = set()
            for line, name, item in call.values if call.made is not None else ():
                statement = self.statements.get(line, ("", None))[1]
                given = getattr(statement, "value", None)
                is_computed = given is not None and not isinstance(
                    given, ast.Constant | ast.Name | ast.Attribute | ast.List
                )
                is_known = call.function in self.functions and not call.function.endswith("__init__")
                if line not in seen and is_computed and is_known:
                    yield call, line, name, item
                seen.add(line)

    def _filled(self, call: Call, line: int) -> str:
        """Return a line with the plain arguments of a call in the place of their names."""
        items = {**(call.made or {}), **call.arguments}
        known = {name: value_text(item) for name, item in items.items() if item.kind == "plain"}
        return re.sub(r"\w+", lambda name: known.get(name[0], name[0]), self.lines[line - 1])

    def _first_time(self, line: int) -> str:
        """Say which time is meant, if a loop runs a line several times."""
        loops = [node for node in ast.walk(self.tree) if isinstance(node, ast.For | ast.While)]
        inside = any(loop.lineno < line <= (loop.end_lineno or 0) for loop in loops)
        return " has run for the first time" if inside else ""

    def _hides(self, call: Call, line: int, *, whole: bool) -> bool:
        """Whether a line may depend on something of its object that a question does not show.

        That is what other methods than `__init__` set, and for numbers everything but arguments of `__init__`.
        """
        function, owner = self.functions[call.function], call.function.rpartition(".")[0]
        before = "\n".join(self.lines[function.body[0].lineno - 1 : line])
        read = set(re.findall(r"\bself\.(\w+)", before))
        bare = re.search(r"\bself\b(?!\.)", before) is not None
        plain = {name for name, item in (call.made or {}).items() if item.kind == "plain"}
        return bool(owner) and (bool(read & self._set_later[owner]) or (whole and (bare or not read <= plain)))

    @cached_property
    def _set_later(self) -> Mapping[str, set[str]]:
        """The attributes that other methods than `__init__` set, by the class."""
        found: dict[str, set[str]] = {}
        for name, function in self.functions.items():
            parts = ast.walk(function) if function.name != "__init__" else ()
            stored = {
                part.attr for part in parts if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
            }
            found.setdefault(name.rpartition(".")[0], set()).update(stored)
        return found

    def _one_a_line(
        self, found: Mapping[tuple[int, str, tuple[str, ...]], Collection[str]]
    ) -> Iterator[tuple[int, str, tuple[str, ...], str]]:
        """Yield a question on each line, of those whose answer was the same in all calls that got the same.

        A call in which fewer numbers are equal is preferred: with equal sizes, a wrong axis may give the right answer.
        """
        lines: dict[int, list[tuple[int, str, tuple[str, ...], str]]] = {}
        for (line, name, given), answers in found.items():
            if len(answers) == 1 and max(map(len, given)) <= LONGEST_LINE and len(given) <= MOST_GIVEN:
                lines.setdefault(line, []).append((line, name, given, next(iter(answers))))
        order = sorted(lines)
        self.generator.shuffle(order)
        for line in order:
            fewest = min(map(_repeated, lines[line]))
            yield self.generator.choice([one for one in lines[line] if _repeated(one) == fewest])

    # What an edit changes.

    def _of_checks(self) -> Iterator[Question]:
        """Yield questions which check fails after an edit.

        Those are weak where no other check is of its function, where another check raises an exception, where the edit
        is of what sets an object up, and where the right one alone has a word of the edit.
        """
        for change in self.changes:
            judgement = self._judged(change, is_named=False)
            failing = [one.check for one in judgement.verdicts if one.status in ("fail", "error")] if judgement else []
            passing = [one.check for one in judgement.verdicts if one.status == "pass"] if judgement else []
            wrong_values = [one.check for one in judgement.verdicts if one.status == "fail"] if judgement else []
            if judgement is None or (failing and not wrong_values):
                continue
            if not failing and (_sets_up(change.function) or self.generator.random() < 0.5):
                continue  # an edit that changes nothing is asked about now and then only
            if not failing and not any(call.runs(change.line) for call in chain.from_iterable(self.recorded.values())):
                continue  # a line that no check runs
            right = wrong_values[0] if failing else None
            of = right.of if right else change.function.split(".")[0]
            near = [check for check in passing if check.of == of]
            others = [*self.generator.sample(near, len(near)), *(check for check in passing if check.of != of)]
            others.sort(key=partial(_distance, change, of))
            chosen = [*others[: MOST_OPTIONS - 1 - bool(right)], *([right] if right else [])]
            names = [check.title for check in chosen]
            if len({*names}) < MOST_OPTIONS - 1:
                continue
            is_literal = right is not None and _is_literal(change, right.title, names)
            self.generator.shuffle(names)
            count = f"When it ran, {plural(len(failing), 'check')} of {len(judgement.verdicts)} failed."
            what, answer = "Which of these checks fails then?", right.title if right else NONE_FAILS
            question = self._changed("check", change, what, (*names, NONE_FAILS), answer, count)
            if near and len(failing) == len(wrong_values) and not _sets_up(change.function) and not is_literal:
                yield question
            else:
                self.weak.append(question)

    def _of_mistakes(self) -> Iterator[Question]:
        """Yield questions which known mistake a program has after an edit: it gives what that mistake gives alone.

        Equal results do not make the name true, so the edit must be the change that the mistake is. It is left out if
        an edit of another line gives the same: the checks do not tell then which of them the mistake is. Those are weak
        whose edit is of what sets an object up, or says the name in other words.
        """
        course = self.marking.suite.course
        for change in self.changes:
            is_one = change.failing and self._makes_change_of(self.fixes, change.source, change.line)
            judgement = self._judged(change, is_named=True) if is_one and not self._has_twin(change) else None
            found = [one for one in judgement.verdicts if one.status in ("fail", "error")] if judgement else []
            known = {one.mistake for one in found}
            reasons = [one.diagnosis for one in found if one.diagnosis is not None]
            several = any(reason.is_one_of_several for reason in reasons)
            alone = any(reason.certainty >= Certainty.ALIKE for reason in reasons)  # no other mistake gives that
            if len(known) != 1 or several or not alone or (name := next(iter(known))) is None:
                continue
            fixes = [one.misconception.fix for one in reasons if one.misconception is not None]
            if not self._makes_change_of(fixes, change.source, change.line):
                continue
            page = describe(course, name)
            others = sorted({*named_in(course, self.exercise, besides=name).values()} - {page.name if page else ""})
            if page is None or page.convention or len(others) < MOST_OPTIONS - 1:
                continue
            self.generator.shuffle(others)
            others.sort(key=lambda other: -len({*other.split()} & {*page.name.split()}))  # the most alike in words
            options = [page.name, *others[: MOST_OPTIONS - 1]]
            self.generator.shuffle(options)
            what = "Which mistake does the program have then?"
            question = self._changed("mistake", change, what, options, page.name, page.explanation)
            if _sets_up(change.function) or _is_literal(change, page.name, options):
                self.weak.append(question)
            else:
                yield question

    def _has_twin(self, change: _Change) -> bool:
        """Whether an edit of another line fails the same trials with the same results."""
        trials = self.like.trials
        assert trials is not None
        expected = trials.key.reference
        judges = {verdict.check.id: verdict.check.judge for verdict in self.like.verdicts}

        def is_alike(key: Key, one: Outcome, other: Outcome) -> bool:
            judge = judges[key[0]]
            return is_same(one, sketch(other, judge, expected[key]), judge, expected[key], {})

        return any(
            other.line != change.line
            and other.failing.keys() == change.failing.keys()
            and all(is_alike(key, outcome, other.failing[key]) for key, outcome in change.failing.items())
            for other in self.changes
        )

    def _of_inputs(self) -> Iterator[Question]:
        """Yield questions in which of two or three calls an edit shows: that one alone runs the line.

        What decides whether a call runs it must be seen: None, a flag, a number, how many axes a tensor has. The other
        calls pass each argument too that the right one passes and the line names: a lack would say the answer.
        """
        for change in self.changes:
            groups: dict[object, list[tuple[Key, Call]]] = {}
            for key, calls in self.recorded.items():
                for call in calls:
                    if call.function == change.function and call.result is not None and call.made is not None:
                        groups.setdefault(_facts(call), []).append((key, call))
            sure = [group for group in groups.values() if len({call.runs(change.line) for _, call in group}) == 1]
            past = [group for group in sure if not group[0][1].runs(change.line)]
            through = [group for group in sure if group[0][1].runs(change.line)]
            if not change.failing:
                continue
            differing = [
                (called, fair)
                for group in through
                if (fair := [other for other in past if _passed(group[0][1], change) <= _passed(other[0][1], change)])
                and (called := self._differing(change, group)) is not None
            ]
            if not differing:
                continue
            called, fair = self.generator.choice(differing)
            fitting = [[call_text(call) for _, call in group if len(call_text(call)) <= LONGEST_CALL] for group in fair]
            others = [self.generator.choice(texts) for texts in fitting if texts]
            if not others:
                continue
            right = call_text(called)
            options = [right, *self.generator.sample(others, min(2, len(others)))]
            self.generator.shuffle(options)
            what = "Which of these calls gives another result then?"
            yield self._changed(
                "input", change, what, options, right, f"When it ran, only that call ran line {change.line}."
            )

    def _differing(self, change: _Change, group: Sequence[tuple[Key, Call]]) -> Call | None:
        """Return a call of a group, if after an edit every one that was run returns something else."""
        keys = sorted({key for key, _ in group})[:MOST_RUNS]
        edited = self._record(change.source, keys)
        facts = _facts(group[0][1])
        pairs = [pair for key in keys for pair in _pairs(change.function, self.recorded[key], edited.get(key, []))]
        own = [pair for pair in pairs if _facts(pair[0]) == facts]
        differs = {other.result is not None and are_equal(one.result, other.result) is False for one, other in own}
        return next((one for one, _ in own if differs == {True} and len(call_text(one)) <= LONGEST_CALL), None)

    def _changed(
        self, kind: Kind, change: _Change, what: str, options: Sequence[str], answer: str, reason: str
    ) -> Question:
        own, text = self.exercise, f"{change.words} {what}"
        return Question(kind, own.id, own.file, change.line, text, change.code, (), tuple(options), answer, reason)

    @cached_property
    def changes(self) -> list[_Change]:
        """The edits to ask about, at most three a line, those that fail few checks first.

        One that hangs, ends the process, or only raises exceptions is no question.
        """
        found: list[_Change] = []
        candidates = [*self._edits()]
        self.generator.shuffle(candidates)
        tried = 0
        for line, source, code, words in [edit for _, edit in sorted(candidates, key=lambda one: one[0])]:
            if sum(change.line == line for change in found) < MOST_A_LINE and tried < MOST_EDITS:
                tried += 1
                failing = self._failing(source)
                if failing is not None and len(failing) < len(self.first_trials):
                    stems = _stems_of_edit(self.source, source)
                    found.append(_Change(line, self.statements[line][0], source, code, words, failing, stems))
        few = [change for change in found if change.failing]
        return [*sorted(few, key=lambda change: len(change.failing)), *(one for one in found if not one.failing)]

    def _makes_change_of(self, fixes: Sequence[str], edited: str, line: int) -> bool:
        """Whether one of these fixes would undo the edit of a line."""
        key = tuple(fixes)
        guides = self._guides.setdefault(key, Guides(key, is_named=False, variables=variables([self.source])))
        return guides.gain(edited.split("\n")[line - 1], self.lines[line - 1]) > 0

    @cached_property
    def _guides(self) -> dict[tuple[str, ...], Guides]:
        return {}

    def _edits(self) -> Iterator[tuple[int, tuple[int, str, tuple[str, ...], str]]]:
        """Yield edits of one line, and exchanges of two lines that follow each other, with the rank of each.

        Those that make the change of a known mistake come first: learners meet these.
        """
        text = Text(self.source)
        imported = imported_names(self.tree)
        for slot in slots(self.tree):
            line = slot.place.statement.lineno if slot.place.statement else 0
            if line not in self.statements or getattr(slot.node, "lineno", line) != line:
                continue
            function, statement = self.statements[line]
            if isinstance(statement, ast.Raise):
                continue  # the words of a message are no question
            returned = statement.value if isinstance(statement, ast.Return) else None
            for operator, other in variants(slot, imported):
                if operator == "gradient" and function.endswith("__init__"):
                    continue
                if operator == "another name" and slot.node is returned:
                    continue  # nobody would return another variable
                is_asked = operator in (*FIRST, *LATER) and not isinstance(other, ast.Continue | ast.Break)
                is_asked &= not isinstance(other, ast.Constant) or operator in ("axis", "off by one")
                edit = text.replaced(slot, ast.fix_missing_locations(other)) if is_asked else None
                if edit is not None and (shown := self._edited(edit, line)) is not None:
                    is_known = self._makes_change_of(self.fixes, shown[0], line)
                    yield 0 if is_known else 1 if operator in FIRST else 2, (line, *shown)
        for first, second in pairs(self.tree):
            before, after = (getattr(slot.node, "lineno", 0) for slot in (first, second))
            if {before, after} <= self.statements.keys() and after > before:
                source = text.exchanged(first.node, second.node).applied(self.source)
                code = (self._line_text(before), self._line_text(after))
                if all(len(one) <= LONGEST_LINE for one in code):
                    yield 1, (before, source, code, f"Lines {before} and {after} change places.")

    def _edited(self, edit: Edit, line: int) -> tuple[str, tuple[str, ...], str] | None:
        """Return the program after an edit, its line before and after, and what to say; None if it is no small one."""
        source = edit.applied(self.source)
        after = source.split("\n")
        if len(after) != len(self.lines):
            return None
        new = after[line - 1]
        if edit.text.startswith("("):  # brackets that nobody would write
            bare = Edit(edit.line, edit.start, edit.end, edit.text[1:-1]).applied(self.source)
            if _same_code(bare, source):
                source, new = bare, bare.split("\n")[line - 1]
        for written, usual in _WRITTEN:
            plain = written.sub(usual, new)
            whole = "\n".join((*after[: line - 1], plain, *after[line:]))
            if plain != new and not written.search(self.lines[line - 1]) and _same_code(whole, source):
                source, new = whole, plain
        if new == self.lines[line - 1] or len(_code(new)) > LONGEST_LINE or len(self._line_text(line)) > LONGEST_LINE:
            return None
        if _code(new).strip() == "pass":
            return source, (self._line_text(line),), f"Line {line} is left out."
        return (
            source,
            (self._line_text(line), f"{' ' * len(str(line))}→ {_code(new).strip()}"),
            f"Line {line} is changed.",
        )

    def _failing(self, source: str) -> Mapping[Key, Outcome] | None:
        """Return the first trials that fail after an edit; None if it hangs, or raises only."""
        like = self.like
        assert like.trials is not None
        expected = like.trials.key.reference
        judges = {verdict.check.id: verdict.check.judge for verdict in like.verdicts}
        outcomes = self.marking.edited(like, source).outcomes(like, self.first_trials)
        if len(outcomes) < len(self.first_trials) or any(map(_has_hung, outcomes.values())):
            return None
        failing = {key: one for key, one in outcomes.items() if not passes(one, expected[key], judges[key[0]])}
        raises_only = bool(failing) and not any(isinstance(one, Observed) for one in failing.values())
        return None if raises_only else failing

    def _judged(self, change: _Change, *, is_named: bool) -> Judgement | None:
        """Return the whole judgement of an edit; None if a trial hung, or enough have been judged.

        Only for one that `is_named` known mistakes are run.
        """
        if (change.source, is_named) not in self._judgements:
            if sum(named == is_named for _, named in self._judgements) >= MOST_VERDICTS:
                return None
            marking = self.marking.edited(self.like, change.source, verdicts=None if is_named else self._unnamed)
            self._judgements[change.source, is_named] = marking.verdicts_like(self.like)
        judgement = self._judgements[change.source, is_named]
        outcomes = judgement.trials.outcomes.values() if judgement.trials is not None else ()
        return None if not outcomes or any(map(_has_hung, outcomes)) else judgement

    def _unnamed(self, _: Exercise) -> Verdicts:
        """Return what judges without the catalogue of mistakes."""
        return replace(self.verdicts, find_key=lambda _: self.verdicts.find_key(None))

    @cached_property
    def _judgements(self) -> dict[tuple[str, bool], Judgement]:
        return {}

    # What is recorded.

    @cached_property
    def first_trials(self) -> list[Key]:
        """The first trial of each check."""
        return [(check.id, 0) for check in self.marking.suite.checks[self.exercise.id]]

    @cached_property
    def recorded(self) -> Mapping[Key, Sequence[Call]]:
        """The calls in the first two trials of each check that compares values."""
        checks = self.marking.suite.checks[self.exercise.id]
        usual = [check for check in checks if not isinstance(check.judge, Raises | SameInputs)]
        return self._record(
            self.source, [(check.id, trial) for check in usual for trial in range(min(check.trials, 2))]
        )

    @cached_property
    def in_steps(self) -> Mapping[Key, Sequence[Call]]:
        """The calls in the steps of the worked example."""
        steps = self.marking.suite.steps.get(self.exercise.id, ())
        return self._record(self.source, [(step.id, 0) for step in steps], "steps")

    def _record(
        self, source: str, keys: Sequence[Key], probes: Literal["checks", "steps"] = "checks"
    ) -> dict[Key, Sequence[Call]]:
        """Run a recording of a program, and return the calls in each trial or step."""
        copy = recording(source)
        found: dict[Key, Sequence[Call]] = {}
        if copy is None:
            return found
        marking = self.marking.edited(self.like, copy)
        for first in range(0, len(keys), AT_ONCE):
            run = marking.trials_run(self.like, keys[first : first + AT_ONCE], probes=probes, prints=True)
            outcomes, prints = run.outcomes.get(self.exercise.id, {}), run.prints.get(self.exercise.id, {})
            if any(isinstance(outcome, WorkerFailure) for outcome in outcomes.values()):
                break
            found.update((key, read_calls(prints.get(key, ""))) for key in outcomes)
        return found

    def _typed(self, kind: Kind, line: int, text: str, given: tuple[str, ...], answer: str, reason: str) -> Question:
        """Return a question on a line whose answer is typed."""
        own, code = self.exercise, (self._line_text(line),)
        return Question(kind, own.id, own.file, line, text, code, given, (), answer, reason)

    def _line_text(self, line: int) -> str:
        return f"{line}  {_code(self.lines[line - 1]).strip()}"


def _passing(marking: Marking, exercise: Exercise) -> Judgement:
    """Return the judgement on an exercise that passes. Raises `Unaskable` for any other."""
    if exercise.file not in marking.submission.sources:
        raise Unaskable(f"there is no {exercise.file}")
    result = marking.result(exercise)
    settled = marking.settled(exercise)
    if result.status != "pass" or settled is None or settled.trials is None:
        raise Unaskable(f"{exercise.file} does not pass its checks")
    return settled


def _text_of(source: bytes) -> str:
    try:
        return source.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise Unaskable("its file is not UTF-8") from None


def _parts(name: str, item: Item) -> Iterator[tuple[str, str]]:
    """Yield the parts of a value that can be asked for, with what they are: numbers of at most two decimals."""
    if item.kind == "plain":
        is_short = _is_short(item.plain) if isinstance(item.plain, float) else type(item.plain) in (int, str)
        if is_short and item.plain not in (0, 1, ""):
            yield name, value_text(item)
    elif item.kind in ("list", "tuple") and item.length and item.is_whole:
        if all(part.kind == "plain" and type(part.plain) in (int, str) for part in item.parts):
            yield name, value_text(item)
    elif item.kind == "array" and item.is_whole and item.type != "bool" and len(set(item.numbers)) > 2:
        for at, number in enumerate(item.numbers):
            if number not in (0.0, 1.0) and _is_short(number):
                places = []
                for size in reversed(item.shape):
                    places.append(at % size)
                    at //= size
                yield f"{name}[{', '.join(map(str, reversed(places)))}]", f"{number:.4g}"


def _is_short(number: float) -> bool:
    return 0.05 < abs(number) < 1000 and abs(round(number, 1) - number) < 1e-5


def _is_telling(call: Call, item: Item) -> bool:
    """Whether a shape must be worked out: no argument has it, and the call says all that decides it."""
    known = [one.shape for one in call.arguments.values() if one.kind == "array"]
    sizes = [size for shape in known for size in shape]
    objects = [one for one in (*(call.made or {}).values(), *call.arguments.values()) if one.kind == "other"]
    is_plain = item.shape in known or max(item.shape, default=1) == 1
    return len(item.shape) > 1 and not is_plain and not objects and len(sizes) > 1


def _is_given(item: Item, call: Call) -> bool:
    """Whether a value stands in the question already: that of an argument, or numbers that only count."""
    shown = [_numbers(one) for one in (*call.arguments.values(), *(call.made or {}).values())]
    counting = item.kind == "array" and item.numbers == tuple(range(len(item.numbers)))
    return counting or _numbers(item) in shown


def _numbers(item: Item) -> tuple[object, ...]:
    """Return all that a value holds, in order: lists and axes make no difference."""
    return tuple(chain.from_iterable(map(_numbers, item.parts))) or item.numbers or (item.plain,)


def _repeated(found: tuple[int, str, tuple[str, ...], str]) -> int:
    """Return how many sizes in what a call gets, and in the answer, are equal to another one beside them."""
    given = ", ".join(found[2])
    shapes = [re.findall(r"\d+", shape) for shape in re.findall(r"\([\d, ]+\)", f"{given} {found[3]}")]
    return sum(len(sizes) - len({*sizes}) for sizes in (*shapes, re.findall(r"=(\d+)(?![\d.])", given)))


def _sets_up(function: str) -> bool:
    """Whether a function gives an object its weights, which the checks replace by their own."""
    return function.rpartition(".")[2] in ("__init__", "from_reference")


_PIECE = re.compile(r"\w+|[^\w\s]")
_IN_WORDS = {"+": "add", "-": "subtract", "*": "multipl", "/": "divi", "&": "combin", "sqrt": "root", "detach": "grad"}
"""What a text has for some of what a program has."""

SHORTEST_STEM = 3
"""A shorter name stands in words that have nothing to do with it."""


def _stems_of_edit(before: str, after: str) -> frozenset[str]:
    """Return the beginnings of words that say what an edit adds, removes or moves."""
    changed = [pair for pair in zip(before.split("\n"), after.split("\n"), strict=True) if pair[0] != pair[1]]
    one, other = (_PIECE.findall("\n".join(pair[at] for pair in changed)) for at in (0, 1))
    spans = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return _stems(piece for tag, a, b, c, d in spans if tag != "equal" for piece in (*one[a:b], *other[c:d]))


def _stems(code: Iterable[str]) -> frozenset[str]:
    """Return the beginnings of words that parts of a program may have in a text."""
    pieces = [piece.lower() for piece in _PIECE.findall(" ".join(code))]
    texts = chain.from_iterable((_IN_WORDS.get(piece, piece), piece, *piece.split("_")) for piece in pieces)
    return frozenset(text for text in texts if len(text) >= SHORTEST_STEM and not keyword.iskeyword(text))


def _words_in(text: str, stems: Collection[str]) -> set[str]:
    """Return the words of a text that begin with one of these stems, or are the beginning of one."""
    words = {word for word in _PIECE.findall(text.lower()) if len(word) > SHORTEST_STEM}
    whole = {word for word in words if any(stem.startswith(word.removesuffix("s")) for stem in stems)}
    return whole | {word for word in _PIECE.findall(text.lower()) if word.startswith(tuple(stems))}


_DENIAL = re.compile(r"\b(left out|lost|missing|no|not|nothing|never|without)\b")


def _is_literal(change: _Change, right: str, options: Sequence[str]) -> bool:
    """Whether the line of an edit says the right option: it denies what is changed, or alone has a word of that."""
    words = _words_in(right, change.stems)
    others = (_words_in(option, change.stems) for option in options if option != right)
    return bool(words) if _DENIAL.search(right) else not words <= set().union(*others)


def _distance(change: _Change, of: str | None, check: Check) -> tuple[bool, bool, bool]:
    """Rank another check as an option: by words of what an edit changes, by its function, by words of the line."""
    return not _words_in(check.title, change.stems), check.of != of, not _words_in(check.title, _stems(change.code))


def _facts(call: Call) -> object:
    """Return the parts of a call that have no sizes and numbers."""
    return tuple((name, item.facts) for part in (call.made or {}, call.arguments) for name, item in part.items())


def _passed(call: Call, change: _Change) -> set[str]:
    """Return the arguments that the lines of an edit name and a call passes: neither None nor False."""
    named = re.findall(r"\w+", " ".join(change.code))
    given = {**(call.made or {}), **call.arguments}
    passed = {name for name, item in given.items() if item.facts is not None and item.plain is not False}
    return passed.intersection(named)


def _pairs(function: str, calls: Sequence[Call], edited: Sequence[Call]) -> Iterator[tuple[Call, Call]]:
    """Yield the calls of a function before and after an edit that got the same arguments."""
    both = ([call for call in many if call.function == function] for many in (calls, edited))
    for one, other in zip(*both, strict=False):
        if one.result is None or one.made is None or arguments_text(one.arguments) != arguments_text(other.arguments):
            return
        if not all(_is_same(one.arguments[name], other.arguments[name]) for name in one.arguments):
            return
        yield one, other


def _is_same(one: Item, other: Item) -> bool:
    return one == other if one.kind == "other" else are_equal(one, other) is True


def _same_code(one: str, other: str) -> bool:
    first, second = parsed(one), parsed(other)
    return first is not None and second is not None and ast.dump(first) == ast.dump(second)


_WRITTEN = (
    (re.compile("'"), '"'),
    (re.compile(r"(?:(?<=return )|(?<= = )|(?<=\[))\((.*)\)(?=$|\])"), r"\1"),
    (re.compile(r"(?<=[^\w\])])\((\w+)\)"), r"\1"),
)
"""What an edit writes and the line has not: its quotation marks, brackets around two values, and around one name."""


def _code(line: str) -> str:
    """Return a line without the comment at its end."""
    return re.sub(r"\s+# .*$", "", line).rstrip()


def _is_like(one: Question, other: Question) -> bool:
    """Whether two questions are on one line, on lines that differ in names only, or on changes with the same effect."""
    first, second = (re.sub(r"\w+", "_", question.code[0]) for question in (one, other))
    same = first == second or (bool(one.options) and one.answer == other.answer)
    return one.exercise == other.exercise and (one.line == other.line or (one.kind == other.kind and same))


def _has_hung(outcome: object) -> bool:
    return isinstance(outcome, WorkerFailure) or (isinstance(outcome, Fault) and outcome.type == "TimeoutError")


# Ask about submissions.


@dataclass(frozen=True)
class Asked:
    """The questions on a submission, and a sentence on each exercise that could not be asked about."""

    questions: tuple[Question, ...]
    refusals: tuple[str, ...]


class Asker:
    """Asks about submissions, one after another, each in workers of its own."""

    def __init__(self, grader: Grader) -> None:
        self.grader = grader

    def ask(
        self,
        submission: Submission,
        exercises: Sequence[Exercise],
        count: int,
        *,
        salt: str = "",
        besides: Collection[Question] = (),
    ) -> Asked:
        """Return so many questions on these exercises, in turn; fewer if there are no more.

        The same files and the same salt get the same questions. Those of `besides` are not asked. Raises
        `EnvironmentProblem` if this machine cannot run checks.
        """
        found: list[Question] = []
        refusals: list[str] = []
        with self.grader.new_runner() as runner:
            marking = self.grader.marking(submission, runner)
            waiting: list[Iterator[Question]] = []
            for exercise in exercises:
                try:
                    waiting.append(Quiz(marking, exercise, salt).questions())
                except Unaskable as refusal:
                    refusals.append(f"{refusal}.")
            spare: list[Question] = []
            while waiting and len(found) < count:
                maker = waiting.pop(0)
                try:
                    question = next(maker, None)
                except GraderProblem:
                    refusals.append("The grader failed on a program, so it was not asked about further.")
                    continue
                if question is None:
                    continue
                is_new = not any(_is_like(question, one) for one in found)
                if question not in besides:
                    (found if is_new else spare).append(question)
                (waiting.append if is_new else partial(waiting.insert, 0))(maker)
            found += spare[: count - len(found)]  # two that are alike, only where a program is short
        return Asked(tuple(found), tuple(refusals))


@contextmanager
def open_asker(
    course: Course,
    exercises: Sequence[Exercise],
    *,
    confined: bool = False,
    on_progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Iterator[Asker]:
    """Open what asks about these exercises; `on_progress` as in `Grader`. Everything runs with the public seed.

    Programs of others are to run `confined`. Raises `EnvironmentProblem` if this machine cannot do that.
    """
    needed = {one.id for exercise in exercises for one in course.with_needs(exercise)}
    suite = with_steps(load_suite(course, [one for one in course.exercises if one.id in needed]))
    with ExitStack() as stack:
        isolation = None
        if confined:
            try:
                isolation = stack.enter_context(open_isolation(Runner(suite, seed=course.seed).warm_up(), 1))
            except IsolationError as error:
                raise EnvironmentProblem(f"this machine cannot confine submissions: {error}") from None
        grader = Grader(suite, seed=course.seed, isolation=isolation, remember=True, on_progress=on_progress)
        yield Asker(stack.enter_context(grader))
