"""The pages of a desk: who reaches them, that no text of a student is markup, and that a decision is saved once."""

import argparse
import errno
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("python_multipart")

from starlette.testclient import TestClient

from autograder.cli import MOST_FORM
from autograder.cli.local_page import CONFINED
from autograder.course import UsageError, read_course
from autograder.desk import command_desk
from autograder.desk.app import MOST_ROWS, Desk, application
from autograder.desk.worklist import Filter, Worklist, _row
from autograder.gradebook import (
    Mark,
    Student,
    adjustment,
    append,
    effect_of,
    now,
    read_adjustments,
    read_graded,
    read_roster,
)
from tests.support import export_examples as classes
from tests.support import tiny
from tests.support.elements import in_backticks

if TYPE_CHECKING:
    from autograder.cli import CommandParser

HOST = "127.0.0.1:8000"
ORIGIN = f"http://{HOST}"
EVIL = '</title><script>alert("x")</script>\'"><img src=x onerror=alert(1)> & \u202egnp\x07\x1b[31m'


class Client:
    """A browser that opened the desk."""

    def __init__(self, course: Path, out: Path | None = None, **options: Any) -> None:
        self.course = course
        self.desk = Desk(Worklist(course, out or course.parent / "out", **options), "Grace Hopper", HOST)
        self.desk.worklist.refresh()
        self.http = TestClient(application(self.desk), base_url=ORIGIN, follow_redirects=False)
        self.get(f"/?token={self.desk.access.secret}")

    def get(self, address: str, **headers: str) -> str:
        answer = self.http.get(address, headers={name.replace("_", "-"): value for name, value in headers.items()})
        assert answer.status_code == 200, answer.text
        return answer.text

    def form(self, student: str, action: str = "decide", run: str = "-") -> dict[str, str]:
        """Return the hidden fields of the first form of a student's page with an action."""
        page = self.get(f"/student/{run}/{quote(student, safe='')}")
        form = page[page.index(f'/{action}"') :]
        names = ("key", "seen")
        return {name: unescape(re.search(rf'name="{name}" value="([^"]*)"', form)[1]) for name in names}  # type: ignore[index]

    def post(self, student: str, fields: Mapping[str, str], action: str = "decide", **options: Any) -> Any:
        address = f"/student/-/{quote(student, safe='')}/{action}"
        return self.http.post(address, data=fields, headers={"Origin": ORIGIN}, **options)

    def decide(self, student: str, exercise: str, kind: str, value: str = "", text: str = "why") -> Any:
        fields = {"exercise": exercise, "kind": kind, "value": value, "text": text}
        return self.post(student, {**self.form(student), **fields})

    @property
    def rows(self) -> list[str]:
        """The rows of adjustments.csv."""
        file = self.course / "adjustments.csv"
        return file.read_text("utf-8").splitlines()[1:] if file.is_file() else []


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """A graded class in which nobody's report needs another grading."""
    return classes.graded_class(tmp_path)


@pytest.fixture
def client(graded: Path) -> Client:
    return Client(graded)


def words(page: str) -> str:
    """Return the words of a page, with code in backticks."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", re.sub("</?code>", "`", page))).split())


# Who reaches the pages.


def test_the_token_becomes_a_cookie_that_only_this_page_sends(graded: Path) -> None:
    client = Client(graded)
    client.http.cookies.clear()
    assert client.http.get("/").status_code == 403
    wrong = client.http.get("/?token=wrong")
    assert wrong.status_code == 403
    assert "set-cookie" not in wrong.headers
    right = client.http.get(f"/?token={client.desk.access.secret}")
    cookie = right.headers["set-cookie"].lower()
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in cookie.split(";")}
    assert client.desk.access.secret not in right.text
    assert client.desk.access.secret not in cookie
    assert 'content="0; url=/"' in right.text
    assert client.http.get("/").status_code == 200


def test_the_token_of_a_browser_that_was_opened_is_good_for_one_visit(client: Client) -> None:
    ticket = client.desk.access.ticket()
    assert client.http.get(f"/?token={ticket}").status_code == 200
    assert client.http.get(f"/?token={ticket}").status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example:8000"}, 421),
        ({"Host": "localhost:8000"}, 421),
        ({"Host": "127.0.0.1:8001"}, 421),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
        ({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Cookie": "desk-8000=wrong"}, 403),
    ],
)
def test_a_request_of_another_page_or_name_is_refused(client: Client, headers: Mapping[str, str], status: int) -> None:
    if "Cookie" in headers:
        client.http.cookies.clear()
    answer = client.http.get("/", headers=headers)
    assert answer.status_code == status
    assert ("Ada" in answer.text) == (status == 200)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://127.0.0.1:8001"},
        {"Origin": "null"},
        {"Origin": "https://evil.example"},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_no_other_page_sends_a_form(client: Client, headers: Mapping[str, str]) -> None:
    fields = {**client.form("bob"), "exercise": "1", "kind": "points", "value": "3", "text": "why"}
    assert client.http.post("/student/-/bob/decide", data=fields, headers=headers).status_code == 403
    assert client.rows == []


@pytest.mark.parametrize("key", ["", "abc", "abc.def", None])
def test_a_form_of_another_desk_is_refused(client: Client, key: str | None, tmp_path: Path) -> None:
    other = Client(client.course)
    fields = {**client.form("bob"), "exercise": "1", "kind": "points", "value": "3", "text": "why"}
    answer = client.post("bob", {**fields, "key": other.desk.new_form() if key is None else key})
    assert answer.status_code == 403
    assert "saved nothing of it" in answer.text
    assert client.rows == []


def test_a_form_without_a_size_or_with_too_many_bytes_is_not_read(client: Client) -> None:
    fields = {**client.form("bob"), "exercise": "1", "kind": "comment", "text": "x" * MOST_FORM}
    assert client.post("bob", fields).status_code == 413
    chunks = client.http.post("/student/-/bob/decide", content=iter([b"text=x"]), headers={"Origin": ORIGIN})
    assert chunks.status_code == 413
    assert client.rows == []


def test_every_answer_has_the_headers_that_confine_it(client: Client) -> None:
    for address in ("/", "/student/-/ada", "/questions", "/desk.css", "/desk.js", "/favicon.ico", "/nowhere"):
        answer = client.http.get(address)
        assert {name: answer.headers.get(name) for name in CONFINED} == CONFINED, address
        assert not re.search(r"<script(?! src=\"/desk\.js\")|<style| on\w+=|style=|https?://", answer.text), address
    assert client.http.get("/student/-/nobody").status_code == 404
    assert client.http.get("/student/week9/ada").status_code == 404


def test_hostile_names_messages_and_files_are_words(tmp_path: Path) -> None:
    roster = f'student,name\nbob,"{EVIL.replace(chr(34), chr(34) * 2)}"\neve,Eve\n'
    course = classes.graded_class(tmp_path, roster)
    classes.write_out(course, tmp_path / "out", {"bob": classes.report("bob", {"values": "fail"}, EVIL)})
    folder = tmp_path / "handed in" / "bob"
    folder.mkdir(parents=True)
    (folder / tiny.FILES[0]).write_text(f"# {EVIL}\n" * 30, "utf-8")
    claims = tmp_path / "claims"
    claims.mkdir()
    (claims / "<b>.txt").write_text(
        f"student: bob\nexercise: 1\ncheck: values\nmy question: {EVIL}\nstudent: {EVIL}\nexercise: 1\ncheck: 2",
        "utf-8",
    )
    client = Client(course, submissions=folder.parent, claims=claims)
    assert client.decide("bob", "1", "comment", text=EVIL).status_code == 303
    for address in ("/", f"/?q={quote(EVIL)}", "/student/-/bob", "/questions"):
        page = client.get(address)
        assert "<script>" not in page
        assert "<img" not in page
        assert "<b>.txt" not in page
        assert not re.search("[\u202e\x07\x1b]", page)
    assert EVIL.split("\u202e")[0] in words(client.get("/student/-/bob"))


# What is shown.


def test_what_stands_in_backticks_is_code_on_every_page(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    said = classes.report("bob", {"values": "fail", "axes": "fail"}, "Divide by `size`.")
    classes.write_out(course, tmp_path / "out", {"bob": said})
    (tmp_path / "claims").mkdir()
    for number, exercise in enumerate(("1", "77")):
        text = f"student: bob\nexercise: {exercise}\ncheck: values\nmy question: Is `size` wrong?"
        (tmp_path / "claims" / f"{number}.txt").write_text(text)
    client = Client(course, claims=tmp_path / "claims", submissions=tmp_path)
    client.decide("bob", "1", "comment", text="See `size`.")
    for address in ("/", "/student/-/bob", "/questions", f"/student/-/bob/void/{tiny.FIRST}/values"):
        assert in_backticks(client.get(address)) == [], address
    assert "<code>size</code>" in client.get("/student/-/bob")
    assert "<code>size</code>" in client.get("/questions")
    assert "`size`" in client.decide("bob", "1", "add", "many", text="See `size`.").text, "a field keeps them"


def test_filters_are_in_the_address_and_the_neighbours_are_those_of_the_filter(client: Client) -> None:
    def names(query: str) -> list[str]:
        return re.findall(r'<a class="row" href="/student/-/([^"?]*)', client.get(f"/?{query}"))

    assert names("") == ["ada", "bob", "eve", "fay", "%3Dcmd", "zoe"]
    assert names("q=ÜNAL") == names("q=unal") == ["bob"]
    assert names("q=lovelace ada") == ["ada"]
    assert names("show=late") == ["bob"]
    roster = client.course / "roster.csv"
    lines = roster.read_text("utf-8").splitlines()
    roster.write_text(
        "".join(f"{line},{'group' if at == 0 else 'Red' if at == 1 else ''}\n" for at, line in enumerate(lines))
    )
    assert names("q=red") == [lines[1].split(",")[0]]
    assert names("show=missing") == ["zoe"]
    assert names("show=look") == ["fay"]
    assert names(f"exercise={tiny.FIRST}") == ["bob", "eve", "fay", "%3Dcmd"]
    assert names("misconception=none") == []
    page = client.get(f"/student/-/eve?exercise={tiny.FIRST}")
    assert f'rel="prev" href="/student/-/bob?exercise={tiny.FIRST}"' in page
    assert f'rel="next" href="/student/-/fay?exercise={tiny.FIRST}"' in page
    assert "2 of 4" in page
    # One who no longer fits the filter still has neighbours.
    assert 'rel="next" href="/student/-/bob?show=late"' in client.get("/student/-/ada?show=late")


def test_what_was_handed_in_stands_beside_its_findings_with_the_line_marked(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    folder = tmp_path / "handed in" / "bob"
    folder.mkdir(parents=True)
    (folder / tiny.FILES[0]).write_text("".join(f"line_{at} = {at}\n" for at in range(1, 31)), "utf-8")
    page = Client(course, submissions=folder.parent).get("/student/-/bob")
    [wrong] = re.findall(r'<span class="wrong">(.*?)</span>', page, re.DOTALL)
    assert words(wrong) == "▸ 19 line_19 = 19 The running sum is not divided."
    assert "course desk OUT DIR" in Client(course).get("/student/-/bob")


def test_a_hand_in_that_was_changed_since_is_not_shown(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    report = classes.report("bob", {"values": "fail"})
    report = replace(report, submission={**report.submission, "digest": "sha256:1"})
    classes.write_out(course, tmp_path / "out", {"bob": report})
    folder = tmp_path / "handed in" / "bob"
    folder.mkdir(parents=True)
    (folder / tiny.FILES[0]).write_text("secret = 1\n", "utf-8")
    page = Client(course, submissions=folder.parent).get("/student/-/bob")
    assert "was changed since it was graded" in page
    assert "secret" not in page


def test_a_question_about_the_hand_in_stands_beside_the_mark(tmp_path: Path) -> None:
    claims = tmp_path / "claims.txt"
    claims.write_text("student: ada\nmy question: Why late?", "utf-8")
    client = Client(classes.graded_class(tmp_path), claims=claims)
    assert "the hand-in open claims.txt Why late?" in words(client.get("/questions"))
    claims.write_text(f"student: bob\nexercise: {tiny.FIRST}\ncheck: values\nmy question: a", "utf-8")
    assert "01, values" in words(client.get("/questions"))
    claims.write_text("student: ada\nmy question: Why late?", "utf-8")
    page = client.get("/student/-/ada")
    assert "A question about the hand-in open claims.txt Why late? Answer it" in words(
        page.partition("Decisions that")[0]
    )
    [claim] = client.desk.worklist.find("", "ada").claims
    assert "Your question about the hand-in: </textarea>" in client.get(f"/student/-/ada?claim={claim.id}")


def test_a_large_class_is_shown_in_parts(tmp_path: Path) -> None:
    names = [f"s{at:03}" for at in range(MOST_ROWS + 20)]
    course = classes.graded_class(tmp_path, None)
    classes.write_out(course, tmp_path / "out", {name: classes.report(name, {}) for name in names})
    client = Client(course)
    assert client.get("/").count('class="row"') == MOST_ROWS
    assert f"{len(names)} marks, the first {MOST_ROWS} are shown: show all" in words(client.get("/"))
    assert client.get("/?rows=all").count('class="row"') == len(names)
    assert f"{MOST_ROWS + 20} of {MOST_ROWS + 20}" in client.get(f"/student/-/{names[-1]}")


def test_a_term_has_a_row_for_each_assignment(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    term = tmp_path / "term"
    text = (course / "course.toml").read_text("utf-8")
    assignments = "".join(
        f'[[assignments]]\nid = "week{at}"\ntitle = "Week {at}"\nexercises = ["{exercise}"]\n'
        for at, exercise in ((1, tiny.FIRST), (2, tiny.SECOND))
    )
    (course / "course.toml").write_text(f"{text}\n{assignments}", "utf-8")
    (course / "roster.csv").unlink()
    for at in range(2):
        own = classes.report("bob", {"values": "fail"} if at == 0 else {})
        own = replace(own, exercises=(own.exercises[at],))
        classes.write_out(course, term / f"of week {at + 1}", {"bob": own}, assignment=f"week{at + 1}")
    asked = "student: bob\nexercise: week1\nmy question: a\nstudent: bob\nmy question: b"
    (tmp_path / "claims.txt").write_text(asked, "utf-8")
    client = Client(course, out=term, claims=tmp_path / "claims.txt")
    assert client.get("/").count('class="row"') == 2
    assert [(claim.exercise, claim.question) for claim in client.desk.worklist.find("week1", "bob").claims] == [
        ("week1", "a")
    ]
    assert "it names no assignment; expected a line" in client.desk.worklist.unmatched[0][1]
    page = client.get("/student/week1/bob?assignment=week1")
    assert '<option value="week1">the whole assignment' in page
    assert "1 of 1" in page
    fields = {**client.form("bob", run="week2"), "exercise": "week2", "kind": "points", "value": "5", "text": "why"}
    address = "/student/week2/bob/decide"
    assert client.http.post(address, data=fields, headers={"Origin": ORIGIN}).status_code == 303
    assert client.rows[0].startswith("bob,week2,points,5,why,")
    page = words(client.get("/student/week2/bob"))
    assert "5 of 60 points" in page
    assert "Also of this student: week1" in page
    page = words(client.get(f"/student/week1/bob/void/{tiny.FIRST}/values"))
    assert "week1: 1 of 1 student gets another mark, by +17.14" in page
    assert "week2:" not in page
    assert client.http.get("/student/week3/bob").status_code == 404


# What is saved.


def test_a_decision_is_a_row_as_the_command_writes_it_and_the_mark_follows(client: Client) -> None:
    answer = client.decide("bob", "1", "points", "12.5", 'right, "too" strict')
    assert answer.status_code == 303
    [row] = client.rows
    when = now(read_course(client.course))[:10]
    assert row.startswith(f'bob,{tiny.FIRST},points,12.5,"right, ""too"" strict",Grace Hopper,{when}')
    page = client.get(answer.headers["location"].partition("#")[0])
    assert "Saved: 12.5 points for exercise 01, by Grace Hopper" in words(page)
    assert "decided 12.5 points for exercise 01, by Grace Hopper" in words(page)
    assert "handed in 2026-03-03 00:10, due 2026-03-01 23:59" in words(page)
    course = read_course(client.course)
    read = read_graded(course, read_roster(course, None), client.course.parent / "out")
    score = {mark.student: mark.score for mark in read.marks}["bob"]
    assert f"{score / 100:g} of 100 points" in words(page)


def test_a_page_has_the_due_date_without_the_minutes_of_grace(client: Client) -> None:
    tiny.replaced(client.course / "course.toml", "late_percent = 10", "late_percent = 10\ngrace_minutes = 30")
    assert "due 2026-03-01 23:59" in words(client.get("/student/-/bob"))


def test_the_warnings_are_those_of_the_command(client: Client) -> None:
    page = client.get(client.decide("bob", "1", "points", "50").headers["location"].partition("#")[0])
    assert "bob: 50 points for exercise 01 are more than its 40, and they count" in words(page)


def test_a_decision_is_withdrawn_and_the_mark_is_as_before(client: Client) -> None:
    before = re.search(r'<p class="total">.*?</p>', client.get("/student/-/fay"))[0]  # type: ignore[index]
    client.decide("fay", "1", "points", "12")
    assert before not in client.get("/student/-/fay")
    fields = {"exercise": tiny.FIRST, "kind": "withdraw", "value": "points", "text": ""}
    assert client.post("fay", {**client.form("fay"), **fields}).status_code == 400
    fields["text"] = "a mistake"
    assert client.post("fay", {**client.form("fay"), **fields}).status_code == 303
    assert before in client.get("/student/-/fay")
    answer = client.post("fay", {**client.form("fay"), **fields})
    assert answer.status_code == 400
    assert "nothing like that counts for fay" in words(answer.text)


def test_each_row_has_a_button_that_takes_it_back_alone(client: Client) -> None:
    for text in ("alpha", "beta", "gamma"):
        assert client.decide("fay", "1", "add", "1", text).status_code == 303
    page = client.get("/student/-/fay")
    start = page.index("alpha</p>")
    value = re.search(r'name="value" value="(add [^"]*)"', page[start:])[1]  # type: ignore[index]
    fields = {"exercise": tiny.FIRST, "kind": "withdraw", "value": value, "text": "a mistake"}
    answer = client.post("fay", {**client.form("fay"), **fields})
    page = words(client.get(answer.headers["location"].partition("#")[0]))
    assert "Saved: one add withdrawn for exercise 01" in page
    assert ["alpha" in page, "beta" in page, "gamma" in page] == [False, True, True]


def test_nobody_hands_in_later_than_now(client: Client) -> None:
    answer = client.decide("fay", "*", "handed_in", "2999-01-01 10:00")
    assert answer.status_code == 400
    assert "nobody hands in later than now" in words(answer.text)
    assert client.rows == []


@pytest.mark.parametrize("word", ["celik", "ÇELİK", "Celık", "lodz", "muller"])
def test_a_name_is_found_without_its_accents(word: str) -> None:
    row = _row("", Mark(Student("s1", "Łódź Çelik-Müller")), (), {}, ())
    assert Filter(q=word).takes(row)


@pytest.mark.parametrize(
    ("kind", "value", "text", "sentence"),
    [
        ("points", "many", "why", "value is many, expected a number of points"),
        ("points", "3", "", "the reason is empty, expected a sentence, which the student reads"),
        ("extension", "3", "why", "extension is for all exercises together, not for exercise 01"),
        ("praise", "", "why", "kind is praise; expected one of points"),
    ],
)
def test_a_decision_with_a_mistake_is_a_sentence_and_the_form_stays(
    client: Client, kind: str, value: str, text: str, sentence: str
) -> None:
    answer = client.decide("bob", "1", kind, value, text)
    assert answer.status_code == 400
    assert sentence in words(answer.text)
    assert f'name="value" value="{value}"' in answer.text
    assert client.rows == []


def test_a_form_that_is_sent_twice_counts_once(client: Client) -> None:
    fields = {**client.form("bob"), "exercise": "1", "kind": "add", "value": "2", "text": "why"}
    first, second = client.post("bob", fields), client.post("bob", fields)
    assert (first.status_code, second.status_code) == (303, 303)
    assert first.headers["location"] == second.headers["location"]
    assert len(client.rows) == 1


def test_what_another_desk_decided_meanwhile_is_shown_before_it_is_replaced(client: Client) -> None:
    other = Client(client.course)
    fields = {**client.form("bob"), "exercise": "1", "kind": "points", "value": "9", "text": "mine"}
    assert other.decide("bob", "1", "points", "20", "theirs").status_code == 303
    refused = client.post("bob", fields)
    assert refused.status_code == 409
    assert "20 points for exercise 01, by Grace Hopper" in words(refused.text)
    assert "mine" in refused.text
    assert len(client.rows) == 1
    form = refused.text[refused.text.index('/decide"') :]
    again = {name: re.search(rf'name="{name}" value="([^"]*)"', form)[1] for name in ("key", "seen")}  # type: ignore[index]
    assert client.post("bob", {**fields, **again}).status_code == 303
    assert [row.split(",")[3] for row in client.rows] == ["20", "9"]


def test_what_was_typed_stays_whole_however_long_it_is(client: Client) -> None:
    reason = "a long reason " * 200
    answer = client.decide("bob", "1", "points", "many", reason)
    assert answer.status_code == 400
    assert reason in answer.text


def test_two_desks_and_a_command_at_once_lose_nothing(graded: Path) -> None:
    course = read_course(graded)
    roster = read_roster(course, None)

    def by_command() -> None:
        for at in range(10):
            cells = {"student": "ada", "exercise": "1", "kind": "add", "value": f"0.{at}", "text": "command"}
            append(course, [adjustment(course, roster, {**cells, "by": "Alan", "when": "2026-03-01 12:00"})])

    def by_desk(student: str) -> None:
        desk = Client(graded)
        for at in range(10):
            assert desk.decide(student, "1", "add", f"1.{at}").status_code == 303

    threads = [Thread(target=by_command), *(Thread(target=by_desk, args=(name,)) for name in ("bob", "zoe"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = read_adjustments(course).rows
    assert len(rows) == 30
    assert {student: sum(row.student == student for row in rows) for student in ("ada", "bob", "zoe")} == {
        "ada": 10, "bob": 10, "zoe": 10,
    }  # fmt: skip


KILLED = """
import os, signal, sys
from pathlib import Path
from autograder.course import read_course
from autograder.gradebook import adjustment, append, read_roster
course = read_course(Path(sys.argv[1]))
cells = dict(zip(("student", "exercise", "kind", "value", "text", "by", "when"), sys.argv[2:]))
row = adjustment(course, read_roster(course, None), cells)
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
append(course, [row])
"""


@pytest.mark.worker
def test_a_process_that_is_killed_in_the_middle_of_a_save_leaves_no_half_row(client: Client) -> None:
    client.decide("bob", "1", "add", "2")
    before = client.rows
    row = ("bob", "1", "add", "3", "why", "Alan", "2026-03-01 12:00")
    ended = subprocess.run([sys.executable, "-c", KILLED, client.course, *row], check=False, cwd=tiny.REPOSITORY)
    assert ended.returncode == -signal.SIGKILL
    assert client.rows == before
    assert client.decide("bob", "1", "add", "4").status_code == 303
    assert len(client.rows) == 2


def test_a_full_disk_is_a_sentence_and_what_was_typed_stays(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.decide("bob", "1", "add", "2")
    fields = {**client.form("bob"), "exercise": "1", "kind": "comment", "value": "", "text": "a long reason"}

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(client.course / "adjustments.csv"))

    with monkeypatch.context() as patched:
        patched.setattr("autograder.gradebook.decisions.write_atomically", full)
        answer = client.post("bob", fields)
    assert answer.status_code == 507
    assert "Nothing was saved: adjustments.csv: No space left on device." in words(answer.text)
    assert "a long reason" in answer.text
    assert str(client.course) not in answer.text
    assert len(client.rows) == 1
    assert client.post("bob", fields).status_code == 303


def test_a_corrected_file_is_accepted_and_taken_back(client: Client) -> None:
    def send(name: str, **fields: str) -> Any:
        own = {**client.form("bob", "accept"), **fields}
        return client.post("bob", own, "accept", files={"file": (name, b"x = 1\n", "text/x-python")})

    answer = send(f"C:\\work\\{tiny.FILES[0]}", reason="sent by mail")
    assert answer.status_code == 303
    assert (client.course / "accepted" / "bob" / "001" / tiny.FILES[0]).read_bytes() == b"x = 1\n"
    page = words(client.get("/student/-/bob"))
    assert f"{tiny.FILES[0]} was accepted by Grace Hopper" in page
    assert "It counts for" not in page
    (client.course / "roster.csv").write_text("student,group\nbob,red\nada,red\n")
    page = words(client.get(send(tiny.FILES[0], reason="again").headers["location"].partition("#")[0]))
    assert "It counts for this student alone, not for the group red." in page
    assert "It counts for bob alone, not for ada; for the whole group: `course accept red FILE`." in page
    refused = send("../../evil.py", reason="why")
    assert refused.status_code == 400
    assert "evil.py is no file of the course" in words(refused.text)
    assert "reason is empty" in words(send(tiny.FILES[0], reason="").text)
    fields = {**client.form("bob", "take-back"), "name": tiny.FILES[0], "reason": "a mistake"}
    assert client.post("bob", fields, "take-back").status_code == 303
    assert "was accepted" not in client.get("/student/-/bob")


def test_an_accepted_file_is_a_decision_and_the_command_that_counts_it_can_be_copied(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    folder = tmp_path / "handed in" / "bob"
    folder.mkdir(parents=True)
    (folder / tiny.FILES[0]).write_text("y = 2\n", "utf-8")
    (tmp_path / "claims.txt").write_text(
        f"student: bob\nexercise: {tiny.FIRST}\ncheck: values\nmy question: a\nstudent: bob\nmy question: b", "utf-8"
    )
    client = Client(course, submissions=folder.parent, claims=tmp_path / "claims.txt")
    assert "None." in words(client.get("/student/-/bob"))
    assert "as handed in" in client.get("/student/-/bob")
    assert "course grade" not in client.get("/student/-/bob")
    assert client.get("/?show=decided").count('class="row"') == 0
    for subject, states in (("another", [False, False]), ("values", [True, False]), ("the hand-in", [True, True])):
        fields = {**client.form("bob", "accept"), "reason": f"Your question about {subject}: right"}
        assert client.post("bob", fields, "accept", files={"file": (tiny.FILES[0], b"x = 1\n")}).status_code == 303
        client.get("/")
        row = client.desk.worklist.find("", "bob")
        assert [claim.is_answered(row.mark) for claim in row.claims] == [
            states[0] and subject == "values",
            states[1],
        ]
    page = client.get("/student/-/bob")
    assert "None." not in words(page)
    assert client.get("/?show=decided").count('class="row"') == 1
    command = f"course grade '{folder.parent}' --out {tmp_path / 'out'}"
    assert unescape(re.search(r"<pre tabindex=\"0\">(course .*?)</pre>", page)[1]) == command  # type: ignore[index]
    assert "y = 2" in page, "what was graded is shown until the next grading"
    assert "as handed in" in page
    note = client.desk.worklist.find("", "bob").mark.accepted[0].note
    report = classes.report("bob", {"values": "fail"})
    report = replace(report, submission={**report.submission, "notes": [note]})
    classes.write_out(course, tmp_path / "out", {"bob": report})
    page = client.get("/student/-/bob")
    assert "x = 1" in page
    assert f"{tiny.FIRST}.py, as accepted" in page
    assert "course grade" not in page


def test_a_file_that_was_chosen_must_be_chosen_again_where_the_form_is_refused(client: Client) -> None:
    fields = {**client.form("bob", "accept"), "reason": "sent by mail"}
    assert client.decide("bob", "1", "comment").status_code == 303
    refused = client.post("bob", fields, "accept", files={"file": (tiny.FILES[0], b"x = 1\n")})
    assert refused.status_code == 409
    page = words(refused.text)
    assert "Your form is as you filled it in, but the file must be chosen again. Save it again" in page
    assert f"Choose {tiny.FILES[0]} again: a page cannot keep a file." in page
    assert "must be chosen again" not in client.get("/student/-/bob")


def test_a_folder_without_the_hand_ins_is_named(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    other = tmp_path / "other"
    (other / "stranger").mkdir(parents=True)
    (other / "stranger" / tiny.FILES[0]).write_text("x = 1\n", "utf-8")
    said = "other has no hand-in of a student who was graded, so no file is shown; name the folder that `course grade`"
    assert said in words(Client(course, submissions=other).get("/"))
    (other / "stranger").rename(other / "bob")
    assert "has no hand-in of a student" not in Client(course, submissions=other).get("/")


def test_a_file_of_decisions_with_a_mistake_is_a_sentence_until_it_is_mended(client: Client) -> None:
    client.decide("bob", "1", "add", "2")
    file = client.course / "adjustments.csv"
    right = file.read_text("utf-8")
    file.write_text(right + "bob,1,points,many,why,Alan,2026-03-01 12:00\n", "utf-8")
    answer = client.http.get("/")
    assert answer.status_code == 409
    assert "value is many" in answer.text
    file.write_text(right, "utf-8")
    client.get("/")


def test_a_student_who_left_keeps_what_was_decided_and_the_desk_goes_on(client: Client) -> None:
    assert client.decide("bob", "1", "points", "12").status_code == 303
    assert client.decide("zoe", "1", "points", "12").status_code == 303
    roster = (client.course / "roster.csv").read_text("utf-8").splitlines(keepends=True)
    left = [line for line in roster if not line.startswith(("bob", "zoe"))]
    (client.course / "roster.csv").write_text("".join(left), "utf-8")
    page = words(client.get("/"))
    assert "adjustments.csv has decisions about 2 students not on the roster: bob and zoe;" in page
    assert "12 points for exercise 01" in words(client.get("/student/-/bob"))
    assert client.decide("ada", "1", "points", "12").status_code == 303


def test_what_a_new_grading_changed_is_shown(client: Client) -> None:
    assert "bob" in client.get("/?show=late")
    classes.write_out(client.course, client.course.parent / "out", {"ada": classes.report("ada", {"values": "fail"})})
    page = client.get("/")
    assert "6 marks" not in page
    (client.course.parent / "out" / "scores.csv").unlink()
    assert "is not a finished run" in client.http.get("/").text


def test_the_command_uses_the_roster_that_was_chosen_before(graded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = graded.parent / "groups.csv"
    other.write_text("canvas_user_id,group_name\n123,Group 1\n124,\n", "utf-8")
    (graded / ".course").mkdir(exist_ok=True)
    (graded / ".course" / "roster").write_text(f"{other}\n", "utf-8")
    seen: list[Worklist] = []
    monkeypatch.setattr("autograder.desk.app.serve", lambda worklist, *_, **__: seen.append(worklist))
    monkeypatch.chdir(graded)
    parser = argparse.ArgumentParser(exit_on_error=False)
    command_desk.add_options(cast("CommandParser", parser))
    assert command_desk.run(parser.parse_args(["../out", "--by", "Grace"])) == 0
    [worklist] = seen
    assert worklist.roster["ada"].group == "Group 1"
    other.write_text("canvas_user_id,group_name\n123,Group 2\n124,\n", "utf-8")
    worklist.refresh()
    assert worklist.roster["ada"].group == "Group 2"
    tiny.replaced(graded / "roster.csv", "Bob Ünal", "Bob Uenal")
    worklist.refresh()
    assert worklist.roster["bob"].name == "Bob Uenal"


# A check that is void for everybody.


def void_form(client: Client, check: str = "values") -> dict[str, str]:
    """Return the hidden fields of the form of a check, as the page of bob leads to it."""
    page = client.get(f"/student/-/bob/void/{tiny.FIRST}/{check}")
    return {name: re.search(rf'name="{name}" value="([^"]*)"', page)[1] for name in ("key", "seen")}  # type: ignore[index]


def void(client: Client, fields: Mapping[str, str], text: str = "the text was wrong", check: str = "values") -> Any:
    address = f"/student/-/bob/void/{tiny.FIRST}/{check}"
    return client.http.post(address, data={"text": text, **fields}, headers={"Origin": ORIGIN})


def test_a_check_is_made_void_for_everybody_and_the_marks_that_change_stand_before_the_form(client: Client) -> None:
    assert f'href="/student/-/bob/void/{tiny.FIRST}/values"' in client.get("/student/-/bob")
    page = words(client.get(f"/student/-/bob/void/{tiny.FIRST}/values"))
    read = read_course(client.course)
    roster = read_roster(read, None)
    cells = {"student": "*", "exercise": tiny.FIRST, "kind": "void", "value": "values", "text": "x", "by": "x"}
    row = adjustment(read, roster, {**cells, "when": now(read)})
    effect = list(
        effect_of(read_graded(read, roster, client.desk.worklist.out), client.desk.worklist._decided([row])[""])
    )
    assert effect[0].startswith("2 of 6 students get another mark, by +")
    assert all(" ".join(line.split())[1:] in page for line in effect)
    assert client.rows == []
    saved = void(client, void_form(client))
    assert saved.status_code == 303
    [row_of_file] = client.rows
    assert row_of_file.startswith(f"*,{tiny.FIRST},void,values,the text was wrong,Grace Hopper,")
    page = words(client.get(saved.headers["location"]))
    assert "Saved: check values of exercise 01 is void" in page
    assert effect[0] in page
    assert "void for everybody" in page
    assert client.desk.worklist.find("", "bob").mark.score > classes.SCORES["bob"]
    page = client.get(f"/student/-/bob/void/{tiny.FIRST}/values")
    assert f'href="/student/-/bob/withdraw/{tiny.FIRST}/void%20values"' in page
    assert "<form method" not in page.partition("<main>")[2].partition("</main>")[0]


def test_a_void_check_needs_a_reason_and_is_saved_once(client: Client) -> None:
    form = void_form(client)
    refused = void(client, form, text=" ")
    assert refused.status_code == 400
    assert "the reason is empty, expected a sentence" in words(refused.text)
    assert [void(client, form).status_code for _ in range(2)] == [303, 303]
    assert len(client.rows) == 1


def test_one_void_check_is_taken_back_for_everybody_with_a_reason_and_the_other_stays(client: Client) -> None:
    assert void(client, void_form(client, "axes"), check="axes").status_code == 303
    client.get("/")
    before = client.desk.worklist.find("", "bob").mark.score
    assert void(client, void_form(client)).status_code == 303
    address = f"/student/-/bob/withdraw/{tiny.FIRST}/void%20values"
    page = client.get("/student/-/bob")
    assert page.count(f'href="{address}"') == 2, "beside the decision and beside the check"
    page = client.get(address)
    assert "another mark, by -" in words(page)
    form = {name: re.search(rf'name="{name}" value="([^"]*)"', page)[1] for name in ("key", "seen")}  # type: ignore[index]
    refused = client.http.post(address, data={**form, "text": " "}, headers={"Origin": ORIGIN})
    assert "the reason is empty" in words(refused.text)
    answer = client.http.post(address, data={**form, "text": "it was right."}, headers={"Origin": ORIGIN})
    assert answer.status_code == 303
    assert client.rows[2].startswith(f"*,{tiny.FIRST},withdraw,void values,it was right.,")
    page = words(client.get(answer.headers["location"]))
    assert "Saved: void check values withdrawn for exercise 01, for everybody, by Grace Hopper" in page
    assert "it was right.." not in page
    assert "check axes of exercise 01 is void" in page
    assert client.desk.worklist.find("", "bob").mark.score == before
    page = words(client.get(address))
    assert "Nothing like that counts for everybody any more" in page
    assert "Save for everybody" not in page


def test_beside_a_decision_for_everybody_it_stands_whose_is_withdrawn(client: Client) -> None:
    course = read_course(client.course)
    cells = {"exercise": tiny.FIRST, "kind": "add", "value": "2", "text": "why", "by": "x", "when": now(course)}
    roster = read_roster(course, None)
    append(course, [adjustment(course, roster, {**cells, "student": student}) for student in ("*", "bob")])
    page = words(client.get("/student/-/bob"))
    assert page.count("Withdraw for this student") == page.count("Withdraw for everybody") == 1
    assert "Withdraw for this student" in words(client.get("/student/-/eve"))
    assert client.http.get(f"/student/-/bob/withdraw/{tiny.FIRST}/praise").status_code == 404


def test_what_somebody_decided_about_everybody_meanwhile_is_shown_first(client: Client) -> None:
    form = void_form(client)
    assert void(client, void_form(client, "axes"), check="axes").status_code == 303
    late = void(client, form, text="too late")
    assert late.status_code == 409
    assert "check axes of exercise 01 is void" in words(late.text)
    assert "too late" in late.text
    assert len(client.rows) == 1
    assert void(client, void_form(client)).status_code == 303


def test_a_student_with_a_decision_of_their_own_is_named_before_a_check_is_void(client: Client) -> None:
    columns = "student,exercise,kind,value,text,by,when\n"
    (client.course / "adjustments.csv").write_text(
        f"{columns}fay,{tiny.FIRST},void,values,hers,Grace,2026-03-05 10:00\n", "utf-8"
    )
    page = words(client.get(f"/student/-/bob/void/{tiny.FIRST}/values"))
    assert "1 student has a decision of their own, which counts before the one for everybody: fay." in page
    assert void(client, void_form(client)).status_code == 303
    assert client.decide("bob", tiny.FIRST, "points", "4").status_code == 303
    page = words(client.get(f"/student/-/bob/withdraw/{tiny.FIRST}/void%20values"))
    assert "2 students have decisions of their own, which count before the one for everybody: fay and bob." in page


@pytest.mark.parametrize(
    "path",
    [
        f"bob/void/{tiny.FIRST}/nothing",
        "bob/void/ex99/values",
        f"nobody/void/{tiny.FIRST}/values",
        f"zoe/void/{tiny.FIRST}/values",
    ],
)
def test_a_check_that_is_not_in_the_report_cannot_be_made_void(client: Client, path: str) -> None:
    assert client.http.get(f"/student/-/{path}").status_code == 404
    assert client.http.post(f"/student/-/{path}", data={"text": "x"}, headers={"Origin": ORIGIN}).status_code == 404


def test_a_void_check_needs_a_form_of_this_desk(client: Client) -> None:
    assert void(client, {"key": "forged.key"}).status_code == 403
    address = f"/student/-/bob/void/{tiny.FIRST}/values"
    assert client.http.post(address, data={"text": "x"}, headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.rows == []


def test_what_is_no_folder_of_grades_is_refused(graded: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="has no reports"):
        Worklist(graded, tmp_path / "empty").refresh()
    with pytest.raises(UsageError, match="is one file"):
        Worklist(graded, tmp_path / "out" / "scores.csv").refresh()
    with pytest.raises(UsageError, match="nowhere is not there"):
        Worklist(graded, tmp_path / "out", submissions=tmp_path / "nowhere").refresh()
