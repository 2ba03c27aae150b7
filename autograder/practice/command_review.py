"""Answer some questions on earlier mistakes: two minutes.

The questions are on mistakes that you made and on exercises that passed long ago. A question that you answer comes
back later, a missed one sooner.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from autograder.cli import CommandParser, Screen, add_json, chosen, is_somebody_there, typed
from autograder.course import (
    FOLDER,
    HUNTS,
    Course,
    Described,
    Exercise,
    Hunt,
    HuntFile,
    UsageError,
    describe,
    find_course,
    kit_hunts,
    named_in,
    read_course,
    read_hunts,
)
from autograder.ending import PASS
from autograder.progress import (
    Answer,
    Event,
    Progress,
    Standing,
    now,
    read_progress,
    save_events,
    seconds_of,
    write_json,
)
from autograder.protocol import outline_of
from autograder.questions import open_asker
from autograder.report import plural
from autograder.runner import EnvironmentProblem
from autograder.submission import read_own

from .command_hunt import (
    MOST_ANSWERS,
    Choice,
    Practice,
    changing,
    grid_text,
    make_choice,
    other_numbers,
    read_practice,
    text_hash,
)

if TYPE_CHECKING:
    from fsrs import Card


# Questions on earlier mistakes, scheduled so that each comes back shortly before it would be forgotten.

AT_ONCE = 4
"""Questions of one review: about two minutes."""

LONG_AGO = timedelta(days=7)
"""An exercise that passed before then gets a question too."""

MOST_CODE = 30
"""Lines of a function that are shown with a question."""

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class ReviewQuestion:
    """A question: what to read first, the choice, and the explanation of the right answer.

    `misconception` is what it is scheduled by: a misconception, or an exercise whose program it is about.
    """

    misconception: str
    exercise: Exercise
    choice: Choice
    code: tuple[str, ...]
    explanation: str


def due_questions(course: Course, progress: Progress, now: datetime) -> list[ReviewQuestion]:
    """Return the questions that are due, the one that waits longest first, at most `AT_ONCE`."""
    practice = read_practice(course)
    scheduled = sorted((card.due, name) for name, card in _cards(practice) if card.due <= now)
    new = [name for name in _sources(course, progress, practice, now) if name not in practice.cards]
    questions = (_question(course, practice, name) for name in dict.fromkeys([*(n for _, n in scheduled), *new]))
    return [question for question in questions if question is not None][:AT_ONCE]


def next_due(course: Course, progress: Progress, now: datetime) -> datetime | None:
    """Return when the next question comes: one that comes back, or the first on an exercise that passed lately.

    None if nothing has passed that has a question.
    """
    practice = read_practice(course)
    due = [card.due for _, card in _cards(practice)]
    for exercise in course.exercises:
        passed = seconds_of(progress.of(exercise).first_passed or "")
        if passed is not None and not set(_names_of(course, exercise)[:1]) <= practice.cards.keys():
            due.append(datetime.fromtimestamp(passed, UTC) + LONG_AGO)
    return min((at for at in due if at > now), default=None)


def _names_of(course: Course, exercise: Exercise) -> list[str]:
    """Return the misconceptions of an exercise, in the order in which they are asked about."""
    return sorted(named_in(course, exercise, besides=""), key=lambda name: text_hash(f"{exercise.id} {name}"))


def rate(course: Course, misconception: str, now: datetime, *, is_right: bool) -> datetime:
    """Note an answer, and return when the question comes back."""
    fsrs = _scheduling()
    scheduler = fsrs.Scheduler(learning_steps=[_DAY], relearning_steps=[_DAY], enable_fuzzing=False)
    with changing(course) as practice:
        new = fsrs.Card(card_id=int(text_hash(misconception)[:12], 16), due=now)
        known = dict(_cards(practice)).get(misconception, new)
        card: Card
        card, _ = scheduler.review_card(known, fsrs.Rating.Good if is_right else fsrs.Rating.Again, now)
        times = int(dict(practice.cards.get(misconception) or {}).get("times", 0)) + 1
        practice.cards[misconception] = {"card": card.to_json(), "times": times}
    return card.due


def _scheduling() -> Any:
    """Return the package that schedules questions. Raises `EnvironmentProblem` if it is not installed."""
    try:
        import fsrs  # here, because only a review needs it
    except ImportError as error:
        problem = f"a review needs the package {error.name}, which is not installed"
        raise EnvironmentProblem(f"{problem}; install it in the kit's folder: pip install -e '.[review]'") from None
    return fsrs


def _cards(practice: Practice) -> Iterator[tuple[str, "Card"]]:
    card = _scheduling().Card
    for name, data in practice.cards.items():
        try:
            yield name, card.from_json(data["card"])
        except (KeyError, TypeError, ValueError):
            continue


def _sources(course: Course, progress: Progress, practice: Practice, now: datetime) -> Iterator[str]:
    """Yield misconceptions to ask about: made, missed in a hunt, or of an exercise that passed long ago."""
    for exercise in course.exercises:
        standing = progress.of(exercise)
        yield from standing.answers
        if standing.finding is not None and standing.passes_now:
            yield standing.finding
    for hunt in practice.hunts.values():
        if isinstance(hunt, dict) and not all(value for key, value in hunt.items() if key != "misconception"):
            yield str(hunt.get("misconception"))
    for exercise in course.exercises:
        passed = seconds_of(progress.of(exercise).first_passed or "")
        if passed is not None and now.timestamp() - passed >= LONG_AGO.total_seconds():
            yield from _names_of(course, exercise)[:1]


OWN_CODE = "own-code "
MOST_TRIED = 4
"""Questions among which one with answers to choose from is looked for."""


def own_code(exercise: Exercise) -> str:
    """Return the name under which a question about the learner's own program is scheduled."""
    return f"{OWN_CODE}{exercise.id}"


def _about_own_code(course: Course, name: str, times: int) -> ReviewQuestion | None:
    """Return a question about the learner's program as it is now; None if it does not pass."""
    exercise = next((one for one in course.exercises if own_code(one) == name), None)
    if exercise is None:
        return None
    with open_asker(course, [exercise]) as asker:
        asked = asker.ask(read_own(course), [exercise], MOST_TRIED, salt=f"review {times}").questions
    question = next((one for one in asked if one.options), None)
    if question is None:
        return None
    title = f"{exercise.number} {exercise.title}, your own program. {question.text}"
    choice = Choice(title, question.options, question.options.index(question.answer))
    return ReviewQuestion(name, exercise, choice, question.code, question.reason)


def _question(course: Course, practice: Practice, name: str) -> ReviewQuestion | None:
    """Return the question on a misconception; its kind changes from time to time. None if the course lost it."""
    if name.startswith(OWN_CODE):
        asked = practice.cards.get(name)
        return _about_own_code(course, name, int(asked.get("times", 0)) if isinstance(asked, dict) else 0)
    page = describe(course, name)
    exercise = next((one for one in course.exercises if page is not None and one.id == page.exercise), None)
    if page is None or exercise is None or page.convention:
        return None
    entry = practice.cards.get(name)
    times = int(entry.get("times", 0)) if isinstance(entry, dict) else 0
    programs = _programs(course, exercise)
    hunt = next((one for one in programs.hunts if one.misconception == name), None) if programs else None
    kinds = [_by_sentence(course, exercise, page), *(_on_program(programs, hunt, page) if programs and hunt else ())]
    choice, code = kinds[times % len(kinds)]
    return ReviewQuestion(name, exercise, choice, code, f"{page.name[:1].upper()}{page.name[1:]}. {page.explanation}")


def _by_sentence(course: Course, exercise: Exercise, page: Described) -> tuple[Choice, tuple[str, ...]]:
    others = named_in(course, exercise, besides=page.id).values()
    question = f"{exercise.number} {exercise.title}. Which mistake is this? {page.explanation}"
    return make_choice(question, page.name, others, page.id), ()


def _on_program(programs: HuntFile, hunt: Hunt, page: Described) -> Iterator[tuple[Choice, tuple[str, ...]]]:
    """Yield questions on a wrong program: which line is wrong, and what it gives."""
    lines = hunt.source.splitlines()
    function = next((one for one in outline_of(hunt.source).functions if one.line <= hunt.lines[0] <= one.end), None)
    if function is None or function.end - function.line >= MOST_CODE:
        return
    code = tuple(lines[function.line - 1 : function.end])
    text = [line.strip() for line in lines[function.body - 1 : function.end]]
    wrong = lines[hunt.lines[0] - 1].strip()
    # Shorter lines, such as `else:`, are no choice.
    others = {line for line in text if len(line) > 8 and not line.startswith("#")} - {
        lines[number - 1].strip() for number in hunt.lines if number <= len(lines)
    }
    if len(wrong) > 8 and len(others) >= MOST_ANSWERS - 1:
        yield make_choice("One line of this program is wrong. Which one?", wrong, others, hunt.id), code
    if hunt.example is not None:
        shape, paper = ((len(grid), len(grid[0])) for grid in (hunt.example.wrong, hunt.example.paper))
        if shape != paper:
            question = f"What is the shape of what this program gives for: {hunt.example.title}?"
            turned = str(shape[::-1]), str(paper[::-1])
            yield make_choice(question, str(shape), [str(paper), *turned], hunt.id), code
        question = f"This program has a mistake: {page.name}. What does it give for: {hunt.example.title}?"
        yield make_choice(question, grid_text(hunt.example.wrong), other_numbers(programs, hunt.example), hunt.id), code


def _programs(course: Course, exercise: Exercise) -> HuntFile | None:
    """Return programs that are there already: a review makes nobody wait."""
    made = sorted((course.root / FOLDER / "cache" / HUNTS).glob(f"{exercise.id}-*.json"))
    return next((found for file in (kit_hunts(course, exercise), *made) if (found := read_hunts(file))), None)


def to_json(question: ReviewQuestion) -> Mapping[str, Any]:
    """Return the JSON of a question, without the right answer."""
    return {
        "exercise": question.exercise.id,
        "question": question.choice.question,
        "answers": question.choice.answers,
        "code": question.code,
    }


# One question after a named mistake was corrected: what was it? To explain a mistake is what makes its hints last.


@dataclass(frozen=True)
class Question:
    """A misconception that was corrected, the question, and the explanation of the right answer."""

    misconception: str
    choice: Choice
    explanation: str


def question_after(course: Course, exercise: Exercise, before: Standing, after: Standing) -> Question | None:
    """Return the question on the mistake that a learner has just corrected.

    None if there was none, if only its results were seen, if it was a convention and no mistake, if it was asked about
    before, or if the course has too few other mistakes to choose from.
    """
    corrected = before.finding
    if not course.questions or corrected is None or before.is_alike or corrected in after.answers:
        return None
    if before.check not in after.right or after.finding == corrected:
        return None
    known = describe(course, corrected)
    if known is None or known.exercise != exercise.id or known.convention:
        return None
    others = named_in(course, exercise, besides=corrected).values()
    choice = make_choice("You corrected a mistake. What was it?", known.name, others, corrected)
    return Question(corrected, choice, known.explanation) if len(choice.answers) == MOST_ANSWERS else None


def save_answer(course: Course, exercise: Exercise, question: Question, answer: Answer) -> str:
    """Record how a question was answered. Return a warning if that could not be saved, else ""."""
    event = Event(now(), "question", exercise.id, "question", result=answer, finding=question.misconception)
    return save_events(course, [event]).warning


# The command.


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--answer", metavar="N", help="answer the first question that is due")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command. A question that is skipped stays due."""
    course = read_course(find_course())
    screen = Screen.of(options)
    questions = due_questions(course, read_progress(course), datetime.now(UTC))
    if options.answer is not None:
        return _answer_first(options, screen, course, questions)
    if write_json(options.json, {"due": [to_json(question) for question in questions]}):
        return PASS
    if not questions:
        screen.text(_nothing(next_due(course, read_progress(course), datetime.now(UTC))), indent=0)
    elif is_somebody_there():
        _ask_all(screen, course, questions)
    else:
        _show(screen, questions[0])
        more = len(questions) - 1
        screen.next([("course review --answer N", f"{plural(more, 'question')} more" if more else "the last one")])
    return PASS


def _nothing(due: datetime | None) -> str:
    if due is not None:
        return f"Nothing to review now. The next question comes on {due.astimezone():%Y-%m-%d}."
    days = LONG_AGO.days
    return f"Nothing to review yet. The first question comes when you correct a mistake, or {days} days after a pass."


def _show(screen: Screen, question: ReviewQuestion) -> None:
    for line in question.code:
        screen.line(f"  {line}")
    screen.choices(question.choice.question, question.choice.answers)


def _ask_all(screen: Screen, course: Course, questions: list[ReviewQuestion]) -> None:
    for question in questions:
        screen.gap()
        _show(screen, question)
        answers = question.choice.answers
        try:
            answer = chosen(typed(f"Type 1 to {len(answers)}, or Enter to stop:"), answers)
        except UsageError:
            return
        _judge(screen, course, question, answer)


def _judge(screen: Screen, course: Course, question: ReviewQuestion, answer: int) -> None:
    is_right = answer == question.choice.right
    due = rate(course, question.misconception, datetime.now(UTC), is_right=is_right)
    verdict = "Right." if is_right else f"No, it is {question.choice.right + 1}."
    screen.text(f"{verdict} {question.explanation}", indent=0)
    screen.text(f"This question comes back on {due.astimezone():%Y-%m-%d}.", indent=0)


def _answer_first(options: argparse.Namespace, screen: Screen, course: Course, questions: list[ReviewQuestion]) -> int:
    if not questions:
        raise UsageError("no question is due, so there is nothing to answer")
    question = questions[0]
    answer = chosen(options.answer, question.choice.answers)
    if options.json == "-":
        is_right = answer == question.choice.right
        rate(course, question.misconception, datetime.now(UTC), is_right=is_right)
        write_json(options.json, {"right": is_right, "misconception": question.misconception})
    else:
        _judge(screen, course, question, answer)
    return PASS
