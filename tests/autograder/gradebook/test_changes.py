"""Which marks differ from those of the table before."""

from pathlib import Path

import pytest

from autograder.gradebook import changed_marks, marks_of
from autograder.gradebook.out import MOST_LISTED

HEAD = "student,score,max_score,final,final_max,notes\n"


def table(folder: Path, *rows: str) -> Path:
    (folder / "scores.csv").write_text(HEAD + "".join(f"{row},\n" for row in rows), "utf-8")
    return folder / "scores.csv"


def changes(folder: Path, before: tuple[str, ...], now: tuple[str, ...]) -> list[str]:
    earlier = marks_of(table(folder, *before))
    return [*changed_marks(earlier, marks_of(table(folder, *now)))]


def test_marks_that_differ_are_listed_with_both(tmp_path: Path) -> None:
    before = ("ada,5,9,5.00,9.00", "bob,,9,,9.00", "cem,4,9,4.00,9.00", "dee,,,excused,9.00", "'=eve,1,9,1.00,9.00")
    now = ("ada,5,9,6.50,9.00", "bob,2,9,2.00,9.00", "cem,4,9,4.00,9.00", "dee,,,,9.00", "'=eve,1,9,1.00,8.00")
    assert changes(tmp_path, before, (*now, "finn,3,9,3.00,9.00")) == [
        "Changed since the last table: 4 marks",
        "  ada  5.00 of 9.00 → 6.50 of 9.00",
        "  bob  no score → 2.00 of 9.00",
        "  dee  excused → no score",
        "  =eve  1.00 of 9.00 → 1.00 of 8.00",
    ]


def test_without_a_change_nothing_is_said(tmp_path: Path) -> None:
    assert changes(tmp_path, ("ada,5,9,5.00,9.00",), ("ada,4,9,5.00,9.00", "bob,1,9,1.00,9.00")) == []


def test_a_long_list_ends_with_the_number_of_the_others(tmp_path: Path) -> None:
    before, now = (tuple(f"s{at},{score},9,{score},9" for at in range(MOST_LISTED + 2)) for score in (1, 2))
    lines = changes(tmp_path, before, now)
    assert len(lines) == 1 + MOST_LISTED + 1
    assert lines[-1] == "  and 2 more"


@pytest.mark.parametrize(
    ("content", "marks"),
    [
        (b"", {}),
        (b"student,score\nada,1\n", {}),
        (b"\xff\xfe", {}),
        (HEAD.encode() + b"ada\n", {"ada": ("", "")}),
    ],
)
def test_a_damaged_table_has_no_marks(tmp_path: Path, content: bytes, marks: dict[str, tuple[str, str]]) -> None:
    assert marks_of(tmp_path / "scores.csv") == {}
    (tmp_path / "scores.csv").write_bytes(content)
    assert marks_of(tmp_path / "scores.csv") == marks


def test_what_has_no_score_before_and_after_is_no_change(tmp_path: Path) -> None:
    before, now = ("ada,,9,,9.00", "bob,5,9,5.00,9.00"), ("ada,,8,,8.00", "bob,5,9,5.00,9.00")
    assert changes(tmp_path, before, now) == []
