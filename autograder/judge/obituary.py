"""What a student is told of a worker that ended."""

import signal

from autograder.judge.outcomes import Died
from autograder.judge.process import End

OUT_OF_TIME = "Your code ran out of time: is there a loop that never ends, or something it waits for?"
"""Which clock ran out first depends on how busy the machine is, so the sentence does not say."""


def obituary(end: End, output_kib: int) -> Died:
    """Say to the student why the worker ended."""
    if end.kind == "silent":
        return Died("timeout", OUT_OF_TIME)
    if end.kind == "log":
        most = f"{output_kib >> 10} MiB" if output_kib >= 1024 else f"{output_kib} KiB"
        return Died("error", f"Your code printed more than {most}: is there a print in a loop?")
    if end.kind == "closed":
        return Died("error", "Your code closed the channel the answers go through: is there an os.close()?")
    if end.kind == "large":
        return Died("error", f"Your code returned more than a check can take: {end.detail}.")
    if end.kind == "nonsense":
        return Died("error", f"Your code wrote onto the channel the answers go through: {end.detail}.")
    status = end.status or 0
    if status == -getattr(signal, "SIGXCPU", 24):
        return Died("timeout", "Your code used up its processor time: is there a loop that never ends?")
    if status == -getattr(signal, "SIGKILL", 9):
        return Died("memory", "The system killed the process: did it use up the machine's memory?")
    if status < 0:
        return Died("error", f"Your code crashed the Python interpreter ({_signal_name(-status)}).")
    return Died("error", f"Your code ended the process (exit status {status}): is there an exit() or os._exit()?")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
