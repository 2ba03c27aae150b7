"""A teaching assistant at the desk in a browser: by keys, without a mouse, on a laptop and on a phone."""

import contextlib
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("python_multipart")

from autograder.cli import HOST, LocalServer, listen
from autograder.desk.app import Desk, application
from autograder.desk.worklist import Worklist
from tests.support import export_examples as classes
from tests.support import tiny
from tests.support.accessibility import faults
from tests.support.browser import Browser

PHONE, LAPTOP = 390, 1280
FOCUS = "document.activeElement"
CLAIM = f"student: bob\nexercise: {tiny.FIRST}\ncheck: values\nmy question: Why is <b>that</b> wrong?\n"


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Desk]:
    """Serve a desk of the class in a folder until the block ends."""
    worklist = Worklist(
        folder / "course", folder / "out", submissions=folder / "handed in", claims=folder / "claims.txt"
    )
    with listen(0) as listener:
        desk = Desk(worklist, "Grace Hopper", f"{HOST}:{listener.getsockname()[1]}")
        with LocalServer(application(desk), listener):
            yield desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    classes.graded_class(tmp_path)
    folder = tmp_path / "handed in" / "bob"
    folder.mkdir(parents=True)
    source = "".join(f"line_{at} = {'x' * 300}\n" for at in range(1, 200))
    (folder / tiny.FILES[0]).write_text(source, "utf-8")
    (tmp_path / "claims.txt").write_text(CLAIM, "utf-8")
    with served(tmp_path) as made:
        yield made


def enter(chromium: Browser, desk: Desk, **options: bool) -> str:
    """Open the desk as the printed address does, and return its address."""
    chromium.open(desk.access.address(desk.access.secret), width=LAPTOP, **options)
    chromium.wait("document.getElementById('results')")
    return f"http://{desk.host}"


def test_a_teaching_assistant_decides_by_keys_alone(chromium: Browser, desk: Desk) -> None:
    base = enter(chromium, desk)
    assert chromium.value("location.href") == f"{base}/"
    assert chromium.value("document.cookie") == ""
    chromium.press("/")
    assert chromium.value(f"{FOCUS}.name") == "q"
    for letter in "bob":
        chromium.press(letter)
    chromium.wait("document.querySelectorAll('a.row').length === 1 && location.search === '?q=bob'")
    chromium.press("Enter")
    chromium.wait(f"{FOCUS}.className === 'row'")
    chromium.press("Enter")
    chromium.wait("document.querySelector('h1').textContent === 'Bob Ünal'")
    in_view = "(() => { const code = document.querySelector('.file pre'), at = code.scrollTop;"
    in_view += "const line = code.querySelector('.wrong').offsetTop - code.offsetTop - at;"
    assert chromium.value(f"{in_view} return line >= 0 && line < code.clientHeight }})()")
    chromium.press("e")
    assert chromium.value(f"{FOCUS}.id") == "first"
    chromium.value("document.querySelector('[name=value]').focus(); 0")
    chromium.call("Input.insertText", text="30")
    chromium.value("document.querySelector('[name=text]').focus(); 0")
    chromium.call("Input.insertText", text="the check is <b>too</b> strict")
    chromium.value("document.querySelector('[name=value]').focus(); 0")
    chromium.press("Enter")
    chromium.wait("document.getElementById('saved')")
    saved = chromium.value("document.getElementById('saved').textContent")
    assert "30 points for exercise 01, by Grace Hopper" in saved
    assert "the check is <b>too</b> strict" in saved
    chromium.value("document.activeElement.blur(); history.back()")
    chromium.wait("!document.getElementById('saved')")
    assert chromium.said == []
    assert all(address.startswith(base) for address in chromium.requests)
    [_, row] = (desk.worklist.root / "adjustments.csv").read_text("utf-8").splitlines()
    assert row.startswith(f"bob,{tiny.FIRST},points,30,the check is <b>too</b> strict,Grace Hopper,")


def test_keys_move_through_the_class_and_the_filters_stay(chromium: Browser, desk: Desk) -> None:
    base = enter(chromium, desk)
    chromium.value("document.querySelector('[name=exercise]').focus(); 0")
    script = f"const field = document.querySelector('[name=exercise]'); field.value = '{tiny.FIRST}';"
    chromium.value(f"{{ {script} field.dispatchEvent(new Event('input', {{bubbles: true}})); field.blur() }}; 0")
    chromium.wait("document.querySelectorAll('a.row').length === 4")
    assert chromium.value("document.getElementById('count').textContent").strip() == "4 of 6 marks"
    chromium.press("j")
    chromium.press("j")
    assert chromium.value(f"{FOCUS}.textContent") == "eve"
    chromium.press("Enter")
    chromium.wait("document.querySelector('h1').textContent === 'eve'")
    chromium.press("k")
    chromium.wait("document.querySelector('h1').textContent === 'Bob Ünal'")
    assert chromium.value("location.search") == f"?exercise={tiny.FIRST}"
    chromium.press("?")
    assert chromium.value("document.getElementById('keys').open")
    chromium.value("document.getElementById('keys').close(); location.reload()")
    chromium.wait("document.querySelector('h1').textContent === 'Bob Ünal'")
    chromium.value("document.getElementById('list').click()")
    chromium.wait("document.querySelectorAll('a.row').length === 4")
    assert chromium.value("location.href") == f"{base}/?exercise={tiny.FIRST}"


def test_a_question_is_answered_by_a_reason(chromium: Browser, desk: Desk) -> None:
    base = enter(chromium, desk)
    chromium.open(f"{base}/questions", width=LAPTOP)
    assert chromium.value("document.querySelector('blockquote').textContent") == "Why is <b>that</b> wrong?"
    chromium.value("document.querySelector('a.row').click()")
    chromium.wait("document.querySelector('[name=kind]')?.value === 'comment'")
    chromium.value("document.querySelector('.claim a').click()")
    chromium.wait(f"{FOCUS}.name === 'text'")
    chromium.call("Input.insertText", text="the sum is not divided")
    chromium.value("document.querySelector('[name=text]').form.requestSubmit(); 0")
    chromium.wait("document.getElementById('saved')")
    saved = chromium.value("document.getElementById('saved').textContent")
    assert "Your question about values: the sum is not divided" in saved
    chromium.open(f"{base}/questions", width=LAPTOP)
    assert chromium.value("document.querySelector('.tag').textContent") == "answered"


def test_what_was_typed_is_not_lost_without_a_question(chromium: Browser, desk: Desk) -> None:
    base = enter(chromium, desk)
    chromium.open(f"{base}/student/-/bob", width=LAPTOP)
    chromium.press("e")
    chromium.value("document.querySelector('[name=text]').focus(); 0")
    chromium.call("Input.insertText", text="a long reason")
    # A key that opens a question is answered only after that, so the link is followed a moment later.
    chromium.value("setTimeout(() => document.querySelector('a[rel=next]').click(), 50); 0")
    until = time.monotonic() + 20
    asked = False
    while not asked:
        assert time.monotonic() < until, "the page asks nothing"
        with contextlib.suppress(AssertionError):
            chromium.call("Page.handleJavaScriptDialog", accept=False)
            asked = True
    assert chromium.value("document.querySelector('h1').textContent") == "Bob Ünal"
    assert chromium.value("document.querySelector('[name=text]').value") == "a long reason"
    field = "document.querySelector('[name=value]')"
    assert chromium.value(f"{field}.placeholder") == "12.5"
    chromium.value(
        "{ const kind = document.getElementById('first').form.kind; kind.value = 'comment';"
        "kind.dispatchEvent(new Event('input')) }; 0"
    )
    assert chromium.value(f"[{field}.placeholder, {field}.disabled]") == ["none", True]
    chromium.value("document.querySelector('[name=text]').form.requestSubmit(); 0")
    chromium.wait("document.getElementById('saved')")
    chromium.press("j")
    chromium.wait("document.querySelector('h1').textContent === 'eve'")


def test_a_page_on_which_nobody_typed_asks_nothing(chromium: Browser, desk: Desk) -> None:
    base = enter(chromium, desk)
    chromium.open(f"{base}/student/-/fay", width=LAPTOP)
    assert chromium.value("document.querySelector('.course-card.problem') !== null")
    chromium.press("j")
    chromium.wait("!location.pathname.endsWith('/fay')")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_everybody_can_read_and_reach_all_of_it(
    chromium: Browser, desk: Desk, axe: str, width: int, dark: bool
) -> None:
    base = enter(chromium, desk)
    void = f"/student/-/bob/void/{tiny.FIRST}/values"
    for page in ("/", "/student/-/bob", void, "/student/-/zoe", "/questions", "/student/-/nobody"):
        chromium.open(f"{base}{page}", width=width, dark=dark)
        assert chromium.value("document.documentElement.scrollWidth") == width, page
        outside = (
            f"[...document.querySelectorAll('table.class td')].map(td => td.getBoundingClientRect().right > {width})"
        )
        assert True not in chromium.value(outside), "a column is outside of the screen"
        chromium.call("Page.setBypassCSP", enabled=True)
        assert faults(chromium, axe) == [], page
        chromium.call("Page.setBypassCSP", enabled=False)
        ground = chromium.value("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(23, 25, 31)" if dark else "rgb(255, 255, 255)")


def test_a_check_is_made_void_from_the_points_of_a_student(chromium: Browser, desk: Desk) -> None:
    base = enter(chromium, desk)
    chromium.open(f"{base}/student/-/bob?exercise={tiny.FIRST}", width=LAPTOP)
    chromium.value("document.querySelectorAll('.other').forEach(part => { part.open = true; })")
    chromium.value("document.querySelector('a[href*=\"void/\"]').click()")
    chromium.wait("document.getElementById('effect')")
    assert "2 of 6 students get another mark" in chromium.value("document.getElementById('effect').textContent")
    chromium.press("e")
    assert chromium.value(f"{FOCUS}.name") == "text"
    chromium.call("Input.insertText", text="the text was wrong")
    chromium.value("document.querySelector('[name=text]').form.requestSubmit(); 0")
    chromium.wait("document.getElementById('saved')")
    assert "2 of 6 students get another mark" in chromium.value("document.getElementById('saved').textContent")
    assert chromium.value("location.search").startswith(f"?exercise={tiny.FIRST}&")


def test_a_printed_page_has_whole_files_and_no_forms(chromium: Browser, desk: Desk) -> None:
    base = enter(chromium, desk)
    chromium.open(f"{base}/student/-/bob", width=LAPTOP, media="print", dark=True)
    assert chromium.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    shown = "[...document.querySelectorAll('form, nav, .act')].filter(part => part.checkVisibility()).length"
    assert chromium.value(shown) == 0
    assert chromium.value("document.querySelector('.other table').getBoundingClientRect().height") > 0
    code = "(() => { const code = document.querySelector('.file pre');"
    assert chromium.value(f"{code} return code.scrollHeight <= code.clientHeight + 1 }})()")
    assert chromium.value(f"{code} return code.scrollWidth <= code.clientWidth }})()")


def test_without_its_script_the_desk_filters_and_saves(chromium: Browser, desk: Desk) -> None:
    base = enter(chromium, desk)
    chromium.open(f"{base}/?q=bob", width=LAPTOP, scripts=False)
    assert chromium.value("document.querySelectorAll('a.row').length") == 1
    chromium.open(f"{base}/student/-/bob", width=LAPTOP, scripts=False)
    chromium.value(
        "document.querySelector('[name=value]').value = '3'; document.querySelector('[name=text]').value = 'w'"
    )
    chromium.value("document.querySelector('[name=text]').form.submit(); 0")
    chromium.wait("document.getElementById('saved')")
    assert "3 points for exercise 01" in chromium.value("document.getElementById('saved').textContent")


@pytest.mark.worker
def test_the_program_prints_its_address_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    command = [sys.executable, *tiny.PROGRAM, "desk", str(tmp_path / "out"), "--no-browser", "--by", "Grace"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=course, env=tiny.environment({"PYTHONUNBUFFERED": ""}), **pipes) as running:
        lines = [running.stdout.readline() for _ in range(3)]
        port = int(re.search(r":(\d+)/", lines[2])[1])
        with socket.create_connection((HOST, port)) as half:  # a request that never ends does not keep the desk open
            half.sendall(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n")
            running.send_signal(signal.SIGINT)
            rest, errors = running.communicate(timeout=60)
    assert lines[0] == f"Reading {tmp_path / 'out'}\n"
    assert lines[1] == "The desk has 6 marks. Its address, for you alone; Ctrl-C ends it:\n"
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}\n", lines[2])
    assert rest == "The desk is closed. Every decision that was saved is in adjustments.csv\n"
    assert running.returncode == 0
    assert "Traceback" not in errors


@pytest.mark.worker
@pytest.mark.skipif(sys.platform != "linux", reason="a variable names the browser there")
def test_the_browser_is_opened_with_an_address_for_one_visit(tmp_path: Path) -> None:
    client = pytest.importorskip("httpx2")
    course = classes.graded_class(tmp_path)
    program, opened = tmp_path / "program", tmp_path / "opened"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > "{opened}.part" && mv "{opened}.part" "{opened}"\n', "utf-8")
    program.chmod(0o755)
    command = [sys.executable, *tiny.PROGRAM, "desk", str(tmp_path / "out")]
    env = tiny.environment({"BROWSER": str(program), "DISPLAY": ":99"})
    with subprocess.Popen(command, cwd=course, env=env, stdout=subprocess.PIPE, text=True) as running:
        printed = [running.stdout.readline() for _ in range(3)][2].strip()
        while not opened.exists():
            assert running.poll() is None
            time.sleep(0.02)
        address = opened.read_text("utf-8")
        statuses = [client.get(one).status_code for one in (address, address, printed, printed)]
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
    assert address.partition("=")[0] == printed.partition("=")[0]
    assert address != printed
    assert statuses == [200, 403, 200, 200]
    assert running.returncode == 128 + signal.SIGTERM


@pytest.mark.worker
def test_a_missing_package_and_a_port_in_use_are_sentences(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    (tmp_path / "starlette.py").write_text("raise ImportError\n", "utf-8")
    path = f"{tmp_path}:{tiny.REPOSITORY}"
    ended = tiny.run_course(course, "desk", str(tmp_path / "out"), PYTHONPATH=path)
    assert ended.returncode == 2
    assert "pip install starlette uvicorn python-multipart" in ended.stderr
    with listen(0) as listener:
        port = str(listener.getsockname()[1])
        ended = tiny.run_course(course, "desk", str(tmp_path / "out"), "--port", port)
    assert ended.returncode == 2
    assert f"port {port} cannot be used" in ended.stderr
