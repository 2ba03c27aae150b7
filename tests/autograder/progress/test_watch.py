"""The real `course watch` in a terminal: saves, keys, signals, and what it leaves behind."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import tiny

if sys.platform == "win32":
    pytest.skip("needs a pseudo-terminal", allow_module_level=True)

from autograder.progress import BEFORE_EDIT, read_progress
from tests.support.watching import FRAME_BEGIN, Watching, saved

pytestmark = pytest.mark.worker

WRONG = tiny.mean_with("return x.cumsum(dim=-1)")
LAST = "return x.cumsum(dim=-1) / (count + 1)"
UNKNOWN = tiny.mean_with(LAST)
LINE = UNKNOWN.split("\n").index(f"    {LAST}") + 1
BROKEN = tiny.mean_with("return (x.cumsum(dim=-1)")
SLOW = f"import time\nprint('begun')\ntime.sleep(600)\n{tiny.MEAN}"


@pytest.fixture
def watching(course: Path) -> Iterator[Watching]:
    """The program on the first exercise, which is solved, with its first verdict shown."""
    saved(course, tiny.MEAN)
    with Watching(course, "1") as program:
        program.verdict()
        yield program


def left(program: Watching, key: str = "q") -> None:
    """Quit; the terminal is as it was, and no worker is left."""
    started = children(program.process.pid)
    program.press(key)
    assert program.ended() == 0, program.shown
    assert_tidy(program, started)


def assert_tidy(program: Watching, started: list[int]) -> None:
    assert program.echoes
    assert not [pid for pid in started if Path(f"/proc/{pid}/cmdline").exists()]


def children(pid: int) -> list[int]:
    """Return the child processes; none where the system does not list them."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def newest_child(pid: int) -> int | None:
    """Return the youngest child of a process, once none was started for a second: a spare worker may be due."""
    newest, since = max(children(pid), default=None), time.monotonic()
    while time.monotonic() - since < 1:
        time.sleep(0.05)
        if (now := max(children(pid), default=None)) != newest:
            newest, since = now, time.monotonic()
    return newest


def test_a_key_hides_the_rest_of_a_verdict_and_shows_it(course: Path) -> None:
    saved(course, WRONG)
    with Watching(course) as program:
        assert "checks pass" in program.verdict()
        program.press("m")
        brief = program.frame("m more")
        assert "The running sum is not divided" in brief
        assert "checks pass" not in brief
        program.press("m")
        assert "checks pass" in program.frame("m less")


def test_the_first_screen_has_the_last_result_and_the_exercise_is_checked_at_once(course: Path) -> None:
    saved(course, WRONG)
    tiny.run_course(course, "check", "1")
    with Watching(course) as program:
        first = program.frame("each save checks it again")
        assert f"exercises/{tiny.FILES[0]}" in first
        assert "Last time: FAIL, 0 of 4 checks pass; first failure: each number is the mean" in first
        assert "The running sum is not divided" in program.verdict()
        left(program)


@pytest.mark.smoke
def test_a_save_is_seen_checked_and_remembered(watching: Watching) -> None:
    watching.save(WRONG)
    old = watching.frame(f"{tiny.FILES[0]} changed, checking")
    assert "PASS" in old, "the last verdict stays"
    assert BEFORE_EDIT in old
    verdict = watching.verdict()
    assert "The running sum is not divided" in verdict
    assert BEFORE_EDIT not in verdict
    assert re.search(r"checked in \d+(\.\d+)? s, at \d\d:\d\d:\d\d +1 of 2 done", verdict)
    standing = read_progress(tiny.course_at(watching.course)).standings[tiny.FIRST]
    assert (standing.status, standing.ever_passed) == ("fail", True)
    watching.save(tiny.MEAN)
    assert "PASS" in watching.verdict()
    left(watching)


def test_the_verdict_is_that_of_course_check(watching: Watching) -> None:
    watching.save(WRONG)
    shown = watching.verdict()
    output = tiny.run_course(watching.course, "check", "1", COLUMNS="100").stdout
    same = output[: output.index("  Next  ")]
    assert same in shown
    left(watching)


PROVED = "one change here makes the check pass"


@pytest.mark.usefixtures("spawned")
def test_the_line_that_decides_a_mistake_is_shown_after_the_verdict(watching: Watching) -> None:
    watching.save(UNKNOWN)
    assert PROVED not in watching.verdict()
    shown = watching.frame(PROVED)
    assert "checked in" in shown
    assert f"{tiny.FILES[0]}:{LINE}  in running_mean(), {PROVED}" in shown
    assert f"One change at line {LINE} makes this check pass." in shown
    watching.save(tiny.MEAN)
    assert "PASS" in watching.verdict()
    left(watching)


def test_a_log_says_which_line_decides_a_mistake_after_the_verdict(course: Path) -> None:
    saved(course, UNKNOWN)
    with Watching(course, "1", "--plain") as program:
        assert PROVED not in program.line("Checked in")
        assert f"One change at line {LINE} makes this check pass." in program.line("One change at")
        left(program, "q\n")


@pytest.mark.usefixtures("spawned")
def test_a_syntax_error_is_reported_without_a_worker(watching: Watching) -> None:
    spare = newest_child(watching.process.pid)
    watching.save(BROKEN)
    shown = watching.verdict()
    assert f"Python cannot read {tiny.FILES[0]}" in shown
    assert re.search(rf"{tiny.FILES[0]}:\d+\n", shown)
    assert newest_child(watching.process.pid) == spare
    output = tiny.run_course(watching.course, "check", "1", COLUMNS="100").stdout
    assert output[: output.index("  Next  ")] in shown
    left(watching)


def test_a_save_during_a_run_starts_over(watching: Watching) -> None:
    watching.save(SLOW)
    watching.frame(f"reading {tiny.FIRST}.py, ")
    second = watching.frame("s so far")
    assert second.count("s so far") == 1, "the state is drawn in its place"
    watching.save(tiny.MEAN)
    watching.frame(f"{tiny.FILES[0]} changed, starting over")
    assert "PASS" in watching.verdict()
    left(watching)


def test_the_same_bytes_saved_again_are_no_change(watching: Watching) -> None:
    watching.save(tiny.MEAN)
    (watching.course / "exercises" / f".{tiny.FILES[0]}.swp").write_text("not watched")
    (watching.course / "exercises" / "notes.py").write_text("not watched")
    watching.save(WRONG)
    watching.verdict()
    left(watching)
    assert watching.shown.count("changed, checking") == 1


def test_an_earlier_exercise_that_is_used_is_watched_too(course: Path) -> None:
    tiny.handed_in(course / "exercises")
    with Watching(course, "2") as program:
        assert f"what it uses: {tiny.FILES[0]}" in program.frame("each save")
        assert "PASS" in program.verdict()
        program.save(tiny.mean_with("return x"))
        program.frame(f"{tiny.FILES[0]} changed")
        program.verdict()
        left(program)


def test_a_notebook_is_watched_in_a_kit_and_its_places_are_cells(course: Path, tmp_path: Path) -> None:
    assert tiny.run_course(course, "release", str(tmp_path / "kit")).returncode == 0
    kit = tmp_path / "kit"
    book = kit / "exercises" / "notebooks" / f"{tiny.FIRST}.ipynb"
    book.parent.mkdir()
    with Watching(kit, "1") as program:
        assert "NOT STARTED" in program.verdict()
        book.write_bytes(tiny.notebook(WRONG, before=2))
        program.frame(f"notebooks/{book.name} changed, checking")
        shown = program.verdict()
        assert "The running sum is not divided" in shown
        assert re.search(rf"{book.name}, cell 3, line \d+", shown)
        assert f"edit {Path('exercises', 'notebooks', book.name)} " in re.sub(r"\s+", " ", shown)
        book.write_bytes(tiny.notebook(BROKEN, before=1))
        shown = program.verdict()
        assert f"Python cannot read {book.name}" in shown
        assert re.search(rf"{book.name}, cell 2, line \d+", shown)
        saved(kit, tiny.MEAN)
        assert "PASS" in program.verdict()
        book.write_bytes(tiny.notebook(WRONG))
        program.frame(f"{tiny.FILES[0]} counts, not notebooks/{book.name}: both have work")
        assert "PASS" in program.verdict()
        left(program)


@pytest.mark.parametrize("gone", ["file", "folder", "link"])
def test_what_cannot_be_read_is_waited_for(gone: str, watching: Watching) -> None:
    folder = watching.course / "exercises"
    file = folder / tiny.FILES[0]
    if gone == "folder":
        folder.rename(watching.course / "elsewhere")
    else:
        file.unlink()
        if gone == "link":
            file.symlink_to(watching.course / "course.toml")
    shown = watching.frame("it can be read")
    assert f"{tiny.FILES[0]} {'is a link' if gone == 'link' else 'is missing'}" in shown
    if gone == "folder":
        (watching.course / "elsewhere").rename(folder)
    else:
        saved(watching.course, tiny.MEAN)
    assert "PASS" in watching.verdict()
    left(watching)


def test_the_keys_do_what_the_commands_do(watching: Watching) -> None:
    watching.press("n")
    watching.frame("Watching exercises/ex02")
    assert "NOT STARTED" in watching.verdict()
    watching.press("n")
    watching.frame("n goes to the next exercise once matrix power passes")
    watching.press("l")
    listed = watching.frame("exercises passed")
    assert "running mean" in listed
    assert "Next" not in listed, "there are keys"
    watching.press("\x1b")
    assert "NOT STARTED" in watching.frame("checked in", without="exercises passed")
    watching.press("r")
    watching.frame("checking")
    watching.verdict()
    watching.press("?")
    assert "show the next hint" in watching.frame("Keys")
    left(watching)


def test_a_second_press_shows_the_next_hint_and_no_command_is_suggested(course: Path) -> None:
    saved(course, WRONG)
    with Watching(course, "1") as program:
        shown = program.verdict()
        assert "\n  Hint  " in shown
        assert "course " not in shown
        program.press("m")
        program.frame("more", without="\n  Hint  ")
        program.press("h")
        waits = program.frame("Press h again to see it now")
        assert "\n  Hint  " in waits, "a brief verdict is whole again"
        assert f"Hint 2 comes after you edit {tiny.FILES[0]}" in waits
        program.press("h")
        assert "\n  Hint  " not in program.frame("Hint 2 of 3")
        program.press("w")
        why = program.frame("Misconception: ")
        assert "esc back" in why
        assert "Next" not in why
        program.save(f"{WRONG}# another try\n")
        assert "Hint 2 of 3" in program.verdict(), "a new verdict takes the place of the panel"
        program.press("h")
        program.frame("Hint 3 of 3")
        program.press("h")
        program.frame("Hint 3 of 3 is the last one")
        left(program)


def test_prints_are_on_the_screen_and_all_of_them_a_key_away(course: Path) -> None:
    saved(course, f"print('imported')\n{tiny.mean_with('print(x.dtype, x.shape); return x.cumsum(dim=-1)')}")
    with Watching(course, "1", rows=24, columns=80) as program:
        shown = program.verdict()
        assert "Your code printed in check values" in shown
        program.press("d")
        panel = program.frame("lines 1 to ")
        for _ in range(9):
            program.press(" ")
            panel += program.frame("lines ")
        for words in ("while it was imported", "in check values, trial 1", "in check axes", "torch.float64"):
            assert words in panel
        left(program)


def test_a_key_for_a_command_that_refuses_ends_nothing(watching: Watching) -> None:
    shutil.rmtree(watching.course / ".course")
    watching.press("h")
    watching.frame("course: no hint for ")
    watching.press("w")
    watching.frame("there is no mistake to explain")
    left(watching)


@pytest.mark.parametrize(
    ("source", "hint", "why"),
    [
        ("def running_mean(:\n", "Look for a bracket, a quote or a colon", "is none of them"),
        ("import numpyy\n", "The imports of the stub are enough.", "is none of them"),
        (tiny.mean_with("while True: pass"), "A `while` needs a line that ends it.", "is none of them"),
        ((tiny.ROOT / "exercises" / tiny.FILES[0]).read_text("utf-8"), "how to begin", "Nothing fails yet"),
        (tiny.MEAN, "there is nothing to hint at", "Every check passes"),
        (None, "`course reset 01` restores the stub", "There is no result yet"),
    ],
)
def test_each_state_has_a_hint_of_its_own(course: Path, source: str | None, hint: str, why: str) -> None:
    file = course / "exercises" / tiny.FILES[0]
    if source is None:
        file.unlink()
    else:
        file.write_text(source, "utf-8")
    with Watching(course, "1") as program:
        program.frame("checked in" if source is not None else "is missing")
        program.press("h")
        program.frame(hint)
        program.press("w")
        program.frame(why)
        left(program)


@pytest.mark.usefixtures("spawned")
def test_ctrl_c_leaves_in_the_middle_of_a_run_with_exit_0(watching: Watching) -> None:
    watching.save(SLOW)
    watching.frame("s so far")
    assert not watching.echoes, "single keys are read without Enter"
    left(watching, "\x03")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("spawned")
def test_a_signal_to_end_is_obeyed_and_leaves_nothing_behind(number: signal.Signals, watching: Watching) -> None:
    started = children(watching.process.pid)
    watching.signal(number)
    assert watching.ended() == 128 + number
    assert_tidy(watching, started)


@pytest.mark.usefixtures("spawned")
def test_a_window_that_is_closed_leaves_no_worker(watching: Watching) -> None:
    started = children(watching.process.pid)
    watching.hang_up()
    watching.process.wait(60)
    assert not [pid for pid in started if Path(f"/proc/{pid}/cmdline").exists()]


def test_while_it_is_stopped_the_terminal_is_the_shells(watching: Watching) -> None:
    watching.press("\x1a")
    os.waitid(os.P_PID, watching.process.pid, os.WSTOPPED | os.WNOWAIT)
    assert watching.echoes
    watching.signal(signal.SIGCONT)
    watching.frame("PASS")
    watching.save(WRONG)
    watching.verdict()
    assert not watching.echoes
    left(watching)


@pytest.mark.parametrize(("rows", "columns"), [(24, 80), (30, 60), (12, 40)])
def test_every_screen_has_the_size_of_the_window(rows: int, columns: int, watching: Watching) -> None:
    watching.resize(rows, columns)
    watching.frame("PASS")
    watching.save(WRONG)
    lines = watching.verdict().split("\n")
    assert len(lines) == rows
    assert max(map(len, lines)) <= columns
    assert "q quit" in "".join(lines[-3:])
    left(watching)


def test_the_screen_is_drawn_in_place_and_what_was_above_is_never_wiped(watching: Watching) -> None:
    watching.save(WRONG)
    watching.verdict()
    left(watching)
    above, *frames = watching.shown.replace("\r", "").split(FRAME_BEGIN)
    assert above == "\n" * 40
    assert all(frame.count("\n") == 39 for frame in frames[:-1]), "a line more would scroll"
    assert frames[-1].endswith("\x1b[J"), "the foot is gone, the verdict stays"
    for wipes in ("\x1b[2J", "\x1b[3J", "\x1b[?1049h", "\x1bc"):
        assert wipes not in watching.shown


def test_plain_is_lines_with_enter_and_nothing_moves(course: Path) -> None:
    saved(course, WRONG)
    with Watching(course, "1", "--plain") as program:
        shown = program.line("Keys, each with Enter: h hint, w why, d diff, m less, t try, l list, r run, q quit.")
        assert "Finding: " in shown
        assert re.search(r"Checked in \d+(\.\d+)? s\. 0 of 2 done\.", shown)
        assert program.echoes
        program.press("h\n")
        program.line(f"Hint 2 comes after you edit {tiny.FILES[0]}")
        program.press("h\n")
        program.line("Hint 2 of 3: ")
        program.press("quit\n")
        assert program.ended() == 0
        assert "\x1b" not in program.shown


@pytest.mark.usefixtures("spawned")
def test_without_a_terminal_it_works_as_a_log_and_ends_with_its_reader(course: Path) -> None:
    saved(course, tiny.MEAN)
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", "watch", "1"],
        cwd=course,
        env=tiny.environment({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    first = read_until(process, "done")
    assert "q quit" not in first
    assert "\x1b" not in first
    assert "course watch 02" in first
    started = children(process.pid)
    process.stdout.close()
    saved(course, WRONG)
    assert process.wait(120) in (1, 3)  # rich, or we, notice it first
    assert process.stderr.read() == ""
    assert not [pid for pid in started if Path(f"/proc/{pid}/cmdline").exists()]


def read_until(process: subprocess.Popen[str], mark: str) -> str:
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if mark in line:
            break
    return "".join(lines)


def test_an_interrupt_without_a_terminal_is_exit_0(course: Path) -> None:
    saved(course, tiny.MEAN)
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", "watch", "1"],
        cwd=course,
        env=tiny.environment({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    read_until(process, "Checking it now")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_outside_of_a_course_it_says_so(tmp_path: Path) -> None:
    done = tiny.run_course(Path(tmp_path.anchor), "watch")
    assert (done.returncode, done.stdout) == (2, "")
    assert "go to the folder of your course" in done.stderr
