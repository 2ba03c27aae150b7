"""A signal ends a program with the sentence of the work that it stopped, also if leaving a cluster ends that work."""

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.worker

PROGRAM = """
import threading
from autograder import ending

ending.install(4)
left = threading.Event()
with ending.saying(lambda: "stopped after 1 of 6"), ending.leaving(left.set):
    print("ready", flush=True)
    left.wait()
threading.Event().wait()
"""


def test_the_sentence_is_of_the_work_that_was_stopped_though_leaving_ends_it_first() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (4, "course: stopped after 1 of 6\n")
