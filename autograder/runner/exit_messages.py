"""Interpret the end of a worker process: the outcome, the message for the student, and whether it is their fault."""

import signal

from autograder.course import Limits
from autograder.runner.outcomes import WorkerFailure
from autograder.runner.process import End


def wall_time_message(seconds: float) -> str:
    """Return the message for a check that the judge stopped waiting for."""
    advice = "Look for a loop that never ends, or a call that waits."
    return f"Timed out after {seconds:.3g} s, the limit for this run. {advice}"


def cpu_time_message(limits: Limits) -> str:
    """Return the message for a check that used up its CPU time."""
    most = f"{limits.cpu_seconds} s of processor time"
    return f"Timed out after {most}, the limit for one run of a check. Look for a loop that never ends."


def outcome_of_exit(end: End, limits: Limits, seconds: float) -> WorkerFailure:
    """Return the outcome of a check whose worker ended, after the judge had waited for `seconds`."""
    if end.kind == "timeout":
        return WorkerFailure("timeout", wall_time_message(seconds))
    if end.kind == "log":
        most = f"{limits.output_kib >> 10} MiB" if limits.output_kib >= 1024 else f"{limits.output_kib} KiB"
        return WorkerFailure("error", f"Your code printed more than {most}. Look for a print in a loop.")
    if end.kind == "closed":
        return WorkerFailure("error", "Your code closed the channel for its answers. Look for a call of os.close().")
    if end.kind == "large":
        return WorkerFailure("error", f"Your code returned more than a check accepts: {end.detail}. Return less.")
    if end.kind == "malformed":
        sentence = f"Your code wrote to the channel for its answers: {end.detail}."
        return WorkerFailure("error", f"{sentence} Remove writes to file descriptors.")
    status = end.status or 0
    if status == -getattr(signal, "SIGXCPU", 24):
        return WorkerFailure("timeout", cpu_time_message(limits))
    if status == -getattr(signal, "SIGKILL", 9):  # most often Linux ran out of memory
        return WorkerFailure(
            "memory", "The system killed the process, probably for lack of memory. Look for huge tensors."
        )
    if status < 0:
        crash = f"Your code crashed the Python interpreter ({_signal_name(-status)})."
        return WorkerFailure("error", f"{crash} Look for endless recursion or calls into C.")
    return WorkerFailure(
        "error", f"Your code ended the process (exit status {status}). Remove calls of exit() and os._exit()."
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


STARVED = WorkerFailure("memory", "Your code ran out of memory.")
"""The end of a worker in which one exercise may lack what another one holds. It is charged to nobody."""


def is_own_fault(end: End | WorkerFailure) -> bool:
    """Say whether the program itself ended the worker, and nobody else can have done so."""
    if isinstance(end, WorkerFailure):
        return end is not STARVED
    return end.kind in ("malformed", "large", "timeout", "closed")


def is_timeout(end: End | WorkerFailure) -> bool:
    """Return whether a worker ended because of a time limit."""
    if isinstance(end, WorkerFailure):
        return end.status == "timeout"
    return end.kind == "timeout" or (end.kind == "exit" and end.status == -getattr(signal, "SIGXCPU", 24))
