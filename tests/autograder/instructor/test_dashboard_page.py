"""The class page in a browser: it asks for nothing, can be read by everybody, sorts, and prints whole."""

from pathlib import Path

import pytest

from autograder.instructor.page import Findings, page
from autograder.instructor.statistics import (
    Alike,
    Pair,
    check_statistics,
    clusters_of,
    misconceptions_of,
    stuck_students,
)
from tests.support import class_examples as examples
from tests.support import tiny
from tests.support.accessibility import faults
from tests.support.browser import Browser

PHONE, LAPTOP = 390, 1280


@pytest.fixture(scope="module")
def class_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cohort = examples.cohort(examples.large_class(40, exercises=4, checks=6))
    lines = ((3, "    return a / b"), (9, "    return c"))
    pairs = [Pair(("student-0001", "student-0002"), (Alike("ex01_part_1.py", (0.9, 0.8), 300, (lines, lines)),))]
    whys = misconceptions_of(cohort, tiny.COURSE, lambda _, text: text)
    found = Findings(
        cohort, stuck_students(cohort), whys, check_statistics(cohort), clusters_of(cohort), pairs, "", ["A note."]
    )
    file = tmp_path_factory.mktemp("page") / "class.html"
    file.write_text(page(found), "utf-8")
    return file


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_everybody_can_read_the_page_and_it_asks_for_nothing(
    chromium: Browser, class_page: Path, axe: str, width: int, dark: bool
) -> None:
    chromium.open(class_page, width=width, dark=dark)
    assert chromium.requests == [class_page.as_uri()]
    assert chromium.said == []
    assert chromium.value("document.documentElement.scrollWidth") == width
    if width == LAPTOP:
        wide = "[...document.querySelectorAll('.wide')].filter(one => one.scrollWidth > one.clientWidth).length"
        assert chromium.value(wide) == 0
    else:
        why = "document.querySelector('#stuck tbody tr').cells[3].getBoundingClientRect().right"
        assert chromium.value(why) <= width
    assert faults(chromium, axe) == []
    ground = chromium.value("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(23, 25, 31)" if dark else "rgb(255, 255, 255)")


def test_axe_sees_a_fault_where_there_is_one(chromium: Browser, class_page: Path, axe: str) -> None:
    chromium.open(class_page, width=LAPTOP)
    chromium.value("document.querySelector('p').setAttribute('style', 'color: #ccc'); 0")
    chromium.value(
        "document.querySelector('p').style.color = '#ccc'; document.querySelector('svg.strip').ariaLabel = ''; 0"
    )
    assert {"color-contrast", "svg-img-alt"} <= {fault["id"] for fault in faults(chromium, axe)}


def test_a_table_is_sorted_by_any_column_in_either_order(chromium: Browser, class_page: Path) -> None:
    chromium.open(class_page, width=LAPTOP)

    def column(name: str, at: int) -> list[str]:
        cells = f"[...document.querySelectorAll('#{name} tbody tr')].map(row => row.cells[{at}].textContent)"
        return list(chromium.value(cells))

    def press(name: str, at: int) -> str:
        head = f"document.querySelectorAll('#{name} thead th')[{at}]"
        return str(chromium.value(f"{head}.querySelector('button').click(); {head}.getAttribute('aria-sort')"))

    assert press("stuck", 1) == "descending"
    points = [float(cell) for cell in column("stuck", 1)]
    assert points == sorted(points, reverse=True)
    assert press("stuck", 1) == "ascending"
    assert [float(cell) for cell in column("stuck", 1)] == points[::-1]
    assert press("stuck", 0) == "ascending"
    assert column("stuck", 0) == sorted(column("stuck", 0))
    assert press("checks", 2) == "descending"
    shares = [int(cell.split(" ")[0]) for cell in column("checks", 2)]
    assert shares == sorted(shares, reverse=True)
    sorts = "[...document.querySelectorAll('#stuck th[aria-sort]')].map(header => header.getAttribute('aria-sort'))"
    assert chromium.value(sorts).count("none") == len(chromium.value(sorts)) - 1


def test_pointing_at_a_strip_says_whose_verdict_it_is(chromium: Browser, class_page: Path) -> None:
    chromium.open(class_page, width=LAPTOP)
    chromium.value("document.querySelector('svg.strip').scrollIntoView({block: 'center'})")
    box = chromium.value(
        "(() => { const {x, y, width, height} = document.querySelector('svg.strip').getBoundingClientRect();"
        "return {x, y, width, height} })()"
    )
    place = {"x": box["x"] + box["width"] * 0.99, "y": box["y"] + box["height"] / 2}
    chromium.call("Input.dispatchMouseEvent", type="mouseMoved", **place)
    tooltip = chromium.value("document.getElementById('point').textContent")
    names = chromium.value("document.getElementById('students').textContent")
    assert tooltip.startswith(f"{names.rsplit(chr(34), 2)[1]}: 01 part 1 ")


def test_without_its_script_all_is_there_and_what_is_printed_is_all(chromium: Browser, class_page: Path) -> None:
    chromium.open(class_page, width=LAPTOP, scripts=False)
    assert not chromium.value("document.querySelectorAll('button').length")
    assert chromium.value("document.querySelectorAll('tbody tr').length") > 50
    chromium.open(class_page, width=LAPTOP, media="print", dark=True)
    assert chromium.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert chromium.value("getComputedStyle(document.querySelector('.wide')).maxHeight") == "none"
    assert chromium.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    chromium.value("dispatchEvent(new Event('beforeprint'))")
    assert chromium.value("[...document.querySelectorAll('details')].every(item => item.open)")
