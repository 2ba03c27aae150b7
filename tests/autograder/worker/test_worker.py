"""Programs that end, hang, flood, lie or cheat get a verdict with a sentence, and cost no other exercise anything.

The first exercise does it; the second is right and needs nothing of the first, so it must get all of its points.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.judge import Grader
from autograder.results import Report
from autograder.runner import Fault, Runner, SpawnedWorker
from autograder.runner.process import PROGRAM, WorkerProcess
from autograder.sandbox import Isolation
from autograder.submission import read_submission
from autograder.worker.session import interrupted_after
from tests.support import tiny

pytestmark = pytest.mark.worker

INSIDE = "def running_mean(x):\n    "
RIGHT = f"\n{tiny.MEAN}"
ENDLESS = r"Timed out after (1 s of processor time|\d+(\.\d+)? s), the limit for [^.]*\. Look for a loop"
"""Which clock runs out first depends on how busy the machine is."""
ANSWERS = """
import json, os, struct, sys
def send(event, blob=b""):
    text = json.dumps({"dict": event}).encode()
    os.write(ANSWERS, struct.pack(">4sII", b"CRS1", len(text), len(blob)) + text + blob)
def channel():
    frame = sys._getframe()
    while frame.f_code.co_name != "serve":
        frame = frame.f_back
    return frame.f_locals["answers"]
ANSWERS = channel()
"""
"""How a program that looks for it finds the descriptor that its observations leave through."""

LITTLE_MEMORY = replace(tiny.COURSE.limits, memory_mib=128)
CRAMPED = replace(tiny.BRIEF, course=replace(tiny.COURSE, limits=LITTLE_MEMORY))
"""With so little memory that it is used up long before the time is, on the slowest of machines."""

HASTY = replace(tiny.BRIEF, course=replace(tiny.COURSE, limits=replace(tiny.COURSE.limits, wall_seconds=4)))
"""With little wall time, for programs that use up all of it without using the processor."""


@pytest.fixture(scope="module")
def hasty(key_cache: Path, forks: Isolation) -> Iterator[Grader]:
    """A grader with one check for each exercise that does not wait for long."""
    with Grader(HASTY, seed=tiny.COURSE.seed, evidence=True, cache=key_cache, isolation=forks) as made:
        yield made


@pytest.fixture(scope="module")
def brief(key_cache: Path, forks: Isolation) -> Iterator[Grader]:
    """A grader with one check for each exercise."""
    with Grader(tiny.BRIEF, seed=tiny.COURSE.seed, evidence=True, cache=key_cache, isolation=forks) as made:
        yield made


BOUNDED = 400
"""Seconds: more than the slowest machine needs, and less than the programs below would sleep."""


def graded(grader: Grader, first: str | bytes, runner: Runner | None = None, second: str = tiny.POWER_ALONE) -> Report:
    """Grade a first exercise beside a right second one, and hold the report against what every report promises."""
    started = time.monotonic()
    report = grader.grade(tiny.submitted(first, second), runner=runner)
    assert time.monotonic() - started < BOUNDED, "a submission is graded in bounded time"
    assert "grader_error" not in {check.status for exercise in report.exercises for check in exercise.checks}
    other = tiny.result_of(report, tiny.SECOND)
    assert (other.status, other.score) == ("pass", tiny.FULL[tiny.SECOND]), tiny.sentences_of(other)
    json.dumps(report.to_json(), ensure_ascii=False, allow_nan=False).encode("utf-8")
    for check in tiny.result_of(report, tiny.FIRST).checks:
        if check.status not in ("pass", "not_started"):
            assert check.finding is not None
            assert check.finding.message.rstrip().endswith((".", "?", "…")), check.finding.message
            assert len(check.finding.message) <= 160
    return report


def verdict(report: Report, check: str = "values") -> tuple[str, str]:
    """Return the status of a check of the first exercise, and its message."""
    result = tiny.check_of(report, tiny.FIRST, check)
    return result.status, result.finding.message if result.finding else ""


def waited(seconds: float) -> tuple[str, str]:
    """Return the verdict on a check that was waited for in vain."""
    advice = "Look for a loop that never ends, or a call that waits."
    sentence = f"Timed out after {seconds:.3g} s, the limit for this run. {advice}"
    return "timeout", sentence


def place(report: Report, check: str = "values") -> tuple[str, int] | None:
    finding = tiny.check_of(report, tiny.FIRST, check).finding
    return (finding.place.file, finding.place.line) if finding and finding.place else None


def test_a_right_program_gets_every_point(grader: Grader) -> None:
    report = graded(grader, tiny.MEAN, second=tiny.POWER)
    assert (report.score, report.max_score, report.statuses) == (10000, 10000, {"pass"})


@pytest.mark.parametrize(
    ("program", "status", "sentence"),
    [
        ("import os\nos._exit(0)", "error", "ended the process (exit status 0)"),
        (f"import os\n{INSIDE}os._exit(0)", "error", "ended the process (exit status 0)"),
        ("import sys\nsys.exit(0)", "error", "exit()"),
        (f"import sys\n{INSIDE}sys.exit(0)", "error", "exit()"),
        ("raise SystemExit", "error", "exit()"),
        (f"{INSIDE}exit()", "error", "exit()"),
        (f"{INSIDE}quit(1)", "error", "exit()"),
        (f"{INSIDE}raise KeyboardInterrupt", "error", "raised KeyboardInterrupt in running_mean()"),
        (f"{INSIDE}raise GeneratorExit", "error", "raised GeneratorExit"),
        (f"import atexit, os\natexit.register(os._exit, 0)\n{INSIDE}return x.cumsum(-1)", "fail", "not divided"),
        (f"import ctypes\n{INSIDE}ctypes.string_at(0)", "error", "crashed the Python interpreter (SIGSEGV)"),
        (f"import os, signal\n{INSIDE}os.kill(os.getpid(), signal.SIGTERM)", "error", "(SIGTERM)"),
        (f"import os, signal\n{INSIDE}os.kill(os.getpid(), signal.SIGKILL)", "memory", "killed the process"),
        (f"{INSIDE}return running_mean(x)", "error", "raised RecursionError"),
        ("raise NotImplementedError('ex01')", "not_started", ""),
        ("def running_mean(x: return x", "error", "Python cannot read"),
        ("import nothing_of_this_name", "error", "raised ModuleNotFoundError while it was imported"),
        ("", "fail", "ex01_running_mean.py defines no running_mean; it defines nothing at all: is the file empty?"),
        ("x = 1", "fail", "ex01_running_mean.py defines no running_mean"),
        ("def runing_mean(x): return x", "fail", "it defines runing_mean: rename it if that is the one"),
        ("running_mean = 5", "fail", "cannot be called as its stub says"),
        ("def running_mean(x, n): return x", "fail", "cannot be called as its stub says"),
        (b"def running_mean(x):\n    return '\xff'", "error", "Python cannot read"),
        (b"x = 1\0", "error", "has a null byte"),
        ("x = " + "(" * 5000 + ")" * 5000, "error", ""),
    ],
)
def test_a_program_that_ends_or_cannot_start_gets_a_message(
    brief: Grader, forking_runner: Runner, program: str | bytes, status: str, sentence: str
) -> None:
    report = graded(brief, program, forking_runner)
    assert verdict(report)[0] == status
    assert sentence in verdict(report)[1]
    assert tiny.check_of(report, tiny.FIRST, "values").score == 0


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (f"{INSIDE}while True:\n        pass", (2, 3)),
        ("while True:\n    pass", (1, 2)),
        (
            f"{INSIDE}while True:\n        try:\n            while True: pass\n        except BaseException: pass",
            (2, 3, 4),
        ),
        (f"import re\n{INSIDE}re.match('(a+)+$', 'a' * 60 + 'b')", (3,)),
    ],
)
def test_an_endless_loop_is_stopped_and_its_line_is_reported(
    brief: Grader, runner: Runner, program: str, line: tuple[int, ...]
) -> None:
    report = graded(brief, program, runner)
    assert verdict(report)[0] == "timeout"
    assert re.match(ENDLESS, verdict(report)[1])
    where = place(report)
    assert where is not None
    assert where[0] == tiny.FILES[0]
    assert where[1] in line


@pytest.mark.parametrize(
    ("what", "status"), [("while True: pass", "timeout"), ("os._exit(0)", "error"), ("os.abort()", "error")]
)
def test_what_ends_a_later_draw_is_charged_to_its_check(
    key_cache: Path, forks: Isolation, what: str, status: str
) -> None:
    two = {name: tuple(replace(check, trials=2) for check in checks) for name, checks in HASTY.checks.items()}
    program = tiny.mean_with("return x.cumsum(dim=-1) / count if first() else second()") + (
        f"\nimport os\ncalls = []\ndef first():\n    calls.append(1)\n    return len(calls) == 1\n"
        f"def second():\n    {what}\n"
    )
    with Grader(replace(HASTY, checks=two), seed=tiny.COURSE.seed, cache=key_cache, isolation=forks) as grader:
        report = graded(grader, program)
    assert verdict(report)[0] == status
    assert report.exercises[1].status == "pass"


def test_a_death_after_a_slow_draw_is_charged_to_its_check_alone(key_cache: Path, forks: Isolation) -> None:
    """What was kept back for long is sent with the end of a trial: then the next of the same check is not begun yet.

    The second death is in a run that is careful, and counts.
    """
    first, second, *_ = tiny.SUITE.checks[tiny.FIRST]
    checks = {**tiny.BRIEF.checks, tiny.FIRST: (replace(first, trials=3), replace(second, trials=1))}
    program = tiny.mean_with("return x.cumsum(dim=-1) / count if alive() else None") + (
        "\nimport os, time\ncalls = []\ndef alive():\n    calls.append(1)\n    len(calls) == 1 and time.sleep(1.2)\n"
        "    len(calls) == 2 and os._exit(0)\n    return True\n"
    )
    suite = replace(tiny.BRIEF, checks=checks)
    with Grader(suite, seed=tiny.COURSE.seed, cache=key_cache, isolation=forks) as grader:
        report = graded(grader, program)
    assert [check.status for check in report.exercises[0].checks] == ["error", "pass"]


def test_checks_that_end_just_before_a_death_count_and_the_right_one_is_charged(grader: Grader) -> None:
    """The judge has no results of them yet when the process dies: they run again, each announced before it begins."""
    program = tiny.mean_with("return x.cumsum(dim=-1) / count if x.dtype != torch.float64 else end()") + (
        "\nimport os\ndef end():\n    os._exit(0)\n"
    )
    report = graded(grader, program)
    assert [check.status for check in report.exercises[0].checks] == ["pass", "pass", "error", "pass"]
    assert report.exercises[1].status == "pass"


def test_a_program_that_sleeps_is_stopped_after_the_wall_time_and_its_line_is_reported(hasty: Grader) -> None:
    report = graded(hasty, f"import time\n{INSIDE}time.sleep(1000)")
    assert verdict(report) in (waited(4), waited(4 / 3))
    assert place(report) == (tiny.FILES[0], 3)


def test_a_program_that_answers_byte_by_byte_runs_out_of_time(hasty: Grader) -> None:
    drip = "os.write(ANSWERS, struct.pack('>4sII', b'CRS1', 1 << 16, 0))\n    for _ in range(120):\n"
    program = f"{ANSWERS}\nimport time\n{INSIDE}{drip}        os.write(ANSWERS, b' ')\n        time.sleep(0.5)"
    assert verdict(graded(hasty, program)) in (waited(4), waited(4 / 3))


@pytest.mark.parametrize(
    "program",
    [
        f"import itertools\n{INSIDE}all(itertools.repeat(True))",
        f"import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n{INSIDE}while True: pass",
        f"import os, signal\n{INSIDE}os.kill(os.getpid(), signal.SIGSTOP)",
    ],
    ids=["inside C", "deaf to signals", "stopped itself"],
)
def test_a_program_that_hangs_where_no_signal_reaches_is_killed(hasty: Grader, program: str) -> None:
    """Which check hangs is not known the first time: it is waited for once more, not for as long."""
    assert verdict(graded(hasty, program)) == waited(4 / 3)


@pytest.mark.parametrize(
    "program",
    [
        f"import torch\n{INSIDE}return torch.zeros(1 << 40)",
        f"{INSIDE}return bytearray(1 << 40)",
        f"{INSIDE}hoard = []\n    while True: hoard.append(bytearray(1 << 24))",
        f"HOARD = []\n{INSIDE}while True: HOARD.append(bytearray(1 << 24))",
    ],
)
def test_a_huge_allocation_is_a_matter_of_memory(key_cache: Path, program: str) -> None:
    with Grader(CRAMPED, seed=tiny.COURSE.seed, cache=key_cache) as cramped:
        report = graded(cramped, program)
    assert verdict(report) == ("memory", "Your code asked for more than the 128 MiB of memory there are.")
    assert place(report) is not None


@pytest.mark.parametrize(
    "program",
    [
        f"{INSIDE}print('x' * 100_000_000)",
        f"import os\n{INSIDE}\n    while True: os.write(2, b'x' * 65536)",
        "import os, threading\n"
        "def flood():\n    while True: os.write(1, b'x' * 65536)\n"
        f"threading.Thread(target=flood, daemon=True).start()\nimport time\ntime.sleep(2){RIGHT}",
    ],
    ids=["100 MB at once", "for ever", "a thread, for ever"],
)
def test_a_flood_of_output_is_stopped(brief: Grader, forking_runner: Runner, program: str) -> None:
    report = graded(brief, program, forking_runner)
    assert verdict(report) == ("error", "Your code printed more than 512 KiB. Look for a print in a loop.")
    assert len(report.log) <= 4000


def test_a_thread_that_prints_for_ever_now_and_then_changes_nothing(brief: Grader) -> None:
    chatty = (
        "import threading, time\n"
        "def chat():\n    while True:\n        print('hello', flush=True)\n        time.sleep(0.001)\n"
        "threading.Thread(target=chat).start()"
    )
    report = graded(brief, f"{chatty}{RIGHT}")
    assert report.score == 10000
    assert report.log.startswith("hello")


def test_what_a_program_prints_is_in_no_report_for_a_mark(key_cache: Path, forks: Isolation) -> None:
    """It can print the secret seed."""
    with Grader(tiny.BRIEF, seed=tiny.COURSE.seed, cache=key_cache, isolation=forks) as grader:
        report = graded(grader, f"print('hello', flush=True){RIGHT}")
    assert (report.score, report.log) == (10000, "")
    assert all(exercise.prints == () for exercise in report.exercises)


def test_a_thread_that_ends_the_process_later_costs_the_other_exercise_nothing(brief: Grader) -> None:
    late = (
        "import os, threading\n"
        "def end():\n    while 'ex02_matrix_power' not in sys.modules: pass\n    os._exit(0)\n"
        "import sys\nthreading.Thread(target=end, daemon=True).start()"
    )
    graded(brief, f"{late}{RIGHT}")


FORGERIES = {
    "garbage": "os.write(ANSWERS, b'1 passed in 0.01s')",
    "half a header": "os.write(ANSWERS, b'CRS1'); os._exit(0)",
    "a huge frame": "os.write(ANSWERS, struct.pack('>4sII', b'CRS1', 1 << 31, 1 << 31))",
    "a pass": "send({'event': 'pass'})",
    "a score": "send({'event': 'done', 'score': 10000})",
    "done": "send({'event': 'done'}); os._exit(0)",
    "no event": "send({'score': 1})",
    "an unhashable event": "send({'event': 'begin', 'exercise': [1], 'check': [1], 'trial': [1]})",
    "an observation with a tail": (
        "send({'event': 'observed', 'exercise': 'ex01_running_mean', 'check': 'values', 'trial': 0,"
        " 'value': 1, 'seconds': 0.0}); os.write(ANSWERS, b'trailing nonsense')"
    ),
    "no machine": "send({'event': 'unusable', 'message': 'this machine is broken'})",
    "ready": "send({'event': 'ready'})",
    "infinite seconds": (
        "send({'event': 'observed', 'exercise': 'ex01_running_mean', 'check': 'values', 'trial': 0,"
        " 'value': 1, 'seconds': {'float': 'inf'}})"
    ),
    "enormous seconds": (
        "send({'event': 'observed', 'exercise': 'ex01_running_mean', 'check': 'values', 'trial': 0,"
        " 'value': 1, 'seconds': 10 ** 400})"
    ),
    "an infinite line": (
        "send({'event': 'stuck', 'frames': [{'dict': {'file': 'a', 'line': {'float': 'inf'}, 'function': ''}}]})"
    ),
    "a check of no exercise": "send({'event': 'begin', 'exercise': 'ex01_running_mean', 'check': 'x', 'trial': 0})",
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_answer_earns_nothing_and_is_reported(brief: Grader, forking_runner: Runner, forgery: str) -> None:
    program = f"{ANSWERS}\ndef running_mean(x):\n    {FORGERIES[forgery]}\n    return x"
    report = graded(brief, program, forking_runner)
    assert tiny.result_of(report, tiny.FIRST).score == 0
    assert verdict(report)[0] in ("error", "fail")


@pytest.mark.parametrize("rows", [30, 900])
def test_a_result_of_too_many_parts_is_reported_as_one_and_not_as_an_attack(
    brief: Grader, runner: Runner, rows: int
) -> None:
    report = graded(brief, f"def running_mean(x):\n    return [[0.5] * 900] * {rows}", runner)
    status, sentence = verdict(report)
    assert status == "error"
    assert sentence.startswith("Your code returned more than a check accepts: a ")


def test_a_first_exercise_cannot_earn_the_points_of_the_second(brief: Grader, runner: Runner) -> None:
    program = (
        f"{ANSWERS}\ndef running_mean(x):\n    send({{'event': 'load', 'exercise': 'ex02_matrix_power'}})\n"
        "    where = {'exercise': 'ex02_matrix_power', 'check': 'power', 'trial': 0}\n"
        "    send({'event': 'begin', **where})\n    send({'event': 'observed', **where, 'value': True, 'seconds': 0.0})"
    )
    report = brief.grade(tiny.submitted(program, "raise NotImplementedError"), runner=runner)
    assert report.score == 0
    assert "grader_error" not in report.statuses


@pytest.mark.parametrize("repeated", ["ready", "load", "begin"])
def test_answers_that_repeat_themselves_do_not_keep_the_grader_waiting(
    brief: Grader, forking_runner: Runner, repeated: str
) -> None:
    program = (
        f"{ANSWERS}\nimport time\ndef running_mean(x):\n    at = 0\n    while True:\n        at += 1\n"
        f"        send({{'event': '{repeated}', 'exercise': 'ex01_running_mean', 'check': 'values',"
        " 'trial': 0, 'at': at})\n        time.sleep(0.5)"
    )
    assert verdict(graded(brief, program, forking_runner))[0] == "error"


@pytest.mark.parametrize(
    "then",
    ["return x", "raise ValueError", "while True: pass", "time.sleep(1000)", "os._exit(0)"],
)
def test_a_program_that_closes_every_descriptor_is_an_error_and_is_not_waited_for(
    brief: Grader, forking_runner: Runner, then: str
) -> None:
    report = graded(brief, f"import os, time\n{INSIDE}os.closerange(0, 256)\n    {then}", forking_runner)
    assert verdict(report)[0] in ("error", "timeout")


def test_what_a_program_leaves_behind_is_killed_with_it(grader: Grader) -> None:
    before = workers_of(os.getpid())
    child = f"import os, time\n{INSIDE}\n    if os.fork() == 0:\n        time.sleep(1000)\n    return x.cumsum(-1)"
    alike = "Your results equal those of a program in which the running sum is not divided."
    assert verdict(graded(grader, child)) == ("fail", alike)
    until = time.monotonic() + 10
    while (left := workers_of(os.getpid()) - before) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left


def test_a_child_that_leaves_the_process_group_cannot_hold_up_the_verdict(
    brief: Grader, runner: Runner, tmp_path: Path
) -> None:
    note = tmp_path / "child"
    child = (
        f"import os, time\nfrom pathlib import Path\n{INSIDE}\n    if os.fork() == 0:\n        os.setsid()\n"
        f"        with open({str(note)!r}, 'a') as file:\n            file.write(f'{{os.getpid()}}\\n')\n"
        "        time.sleep(3600)\n        os._exit(0)\n    return x.cumsum(-1)"
    )
    try:
        assert verdict(graded(brief, child, runner))[0] == "fail"
    finally:
        for line in note.read_text().split():
            os.kill(int(line), 9)  # an error if the verdict came only after the child had ended


def workers_of(parent: int) -> set[int]:
    """Return the workers, and copies of them, that descend from a process or were left behind by one that did."""
    found = set()
    for folder in Path("/proc").iterdir() if Path("/proc/self/stat").exists() else ():
        if not folder.name.isdigit():
            continue
        try:
            command = (folder / "cmdline").read_bytes()
            above = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if str(PROGRAM).encode() in command and above in (parent, 1):
            found.add(int(folder.name))
    return found


LYING_EXCEPTIONS = {
    "its text raises": ("class E(Exception):\n    def __str__(self): raise self", "raised E in running_mean()"),
    "its text is 10 MB": ("class E(Exception):\n    def __str__(self): return 'x' * 10_000_000", "raised E"),
    "its text is no text": ("class E(Exception):\n    def __str__(self): return 5", "raised E"),
    "half a character": ("class E(Exception):\n    def __str__(self): return '\\ud800'", "raised E"),
    "an escape sequence": ("class E(Exception):\n    def __str__(self): return '\\x1b[2J\\0'", "raised E"),
    "a silly name": ("E = type('\\n\\x1b[31mPASS \\ud800' + 'y' * 5000, (Exception,), {})", "Your code raised"),
    "a lying class": (
        "class M(type):\n    __name__ = property(lambda self: 1 / 0)\nclass E(Exception, metaclass=M): pass",
        "raised E in running_mean()",
    ),
    "a chain without end": ("E = ValueError\nE1 = E('a')\nE1.__cause__ = E1", "raised ValueError"),
}


@pytest.mark.parametrize("lie", LYING_EXCEPTIONS)
def test_an_exception_that_lies_about_itself_is_an_error(brief: Grader, runner: Runner, lie: str) -> None:
    definition, sentence = LYING_EXCEPTIONS[lie]
    report = graded(brief, f"{definition}\n{INSIDE}raise E", runner)
    assert verdict(report)[0] == "error"
    assert sentence in verdict(report)[1]


LIAR = """
import torch
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        {lie}
"""

WRONG_ANSWERS = {
    "lying subclass": (
        LIAR.format(lie="return True") + f"{INSIDE}return x.as_subclass(Liar)",
        ("fail", "error"),
    ),
    "refusing subclass": (
        LIAR.format(lie="raise RuntimeError('no')")
        + f"{INSIDE}y = x.as_subclass(Liar)\n    raise ValueError('with a liar in the frame')",
        ("error",),
    ),
    "equal to everything": (
        "class Any:\n    __eq__ = __ge__ = __le__ = __bool__ = lambda *_: True\n    __hash__ = None\n"
        f"    __sub__ = __abs__ = lambda *_: 0.0\n{INSIDE}return Any()",
        ("fail", "error"),
    ),
    "posing as a tensor": (
        f"import torch\nclass Posing:\n    __class__ = torch.Tensor\n{INSIDE}return Posing()",
        ("fail", "error"),
    ),
    "NaN": (f"{INSIDE}return x * float('nan')", ("fail",)),
    "infinity": (f"{INSIDE}return x * float('inf')", ("fail",)),
    "float64": (tiny.mean_with("return x.double().cumsum(-1) / count"), ("fail",)),
    "complex": (tiny.mean_with("return x.cumsum(-1) / count + 0j"), ("fail",)),
    "sparse": (tiny.mean_with("return (x.cumsum(-1) / count).to_sparse()"), ("fail", "error")),
    "meta": (tiny.mean_with("return (x.cumsum(-1) / count).to('meta')"), ("fail",)),
    "numpy": (tiny.mean_with("return (x.cumsum(-1) / count).numpy()"), ("fail", "error")),
    "one axis more": (tiny.mean_with("return (x.cumsum(-1) / count)[None]"), ("fail",)),
    "one number": (tiny.mean_with("return (x.cumsum(-1) / count).mean()"), ("fail",)),
    "a list": (tiny.mean_with("return (x.cumsum(-1) / count).tolist()"), ("fail",)),
    "a list of tensors": (tiny.mean_with("return list(x.cumsum(-1) / count)"), ("fail",)),
    "a tuple": (tiny.mean_with("return (x.cumsum(-1) / count,)"), ("fail",)),
    "a generator": (tiny.mean_with("return (each for each in x.cumsum(-1) / count)"), ("fail", "error")),
    "None": (tiny.mean_with("x.cumsum(-1) / count"), ("fail",)),
    "a module": (tiny.mean_with("return torch"), ("fail",)),
    "an enormous list": (tiny.mean_with("return [[[0] * 900] * 900]"), ("fail", "error")),
    "an enormous tensor": (tiny.mean_with("return torch.zeros(1).expand(1 << 40)"), ("fail",)),
    "a list in itself": (tiny.mean_with("a = []; a.append(a); return a"), ("fail",)),
    "a text with half a character": (tiny.mean_with("return '\\ud800'"), ("fail",)),
}


@pytest.mark.parametrize("answer", WRONG_ANSWERS)
def test_an_answer_of_the_wrong_kind_is_wrong(brief: Grader, runner: Runner, answer: str) -> None:
    program, statuses = WRONG_ANSWERS[answer]
    report = graded(brief, program, runner)
    assert verdict(report)[0] in statuses
    assert verdict(report)[1]
    assert tiny.check_of(report, tiny.FIRST, "values").score == 0


CHEATS = {
    "comparisons": (
        "import torch, builtins, math\nimport numpy as np\nyes = lambda *a, **k: True\n"
        "torch.allclose = torch.equal = torch.isclose = torch.testing.assert_close = math.isclose = yes\n"
        "np.allclose = np.isclose = np.array_equal = yes\n"
        "builtins.abs = lambda value: 0.0\nbuiltins.all = builtins.any = yes\n"
        "torch.Tensor.__eq__ = torch.Tensor.__bool__ = torch.Tensor.allclose = yes"
    ),
    "what the worker runs on": (
        "import autograder.protocol.frames as v\nv.Array.__eq__ = lambda *a: True\nv.decode = lambda *a: None\n"
        "import autograder.checks.language as l\nl.checks_in = lambda module: []\n"
        "import autograder.checks.language as j\nj.Same.tolerance = 1e9\n"
        "import sys\nsys.settrace(lambda *a: None)\nsys.excepthook = sys.unraisablehook = lambda *a: None\n"
        "try:\n    import pytest\n    pytest.skip('no', allow_module_level=True)\nexcept Exception: pass"
    ),
    "what observes": (
        "import sys, types\nliar = types.SimpleNamespace(observe=lambda value, depth=0: True)\n"
        "sys.modules['autograder.worker.session'] = liar"
    ),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_patching_what_might_compare_gains_nothing(grader: Grader, cheat: str) -> None:
    report = grader.grade(tiny.submitted(f"{CHEATS[cheat]}\n{INSIDE}return x.sum()", tiny.POWER_ALONE))
    assert tiny.result_of(report, tiny.FIRST).score == 0
    assert "grader_error" not in report.statuses


def test_files_with_the_names_of_libraries_are_never_taken(grader: Grader, tmp_path: Path) -> None:
    folder = tiny.handed_in(tmp_path / "ada")
    for name in ("torch", "numpy", "conftest", "autograder", "sitecustomize", "usercustomize", "json", "encodings"):
        (folder / f"{name}.py").write_text("raise SystemExit('taken')")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --co\n")
    (folder / "site-packages").mkdir()
    (folder / "site-packages" / "torch.py").write_text("raise SystemExit('taken')")
    submission = read_submission(folder, tiny.FILES)
    assert set(submission.sources) == set(tiny.FILES)
    assert grader.grade(submission).score == 10000


STATES = {
    "torch": (
        "torch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)\ntorch.set_default_device('meta')\n"
        "import random, numpy\nfor seed in (torch.manual_seed, random.seed, numpy.random.seed): seed(0)"
    ),
    "the interpreter": (
        "import gc, os, sys, warnings\nsys.setrecursionlimit(60)\ngc.disable()\nwarnings.simplefilter('error')\n"
        "os.chdir('/')\nos.environ.clear()\nsys.path.clear()\nsys.argv.clear()"
    ),
    "streams and builtins": (
        "import builtins, sys\nsys.stdout = sys.stderr = sys.stdin = None\ndel builtins.print, builtins.open"
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_what_one_file_sets_for_the_process_does_not_change_the_next_verdict(grader: Grader, state: str) -> None:
    report = graded(grader, f"import torch\n{STATES[state]}\n{tiny.MEAN}")
    assert report.score == 10000, tiny.sentences_of(tiny.result_of(report, tiny.FIRST))


UNSET = {
    "a tensor": "torch.empty(x.shape)",
    "an array": "torch.from_numpy(numpy.empty(1 << 20, 'float32'))[0]",
    "an array of integers": "torch.from_numpy(numpy.empty_like(numpy.arange(1 << 20)))[0]",
}


@pytest.mark.parametrize("unset", UNSET)
def test_memory_that_was_never_set_is_no_right_answer_by_chance(brief: Grader, runner: Runner, unset: str) -> None:
    # New memory often holds zeros.
    returning = tiny.mean_with(f"return x.cumsum(dim=-1) / count + {UNSET[unset]}")
    program = f"import numpy, torch\ntorch.utils.deterministic.fill_uninitialized_memory = False\n{returning}"
    report = graded(brief, program, runner)
    assert tiny.check_of(report, tiny.FIRST, "values").status == "fail"


def test_changing_the_inputs_in_place_changes_no_expectation(brief: Grader, runner: Runner) -> None:
    report = graded(brief, f"{INSIDE}x.zero_()\n    return x", runner)
    assert tiny.check_of(report, tiny.FIRST, "values").status == "fail"


def test_a_submission_sees_no_environment_no_input_and_an_empty_folder(key_cache: Path) -> None:
    os.environ["COURSE_TEST_SECRET"] = "hunter2"
    started = Grader(tiny.SUITE, seed=tiny.COURSE.seed, evidence=True, cache=key_cache)
    try:
        looking = (
            "import os, sys\n"
            "print(sorted(os.environ), os.listdir('.'), repr(sys.stdin.read()), sys.argv[1:], flush=True)"
        )
        with started as grader:
            report = graded(grader, f"{looking}\n{tiny.MEAN}")
    finally:
        del os.environ["COURSE_TEST_SECRET"]
    assert "SECRET" not in report.log
    assert "[] '' []" in report.log


def test_the_same_program_gets_the_same_report_every_time(grader: Grader) -> None:
    reports = []
    for _ in range(2):
        report = grader.grade(tiny.submitted(tiny.mean_with("return x.cumsum(-1) / x.size(-1)"), tiny.POWER_ALONE))
        data = report.to_json()
        for exercise in data["exercises"]:
            for check in exercise["checks"]:
                del check["seconds"]
        reports.append(data)
    assert reports[0] == reports[1]


def test_a_worker_that_is_let_go_before_it_is_ready_leaves_nothing() -> None:
    before = workers_of(os.getpid())
    with Runner(tiny.SUITE, seed=tiny.COURSE.seed) as early:
        early.prepare()
        until = time.monotonic() + 10
        while not workers_of(os.getpid()) - before:  # a process that has just begun has no command line yet
            assert time.monotonic() < until
    assert not workers_of(os.getpid()) - before


@pytest.mark.parametrize("mentioned", [False, True])
def test_the_compiler_of_torch_is_loaded_only_for_checks_that_mention_optimizers(mentioned: bool) -> None:
    first, second = tiny.SUITE.exercises
    bans = replace(tiny.COURSE, exercises=(first, replace(second, forbidden=("torch.optim.SGD",))))
    checks = {**tiny.SUITE.sources}
    checks[f"test_{first.id}.py"] += b"\n# an optimizer" if mentioned else b""
    program = tiny.mean_with("import sys; raise ValueError('torch._dynamo' in sys.modules)")
    suite = replace(tiny.SUITE, course=bans, sources=checks)
    with Runner(suite, seed=tiny.COURSE.seed) as fresh:
        outcomes = fresh.run(tiny.submitted(program).sources, suite.plan([first])).outcomes[first.id]
    assert {outcome.message for outcome in outcomes.values() if isinstance(outcome, Fault)} == {str(mentioned)}


def test_many_threads_and_descriptors_are_given_back(brief: Grader) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        return
    brief.grade(tiny.submitted())
    threads, before = threading.active_count(), len(list(descriptors.iterdir()))
    for _ in range(2):
        brief.grade(tiny.submitted())
    assert threading.active_count() <= threads
    assert len(list(descriptors.iterdir())) <= before


def test_the_worker_program_ends_when_nobody_asks() -> None:
    command = [sys.executable, "-I", "-S", str(PROGRAM), "--library=torch"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False)
    assert b"unusable" in done.stdout, "without the folders of packages there is no torch, and it says so"
    assert done.returncode == 0


def test_a_file_whose_syntax_cannot_be_looked_at_earns_nothing(monkeypatch: pytest.MonkeyPatch, brief: Grader) -> None:
    """What nobody looked at may hold any forbidden call."""
    assert brief.grade(tiny.submitted()).statuses == {"pass"}
    monkeypatch.setattr("autograder.runner.runner.Attempt._note_survey", lambda self, event: None)
    unseen = brief.grade(tiny.submitted())
    assert unseen.statuses == {"error"}
    assert unseen.score == 0


def test_what_was_printed_is_there_though_nobody_waited_for_it() -> None:
    child = SpawnedWorker()
    reader, writer = os.pipe()
    child.log = os.fdopen(reader, "rb")
    os.write(writer, b"printed")
    with WorkerProcess(child, output_kib=64) as worker:
        assert worker.take_log() == b"printed"
        assert worker.take_log() == b""
        os.close(writer)


def test_a_system_that_cannot_watch_pipes_grades_as_well(monkeypatch: pytest.MonkeyPatch, key_cache: Path) -> None:
    monkeypatch.setattr("autograder.runner.process.PIPES_CAN_BE_WATCHED", False)
    with Grader(tiny.BRIEF, seed=tiny.COURSE.seed, cache=key_cache) as grader:
        assert grader.grade(tiny.submitted()).statuses == {"pass"}
        status, message = verdict(grader.grade(tiny.submitted("import os\nos._exit(3)")))
    assert status == "error"
    assert "exit status 3" in message


@pytest.mark.parametrize("writes", [True, False])
def test_a_worker_keeps_its_own_modules_compiled_if_the_judge_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, writes: bool
) -> None:
    engine = tmp_path / "autograder"
    shutil.copytree(tiny.REPOSITORY / "autograder", engine, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("autograder.runner.process.PROGRAM", engine / "worker" / "__main__.py")
    monkeypatch.setattr(sys, "dont_write_bytecode", not writes)
    with WorkerProcess(SpawnedWorker(), output_kib=64) as worker:
        assert worker.next_event(60) == {"event": "ready"}
    assert bool([*engine.glob("worker/__pycache__/session.*.pyc")]) is writes


def test_no_import_of_a_student_leaves_a_compiled_file(monkeypatch: pytest.MonkeyPatch, key_cache: Path) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    asks = "import os, sys\nassert sys.dont_write_bytecode and os.environ['PYTHONDONTWRITEBYTECODE'] == '1'"
    with Grader(tiny.BRIEF, seed=tiny.COURSE.seed, cache=key_cache) as grader:
        assert grader.grade(tiny.submitted(f"{asks}\n{tiny.MEAN}")).statuses == {"pass"}


def test_what_waits_is_not_interrupted_and_what_computes_is() -> None:
    def compute() -> None:
        while True:
            pass

    with interrupted_after(0.05):
        time.sleep(0.2)
    with pytest.raises(TimeoutError, match=r"not done after 0.05 s"), interrupted_after(0.05):
        compute()
