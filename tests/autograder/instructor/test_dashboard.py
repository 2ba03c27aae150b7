"""The statistics of the class page, their limits for small classes, and the privacy of students."""

import csv
import io
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.comparison import fingerprint
from autograder.course import Assignment, Grading, UsageError
from autograder.course.suite import Described
from autograder.gradebook import PSEUDONYMS, Adjustment, Decision, Graded, Mark, Policy, Student
from autograder.gradebook.policy import Final, Lateness
from autograder.instructor.page import Findings, hider, marks_table, page, pseudonyms, tables
from autograder.instructor.statistics import (
    FEWEST,
    Alike,
    Cohort,
    Pair,
    Share,
    check_statistics,
    clusters_of,
    code_digest,
    cohort_of,
    find_cluster,
    mark_summaries,
    misconceptions_of,
    pairs_of,
    stuck_students,
    wilson,
    without_comment,
)
from autograder.protocol import Array, Value
from autograder.results import Finding, Place, Report
from tests.support import class_examples as examples
from tests.support import export_examples, tiny
from tests.support.elements import Elements, in_backticks
from tests.support.hostile import texts

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="y">&\x1b[31m\u202e" \'{}'
COURSE = examples.titles(2, 3)
FIRST, SECOND = COURSE
bounded = settings(max_examples=40, derandomize=True, deadline=None, database=None)


def content(cohort: Cohort) -> Findings:
    whys = misconceptions_of(cohort, tiny.COURSE, lambda _, text: text)
    figures, clusters, looks = check_statistics(cohort), clusters_of(cohort), [("s0", "held, no score: it is empty")]
    return Findings(cohort, stuck_students(cohort), whys, figures, clusters, None, "Not looked for.", [], looks)


def test_final_marks_are_summed_up_for_everybody_and_for_each_section() -> None:
    scores = {"ada": ("B", 1000), "bob": ("A", 3000), "cem": ("B", 12_000), "dee": ("", None), "eve": ("B", 5000)}
    marks = tuple(
        Mark(Student(name, section=section), None, Final(score, None, Lateness(0, 0), ()))
        for name, (section, score) in scores.items()
    )
    everybody, a, b, others = mark_summaries(Graded(tiny.COURSE, Policy(), marks))
    assert [(one.label, one.students, one.marks) for one in (everybody, a, b, others)] == [
        ("everybody", 5, (1000, 3000, 5000, 12_000)),
        ("A", 1, (3000,)),
        ("B", 3, (1000, 5000, 12_000)),
        ("in no section", 1, ()),
    ]
    assert everybody.counts == (0, 1, 0, 1, 0, 1, 0, 0, 0, 1), "a mark above the maximum is in the highest tenth"
    assert (everybody.mean, everybody.quantile(0.5), everybody.quantile(0.25)) == (5250, 4000, 2500)
    assert (others.mean, others.quantile(0.5)) == (None, None)
    table = rows(marks_table((everybody, others)).csv())
    assert table[0]["median"] == "40.0"
    assert {value for name, value in table[1].items() if name not in ("students", "count", "marks")} == {""}


WHEN = "2026-03-05 10:00"


def test_final_marks_are_summed_up_by_who_decided_about_a_student() -> None:
    def decided(student: str, by: str) -> Adjustment:
        return Adjustment(student, "*", "add", "1", "why", by, WHEN, 100)

    own = {"ada": [decided("ada", "Grace"), decided("ada", "Alan")], "bob": [decided("bob", "Grace")] * 2, "cem": []}
    own["cem"] = [replace(decided("cem", "Ed"), kind="handed_in", text="the time in week1")]
    marks = tuple(
        Mark(
            Student(name),
            None,
            Final(1000 * at, None, Lateness(0, 0), (), adjustments=(decided("*", "Edsger"), *rows)),
            accepted=(Decision(name, "", "", "file", "", "why", "Joan", WHEN),) if name == "cem" else (),
        )
        for at, (name, rows) in enumerate(own.items(), 1)
    )
    found = mark_summaries(Graded(tiny.COURSE, Policy(), marks))
    assert [(one.label, one.marks) for one in found] == [
        ("everybody", (1000, 2000, 3000)),
        ("decided by Alan", (1000,)),
        ("decided by Grace", (1000, 2000)),
        ("decided by Joan", (3000,)),
    ]


def rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


def test_the_interval_is_wilsons() -> None:
    assert wilson(8, 10) == pytest.approx((0.49016, 0.94331), abs=1e-5)  # Brown, Cai and DasGupta's formula, by hand
    assert wilson(0, 10) == pytest.approx((0.0, 0.27753), abs=1e-5)
    assert wilson(10, 10) == pytest.approx((0.72247, 1.0), abs=1e-5)
    assert Share(0, 0).interval is None


@given(st.integers(1, 400), st.integers(0, 400))
@bounded
def test_an_interval_holds_its_share_and_is_narrower_for_more(of: int, count: int) -> None:
    low, high = wilson(min(count, of), of)
    assert 0 <= low <= min(count, of) / of <= high <= 1
    wider_low, wider_high = wilson(10 * min(count, of), 10 * of)
    assert wider_high - wider_low < high - low


def graded_by_skill(students: int) -> list[Report]:
    """The first check is passed by the better half, the second by the worse half, the third by all."""
    made = []
    for at in range(students):
        failing = {}
        if at < students // 2:
            failing[FIRST, "check_1"] = examples.check("check_1", "fail", examples.unexplained())
            failing |= {(SECOND, name): examples.check(name, "fail", examples.unexplained()) for name in COURSE[SECOND]}
        else:
            failing[FIRST, "check_2"] = examples.check("check_2", "fail", examples.named(FIRST, "not-scaled"))
        made.append(examples.report(f"s{at}", COURSE, failing))
    return made


def test_discrimination_is_the_correlation_with_all_other_checks() -> None:
    cohort = examples.cohort(graded_by_skill(FEWEST))
    by_check = {figure.item.key: figure for figure in check_statistics(cohort)}
    totals = np.array([report.score for report in cohort.reports], dtype=float)
    for (exercise, check), result in by_check.items():
        got = [100.0 * (status == "pass") for status in cohort.verdicts[exercise, check]]
        if np.ptp(got):
            assert result.discrimination == pytest.approx(np.corrcoef(got, totals - got)[0, 1])
    assert (by_check[FIRST, "check_1"].discrimination or 0) > 0.9
    assert (by_check[FIRST, "check_2"].discrimination or 0) < -0.9
    assert by_check[FIRST, "check_3"].discrimination is None
    assert "stronger students fail it more often" in by_check[FIRST, "check_2"].remark
    few = replace(by_check[FIRST, "check_2"], difficulty=Share(FEWEST - 2, FEWEST))
    assert "stronger" not in few.remark, "two students are chance"
    assert "everybody passes" in by_check[FIRST, "check_3"].remark
    assert by_check[FIRST, "check_1"].quintiles == pytest.approx((0, 0, 0.5, 1, 1))
    assert by_check[FIRST, "check_1"].unexplained == Share(10, 10)
    assert by_check[FIRST, "check_2"].unexplained == Share(0, 10)


def test_a_small_class_has_neither_discrimination_nor_quintiles() -> None:
    cohort = examples.cohort(graded_by_skill(FEWEST - 1))
    assert all(figure.discrimination is None and not figure.quintiles for figure in check_statistics(cohort))
    assert f"Discrimination and quintiles need at least {FEWEST} students" in Elements(page(content(cohort))).text
    assert all(
        not row["discrimination"] and not row["by fifths"] for row in rows(tables(content(cohort))["checks.csv"])
    )


def test_a_grader_error_counts_in_no_score() -> None:
    broken = examples.report("broken", COURSE, {(FIRST, "check_1"): examples.check("check_1", "grader_error")})
    cohort = examples.cohort([*graded_by_skill(4), broken])
    first = check_statistics(cohort)[0]
    assert (first.difficulty, first.grader) == (Share(2, 4), 1)
    assert "The grader failed on 1 submission" in page(content(cohort))


def held(report: Report) -> Report:
    """Return the report of a hand-in of which nothing could be read."""
    exercises = tuple(
        replace(
            exercise, status="held", score=0, checks=tuple(replace(check, status="held") for check in exercise.checks)
        )
        for exercise in report.exercises
    )
    return replace(report, exercises=exercises)


def test_a_held_hand_in_is_no_failure_of_the_grader() -> None:
    done, failed = examples.report("a", COURSE, {}), {(FIRST, "check_1"): examples.check("check_1", "grader_error")}
    text = page(content(examples.cohort([done, held(replace(done, submission={"student": "b"}))])))
    assert "1 submission is held, as no file of the assignment could be read, and counts in no score." in text
    assert "The grader failed" not in text
    text = page(content(examples.cohort([done, examples.report("c", COURSE, failed)])))
    assert "The grader failed on 1 submission, which therefore counts in no score." in text
    assert "held, as no file" not in text


def test_shares_are_of_those_who_tried_or_of_those_who_were_judged() -> None:
    mistake = {(FIRST, "check_1"): examples.check("check_1", "fail", examples.named(FIRST, "off-by-one"))}
    missing = {(FIRST, name): examples.check(name, "missing") for name in COURSE[FIRST]}
    reports = [
        examples.report("wrong", COURSE, mistake),
        examples.report("right", COURSE, {}),
        examples.report("absent", COURSE, missing),
        held(examples.report("held", COURSE, {})),
    ]
    made = content(examples.cohort(reports))
    assert [why.share for why in made.why] == [Share(1, 2)]
    text = Elements(page(made)).text
    assert "1 of 3 pass every check" in text
    assert "33 % (1 of 3)" in text
    assert "Shares are of the students whose work was judged." in text


def test_the_heading_names_the_assignment_and_who_is_excused_is_not_missing(tmp_path: Path) -> None:
    graded = export_examples.read(export_examples.graded_class(tmp_path))
    names = {mark.student: mark.student for mark in graded.marks}
    assert cohort_of(graded, names).missing == ("zoe",)
    assert cohort_of(graded, names).title == "Two little functions"
    assignment = Assignment("week1", "Means", (tiny.FIRST,), Grading())
    excused = Final(None, None, Lateness(0, 0), (), excused=True)
    marks = tuple(replace(mark, final=excused) if mark.student == "zoe" else mark for mark in graded.marks)
    cohort = cohort_of(replace(graded, course=replace(graded.course, assignment=assignment), marks=marks), names)
    assert cohort.missing == ()
    assert "<h1>Two little functions, Means: the class</h1>" in page(content(cohort))


def test_a_misconception_counts_once_a_student_and_the_most_frequent_comes_first() -> None:
    plan = {"off-by-one": 2, "not-scaled": 5, "axis-fixed": 3}
    made = []
    for mistake, count in plan.items():
        finding = examples.named(FIRST, mistake)
        for at in range(count):
            failing = {(FIRST, name): examples.check(name, "fail", finding) for name in COURSE[FIRST]}
            made.append(examples.report(f"{mistake}-{at}", COURSE, failing))
    held = misconceptions_of(examples.cohort(made), tiny.COURSE, lambda _, text: text)
    assert [(row.id, row.share) for row in held] == [
        ("not-scaled", Share(5, 10)),
        ("axis-fixed", Share(3, 10)),
        ("off-by-one", Share(2, 10)),
    ]


def test_an_example_has_neither_comments_nor_the_name_of_its_student() -> None:
    finding = examples.named(FIRST, "not-scaled")
    cohort = examples.cohort(
        [examples.report("ada", COURSE, {(FIRST, "check_1"): examples.check("check_1", "fail", finding)})]
    )
    [only] = misconceptions_of(cohort, tiny.COURSE, lambda student, text: text.replace(student, "…"))
    assert only.example == ((11, "    count = x.size(-1)"), (12, "    return x.sum(-1)"), (13, ""))
    assert without_comment("x = '# not one'  # one") == "x = '# not one'"


def test_equal_results_are_one_group_over_all_checks_that_the_same_students_fail() -> None:
    made = []
    for at in range(5):
        failing = {
            (FIRST, name): examples.check(
                name, "fail", examples.unexplained(), f"{'a' if at < 3 else 'b'}0000000{name}"
            )
            for name in ("check_1", "check_2")
        }
        made.append(examples.report(f"s{at}", COURSE, failing))
    broken = Finding("exception", "SyntaxError", "Python cannot read it.")
    made.append(examples.report("no-python", COURSE, {(FIRST, "check_3"): examples.check("check_3", "error", broken)}))
    groups = clusters_of(examples.cohort(made))
    assert [(group.id, group.checks, len(group.students)) for group in groups] == [
        ("a0000000", ("check_1", "check_2"), 3),
        ("b0000000", ("check_1", "check_2"), 2),
    ]
    assert all(group.unexplained for group in groups)
    assert find_cluster(groups, " A0000000 ") is groups[0]
    with pytest.raises(UsageError, match="no group of failures is called 'c0'; expected a group"):
        find_cluster(groups, "c0")


def array(values: np.ndarray) -> Array:
    return Array(str(values.dtype), values.shape, values.astype(values.dtype.newbyteorder("<")).tobytes())


def test_results_that_are_equal_but_for_rounding_have_one_fingerprint() -> None:
    random = np.random.default_rng(1)
    same = 0
    for _ in range(300):
        exact = random.normal(size=(3, 7, 5))
        noise = 1 + 1e-7 * random.normal(size=exact.shape)
        one, other = (fingerprint(["c"], [array(numbers.astype(np.float32))]) for numbers in (exact, exact * noise))
        same += one == other
    assert same >= 295


def test_results_that_differ_have_fingerprints_that_differ() -> None:
    random = np.random.default_rng(2)
    base = random.normal(size=(3, 7, 5)).astype(np.float32)
    one_off = base.copy()
    one_off[1, 2, 3] += 1
    odd = base.copy()
    odd[0, 0, 0] = np.nan
    infinite = base.copy()
    infinite[0, 0, 0] = np.inf
    values: list[Value] = [
        *map(array, (base, -base, base * 1.01, base.swapaxes(0, 1).copy(), base[::-1].copy(), one_off, odd, infinite)),
        *map(array, (base.astype(np.float64), base.reshape(7, 15), np.zeros_like(base), np.zeros((0, 3), np.float32))),
        *(None, True, 1, 1.0, "1", [1], {"a": 1}, {"b": 1}, [array(base)], [array(base), None]),
    ]
    assert len({fingerprint(["c"], [value]) for value in values}) == len(values)
    assert fingerprint(["c"], [values[0]]) != fingerprint(["d"], [values[0]])
    assert fingerprint(["c"], [values[0]]) == fingerprint(["c"], [array(base.copy())])


def test_pseudonyms_stay_are_for_one_alone_and_lie_in_a_file_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / PSEUDONYMS
    first = pseudonyms(file, ["ada", "=cmd", "bob"])
    again = pseudonyms(file, ["bob", "zoe", "=cmd"])
    assert again["bob"] == first["bob"]
    assert again["=cmd"] == first["=cmd"]
    assert len({*first.values(), *again.values()}) == 4
    assert file.stat().st_mode & 0o077 == 0
    assert "'=cmd" in file.read_text("utf-8")
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))  # as a spreadsheet saves it
    assert pseudonyms(file, ["bob", "zoe", "=cmd"]) == again


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("pseudonym;student\nB2C3;ada\n", "its first line"),
        ("ada\n", "its first line"),
        ("pseudonym,student\nB2C3,ada\nB2C3,bob\n", "line 3"),
        ("pseudonym,student\nB2C3,ada\nada\n", "line 3"),
        ("pseudonym,student\nB2C3,Zo\xeb\n", "its letters"),
    ],
)
def test_pseudonyms_that_cannot_be_read_are_not_replaced(text: str, where: str, tmp_path: Path) -> None:
    file = tmp_path / PSEUDONYMS
    file.write_text(text, "latin-1")
    with pytest.raises(UsageError, match=rf"is damaged \({where}\), expected pseudonyms .*; restore the file"):
        pseudonyms(file, ["ada"])
    assert file.read_text("latin-1") == text


def test_what_is_kept_from_others_is_never_open_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes = []
    for name in ("chmod", "fchmod"):
        monkeypatch.setattr(os, name, lambda _, mode, **how: modes.append(mode))
    pseudonyms(tmp_path / PSEUDONYMS, ["ada"])
    assert modes == [0o600]
    assert stat.S_IMODE((tmp_path / PSEUDONYMS).stat().st_mode) == 0o600, "it is made so, and not only changed"


def test_hostile_names_and_findings_are_text_on_the_page() -> None:
    finding = Finding("pattern", "value", HOSTILE, HOSTILE, HOSTILE)
    mistake = examples.named(FIRST, HOSTILE)
    failing = {
        (FIRST, "check_1"): examples.check("check_1", "fail", finding, HOSTILE),
        (FIRST, "check_2"): examples.check("check_2", "fail", mistake),
        (SECOND, "check_3"): examples.check("check_3", "error", Finding("exception", HOSTILE, HOSTILE)),
    }
    cohort = examples.cohort([examples.report(HOSTILE, COURSE, failing), examples.report("=1+1", COURSE, failing)])
    text = page(content(cohort))
    parsed = Elements(text)
    assert parsed.open == []
    assert sum(tag == "script" for tag, _ in parsed.tags) == 3
    assert not [
        attributes
        for tag, attributes in parsed.tags
        if tag == "img" or "onerror" in attributes or "style" in attributes
    ]
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "alert(1)" in parsed.text
    for table in tables(content(cohort)).values():
        assert not [cell for row in csv.reader(io.StringIO(table)) for cell in row if cell[:1] in ("=", "+", "-", "@")]


@pytest.mark.long
@given(texts())
@bounded
def test_any_text_keeps_the_elements_of_the_page(text: str) -> None:
    def parsed(text: str) -> Elements:
        lines = ((1, text), (2, text))
        pairs = [Pair((text, text), (Alike(text, (0.9, 0.8), 300, (lines, lines)),))]
        finding = Finding("misconception", text, text, text, text, Place(text, 1, text), ((1, text),))
        failing = {(FIRST, "check_1"): examples.check("check_1", "fail", finding, text)}
        cohort = examples.cohort([examples.report(text, COURSE, failing)])
        made = replace(content(cohort), pairs=pairs, notes=[text], looks=[(text, text)], not_compared=text)
        return Elements(page(made))

    hostile, plain = parsed(f"x{text}"), parsed("x")
    assert [(tag, set(attrs) - {"data-by"}) for tag, attrs in hostile.tags if tag != "code"] == [
        (tag, set(attrs) - {"data-by"}) for tag, attrs in plain.tags if tag != "code"
    ]


def test_what_stands_in_backticks_is_code_on_the_page() -> None:
    words = "Divide by `size`."
    finding = replace(examples.named(FIRST, "off-by-one"), message=words, name=words)
    failing = {
        (FIRST, "check_1"): examples.check("check_1", "fail", finding),
        (SECOND, "check_3"): examples.check("check_3", "fail", Finding("pattern", "value", words), "sha256:1"),
    }
    cohort = examples.cohort([examples.report(name, COURSE, failing) for name in ("ada", "bob")])
    made = content(cohort)
    described = Described("x", FIRST, words, words, words, words, words)
    why = [replace(held, described=described) for held in made.why]
    text = page(replace(made, why=why, notes=[words], looks=[("ada", words)], not_compared=words))
    assert text.count("<code>size</code>") >= 7
    assert in_backticks(text) == []


@pytest.mark.long
def test_a_thousand_students_are_a_page_of_few_elements() -> None:
    cohort = examples.cohort(examples.large_class(1000))
    made = content(cohort)
    text = page(made)
    assert len(cohort.reports) * len(cohort.items) > 250_000
    assert len(text) < 3_000_000
    assert text.count("<") < 45_000
    matrix = list(csv.reader(io.StringIO(tables(made)["matrix.csv"])))
    assert (len(matrix), len(matrix[0])) == (1 + len(cohort.items), 3 + 1000)


def test_a_page_loads_nothing_and_takes_no_other_script() -> None:
    made = content(examples.cohort(graded_by_skill(3)))
    parsed = Elements(page(made))
    [policy] = [
        attributes["content"]
        for tag, attributes in parsed.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    links = {attributes["href"] or "" for tag, attributes in parsed.tags if tag == "a"}
    assert {link for link in links if not link.startswith("#")} == {f"class/{name}" for name in tables(made)}
    assert not [attributes for _, attributes in parsed.tags if "src" in attributes]


def test_students_who_pass_are_not_stuck_and_the_lowest_score_comes_first() -> None:
    cohort = examples.cohort([*graded_by_skill(4), examples.report("done", COURSE, {})])
    listed = stuck_students(cohort)
    assert [row.name for row in listed] == ["s0", "s1", "s2", "s3"]
    assert listed[0].failing == 2
    assert listed[0].exercise == FIRST


WAYS = (
    """\
def part(values, count):
    total = 0
    for each in values:
        total = total + each * each
    return total / count if count > 0 else None


def other(rows):
    return [part(row, len(row)) for row in rows]
""",
    """\
import math
import os
import stat


def part(values, count):
    return math.fsum(v ** 2 for v in values) / count if count else None


def other(rows):
    found = []
    for row in rows:
        found.append(part(row, len(row)))
    return found
""",
    """\
def part(values, count):
    if not count:
        return None
    squares = list(map(lambda v: v * v, values))
    return sum(squares) / count


other = lambda rows: list(map(lambda row: part(row, len(row)), rows))
""",
    """\
def part(values, count):
    sums = 0.0
    at = 0
    while at < len(values):
        sums += pow(values[at], 2)
        at += 1
    try:
        return sums / count
    except ZeroDivisionError:
        return None


def other(rows):
    yield from (part(row, len(row)) for row in rows)


def third(rows, start):
    best = None
    for index, row in enumerate(rows[start:]):
        if best is None or row > best:
            best = row
        elif index % 3 == 2:
            best = best * 0.5 + row
    return best
""",
)


def copied(text: str) -> str:
    """The same program: with other names, comments, and its functions the other way round."""
    first, second = text.split("\n\n\ndef other")
    second = second.replace("best = None", "best = None  # with Bob")
    renamed = (
        f"def other{second}\n\n\n{first}\n".replace("sums", "acc").replace("at ", "place ").replace("values", "xs")
    )
    return f"# all my own work\n{renamed}"


@pytest.mark.worker  # on a fresh machine copydetect makes matplotlib list the fonts, in a process
def test_a_copy_under_other_names_is_found_and_other_ways_are_not() -> None:
    pytest.importorskip("copydetect", reason="copydetect is not installed: pip install -e '.[similar]'")
    sources = {f"s{at}": {"a.py": text} for at, text in enumerate(WAYS)} | {"thief": {"a.py": copied(WAYS[3])}}
    pairs = pairs_of(sources, {"a.py": "def part(values, count):\n    raise NotImplementedError\n"})
    assert not any("#" in line for lines in pairs[0].files[0].lines for _, line in lines)
    assert [pair.students for pair in pairs] == [("s3", "thief")]
    [alike] = pairs[0].files
    assert min(alike.shares) > 0.8
    assert [text for _, text in alike.lines[0] if "while" in text] == ["    while at < len(values):"]
    assert [text for _, text in alike.lines[1] if "while" in text] == ["    while place < len(xs):"]
    assert pairs_of(sources, {"a.py": WAYS[3]}) == ()
    crowd = sources | {f"c{at}": {"a.py": WAYS[3]} for at in range(3)}
    assert pairs_of(crowd, {}) == ()


def digests_of(sources: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    return {student: {file: code_digest(text) for file, text in files.items()} for student, files in sources.items()}


STUB = "def part(values, count):\n    raise NotImplementedError\n"


def test_five_students_with_equal_files_are_one_group_and_need_no_library() -> None:
    others = {f"s{at}": {"a.py": text} for at, text in enumerate(WAYS)}
    sources = {f"c{at}": {"a.py": WAYS[3], "b.py": STUB + "x = 1\n"} for at in range(5)} | others
    [pair] = pairs_of(sources, {"b.py": STUB}, digests_of(sources), equal_alone=True)
    assert (pair.students, pair.others) == (("c0", "c1"), ("c2", "c3", "c4", "s3"))
    assert [(alike.file, alike.shares) for alike in pair.files] == [("a.py", (1.0, 1.0))], (
        "short code is equal by nature"
    )
    assert pair.shared >= 120
    assert pairs_of(sources, {"a.py": WAYS[3], "b.py": STUB}, digests_of(sources), equal_alone=True) == ()
    groups = dict.fromkeys((*(f"c{at}" for at in range(5)), "s3"), "team")
    assert pairs_of(sources, {}, digests_of(sources), groups, equal_alone=True) == ()
    groups["s3"] = "other"
    [pair] = pairs_of(sources, {}, digests_of(sources), groups, equal_alone=True)
    assert {*pair.students, *pair.others} >= {"c0", "s3"}


def test_files_of_a_crowd_that_differ_in_comments_and_blank_lines_are_equal() -> None:
    sources = {f"c{at}": {"a.py": f"# by c{at}\n" + "\n" * at + WAYS[3]} for at in range(10)}
    [pair] = pairs_of(sources, {}, digests_of(sources))
    assert len(pair.others) == 8
    alike = pair.files[0]
    assert [text for _, text in alike.lines[0]] == [text for _, text in alike.lines[1]]
    assert alike.lines[0][0][0] + 1 == alike.lines[1][0][0], "the lines have their own numbers"


def test_a_group_of_alike_students_is_one_row_and_one_heading() -> None:
    cohort = examples.cohort([examples.report(f"s{at}", COURSE, {}) for at in range(4)])
    lines = ((1, "x = 1"),)
    pair = Pair(("s0", "s1"), (Alike("a.py", (1.0, 1.0), 300, (lines, lines)),), ("s2", "<s3>"))
    cohort = replace(cohort, names={**cohort.names, "<s3>": "<three>"})
    two = Pair(("s0", "s2"), pair.files)
    text = page(replace(content(cohort), pairs=[pair, two], not_compared="Only equal files are found."))
    assert "<summary>s0, s1, s2, &lt;three&gt; <span" in text
    assert "<summary>s0 and s2 <span" in text
    assert "Only equal files are found." in text
    found = rows(tables(replace(content(cohort), pairs=[pair, two]))["similar.csv"])
    assert [row["also alike"] for row in found] == ["s2, <three>", ""]


@pytest.mark.worker
def test_a_changed_copy_of_equal_files_is_in_their_group() -> None:
    pytest.importorskip("copydetect", reason="copydetect is not installed: pip install -e '.[similar]'")
    sources = {f"s{at}": {"a.py": text} for at, text in enumerate(WAYS)} | {"thief": {"a.py": copied(WAYS[3])}}
    sources |= {f"c{at}": {"a.py": WAYS[3]} for at in range(5)}
    [pair] = pairs_of(sources, {}, digests_of(sources))
    assert {*pair.students, *pair.others} == {"s3", "thief", *(f"c{at}" for at in range(5))}


@pytest.mark.worker
def test_the_command_writes_page_and_tables_without_a_name(tmp_path: Path) -> None:
    course = export_examples.graded_class(tmp_path)
    done = tiny.run_course(course, "dashboard", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "class.html").read_text("utf-8")
    all_of_it = text + "".join(file.read_text("utf-8") for file in (tmp_path / "out" / "class").iterdir())
    for row in export_examples.ROSTER.splitlines()[1:]:
        for part in ("Lovelace", row.split(",")[0], "example.org"):
            assert f">{part}<" not in all_of_it
            assert f"\n{part}," not in all_of_it
    assert "Lovelace" not in all_of_it
    assert "zoe" in (tmp_path / "out" / PSEUDONYMS).read_text("utf-8")
    with_names = tiny.run_course(course, "dashboard", str(tmp_path / "out"), "--names")
    assert with_names.returncode == 0
    assert "Bob Ünal (bob)" in (tmp_path / "out" / "class.html").read_text("utf-8")


@pytest.mark.worker
def test_one_report_is_no_class(tmp_path: Path) -> None:
    course = export_examples.graded_class(tmp_path)
    file = tmp_path / "out" / "reports" / "ada.json"
    done = tiny.run_course(course, "dashboard", str(file))
    assert done.returncode == 2
    assert f"{file} is one file, expected the folder that course grade wrote" in done.stderr


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("def ada_softmax(x):", "def B2C3_softmax(x):"),
        ("_ünal = Ada.Ünal", "_B2C3 = B2C3.B2C3"),
        ("# by u\u0308nal and BU1x, bu1", "# by B2C3 and BU1x, B2C3"),
        ("self.d = 512; number = 20231234", "self.d = 512; number = B2C3"),
        ("adagrad, bobsled, lambada", "adagrad, bobsled, lambada"),
    ],
)
def test_a_name_is_hidden_wherever_it_is_a_word_of_its_own(text: str, hidden: str) -> None:
    row = Student("20231234", "Ada Ünal", login="bu1", lms_id="512")
    hide = hider(Graded(tiny.COURSE, Policy(), (Mark(row),)), {row.student: "B2C3"})
    assert hide(row.student, text) == hidden


def test_a_note_names_neither_another_student_nor_the_group() -> None:
    rows = Student("ai201", "Long Ada", group="blue"), Student("bo101", "Bob Fog", group="blue")
    hide = hider(Graded(tiny.COURSE, Policy(), tuple(map(Mark, rows))), {"ai201": "Q9F2", "bo101": "V4F4"})
    note = "handed in by ai201 for group blue; the earlier hand-in of bo101 does not count"
    shown = "handed in by Q9F2 for their group; the earlier hand-in of V4F4 does not count"
    assert [hide(student, note) for student in ("ai201", "bo101", "")] == [shown] * 3
    assert hide("bo101", "# long ada said: torch.long") == "# Q9F2 said: torch.long"


@pytest.mark.worker
def test_a_folder_that_was_not_graded_to_is_refused(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    (tmp_path / "empty").mkdir()
    done = tiny.run_course(course, "dashboard", str(tmp_path / "empty"))
    assert done.returncode == 2
    assert "has no reports, expected a folder written by course grade" in done.stderr


def test_full_marks_are_what_the_exercises_that_are_no_bonus_are_worth(tmp_path: Path) -> None:
    course = export_examples.graded_class(tmp_path)
    tiny.replaced(course / "course.toml", "[grading]", f'[grading]\nbonus = ["{tiny.SECOND}"]')
    assert cohort_of(export_examples.read(course), dict.fromkeys(export_examples.SCORES, "")).maximum == 4000
    cohort = examples.cohort(graded_by_skill(3))
    texts = [Elements(page(content(variant))).text for variant in (cohort, replace(cohort, maximum=500))]
    assert [" of 5" in text for text in texts] == [False, True]


def test_the_median_of_an_even_class_lies_between(tmp_path: Path) -> None:
    cohort = examples.cohort(graded_by_skill(2))
    scores = sorted(report.score for report in cohort.reports)
    assert f"{math.fsum(scores) / 200:g} of 6" in Elements(page(content(cohort))).text
