"""What a student reads about a worker that ended."""

import signal

from autograder.course import Limits
from autograder.runner.outcomes import Died
from autograder.runner.process import End


def out_of_time(seconds: float) -> str:
    """Say that the wait for a check was over."""
    return f"Timed out after {seconds:.3g} s: is there a loop that never ends, or something it waits for?"


def out_of_processor_time(limits: Limits) -> str:
    """Say that a check used up its processor time."""
    return f"Timed out after {limits.cpu_seconds} s of processor time: is there a loop that never ends?"


def obituary(end: End, limits: Limits, seconds: float) -> Died:
    """Say to the student why the worker ended; it was waited for so many seconds."""
    if end.kind == "silent":
        return Died("timeout", out_of_time(seconds))
    if end.kind == "log":
        most = f"{limits.output_kib >> 10} MiB" if limits.output_kib >= 1024 else f"{limits.output_kib} KiB"
        return Died("error", f"Your code printed more than {most}: is there a print in a loop?")
    if end.kind == "closed":
        return Died("error", "Your code closed the channel the answers go through: is there an os.close()?")
    if end.kind == "large":
        return Died("error", f"Your code returned more than a check can take: {end.detail}.")
    if end.kind == "nonsense":
        return Died("error", f"Your code wrote onto the channel the answers go through: {end.detail}.")
    status = end.status or 0
    if status == -getattr(signal, "SIGXCPU", 24):
        return Died("timeout", out_of_processor_time(limits))
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
