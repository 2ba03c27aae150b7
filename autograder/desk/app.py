"""The pages of a desk and what they do: who may ask, what is shown, and how a decision is saved."""

import hmac
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from autograder import ending
from autograder.cli import HOST, MOST_FORM, Access, Guard, LocalServer, is_same, listen
from autograder.course import UsageError
from autograder.gradebook import (
    EVERYBODY,
    KINDS,
    WHOLE,
    Adjustment,
    Adjustments,
    accept,
    adjustment,
    append,
    author,
    decisions_that_hold,
    due_date,
    kept_beside,
    now,
    others_of_group,
    refuse_idle,
    refuse_time,
    warnings_about,
    withdraw,
    withdrawable,
)
from autograder.report import (
    check_state,
    ended,
    exercise_card,
    failure_view,
    message_of,
    number,
    one_line,
    plural,
    points,
    printable,
    render,
)
from autograder.results import CheckResult, ExerciseResult
from autograder.submission import Submission

from .worklist import ANSWER, Claim, Filter, Row, Worklist

MOST_UPLOAD = 64 << 20
"""Bytes of a form with a file."""

MOST_ROWS = 100
"""Rows of the table at once: with more, a browser takes longer than 0.1 s from a key to the new table."""

MOST_LINES = 3000
"""Lines of a file that are shown."""

MOST_SAVED = 1000
"""Forms that are remembered, so that one that is sent twice counts once."""

KIND_TITLES = {
    "points": ("points, in place of its own", "12.5"),
    "add": ("add points, or take off", "1.5, or -2"),
    "excused": ("excused", ""),
    "extension": ("extension: days, or a due date", "2, or 2026-03-08 23:59"),
    "handed_in": ("handed_in: the time", "2026-03-08 23:59"),
    "comment": ("a comment", ""),
}
"""The words for each kind of decision, and an example of its value if it has one."""

TAGS = {
    "held": "held",
    "flagged": "flagged",
    "late": "late",
    "asks": "asks",
    "missing": "missing",
    "decided": "decided",
}
"""The states that a row of the table shows, and the word for each."""

TEMPLATES = Path(__file__).parent / "templates"


class DecidedMeanwhile(Exception):
    """Somebody decided about a student after the page was made; `sentences` say what."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__()
        self.sentences = tuple(sentences)


@dataclass(eq=False)
class Desk:
    """A class, who decides, who may open its pages, and the key of its forms, which lives as long as its process."""

    worklist: Worklist
    by: str = ""
    host: str = HOST
    key: bytes = field(repr=False, default_factory=lambda: os.urandom(32))
    saved: dict[str, tuple[str, ...]] = field(default_factory=dict)
    access: Access = field(init=False)

    def __post_init__(self) -> None:
        entrance = render("desk/templates/entrance.html.j2")
        self.access = Access("desk", "course desk", self.host, entrance, _problem, _most_bytes)

    def new_form(self) -> str:
        """Return the key of a new form. Only this desk can make it, and what it saves counts once."""
        once = os.urandom(12).hex()
        return f"{once}.{self._seal(once)}"

    def form(self, key: str) -> str | None:
        """Return which form has a key; None if this desk did not make it."""
        once, _, seal = key.partition(".")
        return once if is_same(self._seal(once), seal) else None

    def save(self, once: str, sentences: Sequence[str]) -> None:
        """Remember what a form saved."""
        self.saved[once] = tuple(sentences)
        while len(self.saved) > MOST_SAVED:
            del self.saved[next(iter(self.saved))]

    def _seal(self, once: str) -> str:
        return hmac.new(self.key, once.encode("utf-8", "replace"), "sha256").hexdigest()


def _most_bytes(path: str) -> int:
    return MOST_UPLOAD if path.endswith("/accept") else MOST_FORM


def _problem(sentence: str, status: int) -> HTMLResponse:
    return HTMLResponse(render("desk/templates/problem.html.j2", sentence=sentence), status)


# The pages.


def application(desk: Desk) -> ASGIApp:
    """Return the pages of a desk as an application that a server can run."""
    pages = Pages(desk)
    student = "/student/{run}/{student}"
    routes = [
        Route("/", pages.table),
        Route("/questions", pages.questions),
        Route(student, pages.student),
        Route(f"{student}/{{action}}", pages.save, methods=["POST"]),
        Route(f"{student}/void/{{exercise}}/{{check}}", pages.void, methods=["GET", "POST"]),
        Route(f"{student}/withdraw/{{exercise}}/{{what}}", pages.withdraw, methods=["GET", "POST"]),
        Route("/desk.css", partial(_file, "text/css", render("desk/templates/desk.css.j2"))),
        Route("/desk.js", partial(_file, "text/javascript", (TEMPLATES / "desk.js").read_text("utf-8"))),
        Route("/favicon.ico", partial(_file, "image/x-icon", "")),
    ]
    handlers: Mapping[Any, Any] = {
        UsageError: _usage_problem,
        OSError: _system_problem,
        HTTPException: _http_problem,
        Exception: _engine_problem,
    }
    return Guard(Starlette(routes=routes, exception_handlers=handlers), desk.access)


async def _file(kind: str, text: str, _: Request) -> Response:
    return Response(text, media_type=kind)


async def _usage_problem(_: Request, error: Exception) -> Response:
    return _problem(f"{ended(str(error))} Mend it, then load this page again.", 409)


async def _system_problem(_: Request, error: Exception) -> Response:
    return _problem(f"A file cannot be read: {_reason(error)}.", 500)


async def _http_problem(_: Request, error: HTTPException) -> Response:
    if error.status_code in (404, 405):
        return _problem("There is no such page on this desk.", error.status_code)
    return _problem(f"The form cannot be read ({one_line(error.detail)}). Nothing was saved.", error.status_code)


async def _engine_problem(_: Request, error: Exception) -> Response:
    found = f"{type(error).__name__}: {one_line(str(error))}"
    return _problem(f"The desk failed ({found}). This is its own mistake: please report it.", 500)


def _reason(error: Exception) -> str:
    named = getattr(error, "filename", None)
    why = getattr(error, "strerror", None) or str(error)
    return f"{PurePosixPath(str(named)).name}: {why}" if named else why


@dataclass(frozen=True)
class Typed:
    """What stands in the forms of a page before anybody types, or what was typed there before it was refused.

    `file` is the name of the file that was chosen: a page cannot keep the file itself.
    """

    exercise: str = ""
    kind: str = "points"
    value: str = ""
    text: str = ""
    by: str = ""
    reason: str = ""
    name: str = ""
    file: str = ""


@dataclass(frozen=True)
class CodeLine:
    """A line of a hand-in; `labels` say what is wrong in it, and the characters from `start` to `end` are marked."""

    number: int
    text: str
    labels: tuple[str, ...] = ()
    start: int = 0
    end: int = 0


class Pages:
    """The handlers of the routes. They run one after the other, in the thread of the server."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._list = desk.worklist

    async def table(self, request: Request) -> Response:
        """Show the class."""
        self._list.refresh()
        wanted = Filter.of(request.query_params)
        rows = [row for row in self._list.rows if wanted.takes(row)]
        most = len(rows) if request.query_params.get("rows") == "all" else MOST_ROWS
        everything = self._list.rows
        html = render(
            "desk/templates/table.html.j2",
            **self._common(wanted),
            rows=rows[:most],
            count=len(rows),
            everybody=len(everything),
            notes=self._list.notes,
            choices=self._list.choices,
            flags=TAGS,
            score=self._score,
            failing=_failing,
            link=partial(self._link, wanted=wanted),
        )
        return HTMLResponse(html)

    async def questions(self, _: Request) -> Response:
        """Show what students ask, and what could not be matched."""
        self._list.refresh()
        asked = [(row, claim) for row in self._list.rows for claim in row.claims]
        asked.sort(key=lambda pair: pair[1].is_answered(pair[0].mark))
        html = render(
            "desk/templates/questions.html.j2",
            **self._common(Filter()),
            asked=asked,
            unmatched=self._list.unmatched,
            link=partial(self._link, wanted=Filter()),
        )
        return HTMLResponse(html)

    async def student(self, request: Request) -> Response:
        """Show a student."""
        self._list.refresh()
        row = self._row(request)
        claim = next((one for one in row.claims if one.id == request.query_params.get("claim")), None)
        if claim is not None:
            typed = Typed(claim.exercise, "comment", text=ANSWER.format(subject=claim.subject), by=self._desk.by)
        else:
            first = row.failing[0] if row.failing and not row.mark.held else self._abouts(row)[0][0]
            typed = Typed(request.query_params.get("about", first), by=self._desk.by)
        done = self._desk.saved.get(request.query_params.get("saved", ""), ())
        return self._page(row, Filter.of(request.query_params), typed, saved=done)

    async def save(self, request: Request) -> Response:
        """Save a decision, and return to the student's page."""
        self._list.refresh()
        row, wanted = self._row(request), Filter.of(request.query_params)
        actions: dict[str, Callable[[Row, Mapping[str, Any]], Sequence[str]]]
        actions = {"decide": self._decide, "accept": self._accept, "take-back": self._take_back}
        action = actions.get(request.path_params["action"])
        if action is None:
            raise HTTPException(404)
        return await self._saved(request, row, wanted, action, self._page)

    async def void(self, request: Request) -> Response:
        """Show which marks change if a check is void for everybody, and save that it is."""
        self._list.refresh()
        row, wanted = self._row(request), Filter.of(request.query_params)
        exercise, check = self._check(request, row)
        cells = {"exercise": exercise.id, "kind": "void", "value": check.id}
        title = f"{number(exercise.id)}, {check.title} ({points(check.max_score)} points)"
        return await self._for_everybody(request, row, wanted, cells, title)

    async def withdraw(self, request: Request) -> Response:
        """Show which marks change if a decision for everybody is taken back, and save that it is."""
        self._list.refresh()
        row, wanted = self._row(request), Filter.of(request.query_params)
        cells = {"exercise": request.path_params["exercise"], "kind": "withdraw", "value": request.path_params["what"]}
        return await self._for_everybody(request, row, wanted, cells, "Withdraw for everybody")

    async def _for_everybody(
        self, request: Request, row: Row, wanted: Filter, cells: Mapping[str, str], title: str
    ) -> Response:
        page = partial(self._everybody_page, cells=cells, title=title)
        if request.method == "POST":
            return await self._saved(request, row, wanted, partial(self._decide_for_everybody, cells=cells), page)
        return page(row, wanted, Typed(by=self._desk.by))

    async def _saved(
        self,
        request: Request,
        row: Row,
        wanted: Filter,
        action: Callable[[Row, Mapping[str, Any]], Sequence[str]],
        page: Callable[..., Response],
    ) -> Response:
        """Save what a form says, once, and go on to the student's page; or return a `page` that says why not."""
        async with request.form(max_files=1, max_fields=20, max_part_size=MOST_FORM) as form:
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
            files = {name: value for name, value in form.items() if isinstance(value, UploadFile)}
            once = self._desk.form(fields.get("key", ""))
            if once is None:
                return _problem(
                    "This desk did not make the form and saved nothing of it. Load the page again to see what counts.",
                    403,
                )
            upload = files.get("file")
            chosen = upload.filename or "" if upload is not None else ""
            typed = Typed(**{name: fields.get(name, "") for name in vars(Typed()) if name != "file"}, file=chosen)
            if once not in self._desk.saved:
                try:
                    content = await upload.read() if upload is not None else b""
                    self._desk.save(once, action(row, {**fields, "upload": (chosen, content)}))
                except DecidedMeanwhile as found:
                    self._list.refresh()
                    row = self._row(request)
                    return page(row, wanted, typed, status=409, meanwhile=found.sentences)
                except UsageError as error:
                    return page(row, wanted, typed, status=400, problem=str(error))
                except OSError as error:
                    sentence = f"Nothing was saved: {_reason(error)}. What you typed is below."
                    return page(row, wanted, typed, status=507, problem=sentence)
        to = self._link(row, wanted=wanted)
        return RedirectResponse(f"{to}{'&' if '?' in to else '?'}saved={once}#saved", 303)

    # What is saved.

    def _decide(self, row: Row, fields: Mapping[str, Any]) -> Sequence[str]:
        course = self._list.course
        words = {name: str(fields.get(name, "")) for name in ("exercise", "kind", "value", "text")}
        cells = {**words, "student": row.mark.student, "by": self._author(fields), "when": now(course)}
        self._reason(fields, "text")
        made = adjustment(course, self._list.roster, cells)
        refuse_time(made)
        append(course, [made], partial(self._refuse_if_decided, row, fields, made))
        return [ended(f"Saved: {made.sentence}"), *warnings_about(course, made)]

    def _decide_for_everybody(self, _: Row, fields: Mapping[str, Any], cells: Mapping[str, str]) -> Sequence[str]:
        made = self._made_for_everybody(cells, text=self._reason(fields, "text"), by=self._author(fields))
        known = self._list.adjustments()
        effect, kept = self._list.effect(made), kept_beside(self._list.course, known, [made])
        append(self._list.course, [made], partial(self._refuse_if_new, fields, made))
        changes = [f"{line}." for line in effect if line[:1] != " "]
        warnings = [*([ended(kept)] if kept else []), *warnings_about(self._list.course, made)]
        return [ended(f"Saved: {made.sentence}"), *changes, *warnings]

    def _made_for_everybody(self, cells: Mapping[str, str], *, text: str, by: str) -> Adjustment:
        course = self._list.course
        rest = {"student": EVERYBODY, "text": text, "by": by, "when": now(course)}
        return adjustment(course, self._list.roster, {**cells, **rest})

    def _refuse_if_new(self, fields: Mapping[str, Any], made: Adjustment) -> None:
        """Raise `DecidedMeanwhile` if there are decisions for everybody that the page of a form does not show."""
        known = self._list.adjustments()
        rows = _for_everybody(known)
        before = str(fields.get("seen", ""))
        if before != str(len(rows)):
            new = rows[int(before) :] if before.isdecimal() else rows
            raise DecidedMeanwhile([one.sentence for one in new])
        refuse_idle(made, known)

    def _accept(self, row: Row, fields: Mapping[str, Any]) -> Sequence[str]:
        name, content = fields["upload"]
        reason = self._reason(fields)
        if not name:
            raise UsageError("no file was chosen, expected a file of the course, or a zip of a whole hand-in")
        own = str(fields.get("name", ""))
        is_zip = name.lower().endswith(".zip")
        # The name is that of a file on the machine of a student: only its last part counts.
        kept = own or PureWindowsPath(PurePosixPath(one_line(name)).name).name or "file"
        self._refuse_if_decided(row, fields)
        with ending.temporary(lambda: Path(tempfile.mkdtemp(prefix="desk-"))) as folder:
            file = folder / ("hand-in.zip" if is_zip else kept)
            file.write_bytes(content)
            done = accept(
                self._list.course,
                self._list.roster,
                row.mark.student,
                file,
                name=own,
                assignment=row.run,
                reason=reason,
                by=self._author(fields),
            )
        beside = others_of_group(self._list.roster, done.student)
        again = "The next `course grade` uses it: run it again for this student."
        return [ended(f"Saved: {done.note}"), *([ended(beside)] if beside else []), again]

    def _take_back(self, row: Row, fields: Mapping[str, Any]) -> Sequence[str]:
        reason = self._reason(fields)
        self._refuse_if_decided(row, fields)
        student, name = row.mark.student, str(fields.get("name", ""))
        by = self._author(fields)
        withdraw(self._list.course, [student], name=name, assignment=row.run, reason=reason, by=by)
        what = name or "The other hand-in"
        return [f"{what} no longer counts.", "The next `course grade` uses the student's own: run it again."]

    def _refuse_if_decided(self, row: Row, fields: Mapping[str, Any], made: Adjustment | None = None) -> None:
        """Raise `DecidedMeanwhile` if there are decisions that the page of a form does not show."""
        known = self._list.adjustments()
        rows = [one for one in known.rows if one.student == row.mark.student]
        before, _, files = str(fields.get("seen", "")).partition(" ")
        held = self._accepted(row)
        if before != str(len(rows)) or files != _names(held):
            new = rows[int(before) :] if before.isdecimal() else rows
            kept = files.split("|")
            notes = [one.note for one in held if one.file not in kept]
            raise DecidedMeanwhile([*(one.sentence for one in new), *notes])
        if made is not None:
            refuse_idle(made, known)

    def _reason(self, fields: Mapping[str, Any], name: str = "reason") -> str:
        reason = one_line(str(fields.get(name, ""))).strip()
        if not reason:
            raise UsageError("the reason is empty, expected a sentence, which the student reads")
        return reason

    def _author(self, fields: Mapping[str, Any]) -> str:
        return author(str(fields.get("by", "")) or self._desk.by)

    # What a page has.

    def _page(
        self,
        row: Row,
        wanted: Filter,
        typed: Typed,
        *,
        status: int = 200,
        saved: Sequence[str] = (),
        problem: str = "",
        meanwhile: Sequence[str] = (),
    ) -> Response:
        mark = row.mark
        rows = [one for one in self._list.rows if wanted.takes(one)]
        everybody = self._list.rows
        at = everybody.index(row)
        earlier = [one for one in everybody[:at] if wanted.takes(one)]
        later = [one for one in everybody[at + 1 :] if wanted.takes(one)]
        submission, why_not = self._list.submission(row)
        known = self._list.adjustments()
        held = self._accepted(row)
        count = sum(one.student == mark.student for one in known.rows)
        html = render(
            "desk/templates/student.html.j2",
            **self._common(wanted),
            row=row,
            mark=mark,
            graded=self._list.runs[row.run],
            place=f"{len(earlier) + 1} of {len(rows)}" if row in rows else "",
            count=len(rows),
            before=self._link(earlier[-1], wanted=wanted) if earlier else "",
            after=self._link(later[0], wanted=wanted) if later else "",
            here=self._link(row, wanted=Filter()),
            key=self._desk.new_form,
            seen=f"{count} {_names(held)}",
            typed=typed,
            saved=saved,
            problem=problem,
            meanwhile=meanwhile,
            abouts=self._abouts(row),
            kinds={kind: KIND_TITLES[kind] for kind in KINDS if kind in KIND_TITLES},
            voids={(one.exercise, one.value) for one in known.of(EVERYBODY) if one.kind == "void"},
            may_be_void=_may_be_void,
            accepted=held,
            command=self._list.command_due(row),
            is_accepted=partial(self._list.is_accepted, row),
            times=self._times(row),
            others_of=[one for one in everybody if one.mark.student == mark.student and one is not row],
            files=self._list.runs[row.run].course.files,
            exercises=mark.report.exercises if mark.report is not None else (),
            lines=partial(self._lines, submission),
            why_not=why_not,
            card=partial(exercise_card, styled=False),
            others=_others,
            link=partial(self._link, wanted=wanted),
        )
        return HTMLResponse(html, status)

    def _everybody_page(
        self,
        row: Row,
        wanted: Filter,
        typed: Typed,
        *,
        cells: Mapping[str, str],
        title: str,
        status: int = 200,
        problem: str = "",
        meanwhile: Sequence[str] = (),
    ) -> Response:
        known = self._list.adjustments()
        try:
            made = self._made_for_everybody(cells, text="its reason", by="somebody")
        except UsageError:
            raise HTTPException(404) from None
        is_void = made.kind == "void"
        place = (made.exercise, made.kind, made.value)
        said = [one for one in known.of(EVERYBODY) if (one.exercise, one.kind, one.value) == place]
        said = said if is_void else withdrawable(made, known)
        html = render(
            "desk/templates/everybody.html.j2",
            **self._common(wanted),
            row=row,
            made=made,
            name=title,
            here=self._link(row, wanted=Filter()),
            back=self._link(row, wanted=wanted),
            key=self._desk.new_form,
            seen=str(len(_for_everybody(known))),
            typed=typed,
            problem=problem,
            meanwhile=meanwhile,
            said=said,
            is_open=bool(said) != is_void,
            effect=self._list.effect(made) if bool(said) != is_void else [],
            kept=kept_beside(self._list.course, known, [made]),
        )
        return HTMLResponse(html, status)

    def _check(self, request: Request, row: Row) -> tuple[ExerciseResult, CheckResult]:
        """Return the check in the address, with its exercise, if it may be void."""
        wanted = request.path_params["exercise"], request.path_params["check"]
        for exercise in row.mark.judged.exercises if row.mark.judged is not None else ():
            for check in exercise.checks:
                if (exercise.id, check.id) == wanted and _may_be_void(check):
                    return exercise, check
        raise HTTPException(404)

    def _common(self, wanted: Filter) -> dict[str, Any]:
        course = self._list.course
        return {
            "title": course.title,
            "wanted": wanted,
            "runs": {one.id: one.title for one in course.assignments if one.id in self._list.runs},
            "open_claims": sum(len(row.open_claims) for row in self._list.rows),
            "has_claims": any(row.claims for row in self._list.rows) or bool(self._list.unmatched),
        }

    def _row(self, request: Request) -> Row:
        run, student = request.path_params["run"], request.path_params["student"]
        row = self._list.find("" if run == "-" else run, student)
        if row is None:
            raise HTTPException(404)
        return row

    def _link(self, row: Row, *, wanted: Filter, claim: Claim | None = None, about: str = "") -> str:
        path = f"/student/{quote(row.run, safe='') or '-'}/{quote(row.mark.student, safe='')}"
        more = {"claim": claim.id if claim else "", "about": about}
        query = "&".join(filter(None, (wanted.query, *(f"{name}={value}" for name, value in more.items() if value))))
        return f"{path}?{query}" if query else path

    def _score(self, row: Row) -> str:
        """Return the final score, and its maximum."""
        if row.mark.score is None:
            return "excused" if row.mark.excused else "–"
        return f"{points(row.mark.score)} of {points(self._list.runs[row.run].policy.maximum)}"

    def _abouts(self, row: Row) -> list[tuple[str, str]]:
        """Return what a decision may be about, with its title."""
        run = self._list.runs[row.run].course
        every = "every assignment" if run.assignments else "all exercises together"
        whole = [(row.run, "the whole assignment")] if row.run else []
        exercises = [(one.id, f"{number(one.id)} {one.title}") for one in run.exercises]
        return [*whole, *([] if row.run else [(WHOLE, every)]), *exercises, *([(WHOLE, every)] if row.run else [])]

    def _times(self, row: Row) -> list[tuple[str, str]]:
        """Return when the work was due and handed in, as far as that is known."""
        policy = self._list.runs[row.run].policy
        times = {
            "handed in": row.mark.final.handed_in if row.mark.final else None,
            "due": due_date(policy, row.mark.student),
        }
        zone = policy.grading.zone
        return [(name, f"{time.astimezone(zone):%Y-%m-%d %H:%M}") for name, time in times.items() if time is not None]

    def _accepted(self, row: Row) -> tuple[Any, ...]:
        return decisions_that_hold(self._list.course, row.run).get(row.mark.student, ())

    def _lines(self, submission: Submission | None, exercise: ExerciseResult) -> list[CodeLine]:
        """Return the lines of what was handed in for an exercise, those that a finding points to marked."""
        file = f"{exercise.id}.py"
        source = submission.sources.get(file) if submission is not None else None
        if submission is None or source is None:
            return []
        places: dict[str, list[tuple[str, int, int]]] = {}
        for check in exercise.checks:
            place = check.finding.place if check.finding is not None and check.status != "pass" else None
            if check.finding is None or place is None or PurePosixPath(place.file).stem != exercise.id:
                continue
            label = check.finding.label or one_line(message_of(check.status, check.finding))
            known = places.setdefault(place.line_name, [])
            if label not in [one[0] for one in known]:
                known.append((label, place.column or 0, place.end or 0))
        text = source.decode("utf-8", "replace").splitlines()[:MOST_LINES]
        return [_code_line(at, line, places.get(submission.place(file, at), ())) for at, line in enumerate(text, 1)]


def _may_be_void(check: CheckResult) -> bool:
    """Say whether a check has points that somebody can lose."""
    return bool(check.max_score) and not check.bonus


def _for_everybody(known: Adjustments) -> list[Adjustment]:
    return [one for one in known.rows if one.is_for_everybody]


def _failing(row: Row) -> str:
    """Return the numbers of the exercises that do not pass."""
    exercises = row.mark.judged.exercises if row.mark.judged is not None else ()
    left = len(row.failing)
    return "all" if left == len(exercises) > 1 else ", ".join(map(number, row.failing))


def _code_line(at: int, line: str, places: Sequence[tuple[str, int, int]]) -> CodeLine:
    _, start, end = places[0] if places else ("", 0, 0)
    # A character that is shown as its escape has another width, so such a line is marked as a whole.
    is_plain = printable(line) == line
    labels = tuple(label for label, _, _ in places)
    return CodeLine(at, line, labels, start if is_plain else 0, end if is_plain else 0)


def _others(exercise: ExerciseResult) -> list[tuple[CheckResult, Any]]:
    """Return the checks that fail besides the one on the card, with what failed."""
    first = exercise.first_failure
    return [
        (check, failure_view(check))
        for check in exercise.checks
        if check is not first and check_state(check).mark == "failed"
    ]


def _names(held: Sequence[Any]) -> str:
    return "|".join(one.file for one in held)


# The server.


def serve(worklist: Worklist, by: str, port: int, say: Callable[[str], object], *, browser: bool) -> None:
    """Serve the desk on this machine until a signal ends it. Raises `UsageError` if the port is taken."""
    with listen(port) as listener:
        desk = Desk(worklist, by, f"{HOST}:{listener.getsockname()[1]}")
        server = LocalServer(application(desk), listener)
        with ending.by_itself(server.stop), server:
            say(f"The desk has {plural(len(worklist.rows), 'mark')}. Its address, for you alone; Ctrl-C ends it:")
            print(desk.access.address(desk.access.secret), flush=True)  # in one piece, also on a narrow terminal
            if browser:
                desk.access.open_browser()
            server.wait()
        say("The desk is closed. Every decision that was saved is in adjustments.csv")
