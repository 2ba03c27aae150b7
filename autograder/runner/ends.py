"""Interpret the end of a worker process: the outcome, and whether it is the student's fault."""

import signal

from autograder import ending
from autograder.course import Limits
from autograder.messages import worker_ends as sentences
from autograder.runner.outcomes import WorkerFailure
from autograder.runner.process import End


def outcome_of_exit(end: End, limits: Limits, seconds: float) -> WorkerFailure:
    """Return the outcome of a check whose worker ended, after the judge had waited for `seconds`."""
    match end.kind:
        case "timeout":
            return WorkerFailure("timeout", sentences.over_wall_time(seconds))
        case "log":
            return WorkerFailure("error", sentences.printed_too_much(limits.output_kib))
        case "closed":
            return WorkerFailure("error", sentences.CHANNEL_CLOSED)
        case "large":
            return WorkerFailure("error", sentences.answer_too_large(end.detail))
        case "malformed":
            return WorkerFailure("error", sentences.channel_misused(end.detail))
    status = end.status or 0
    if status == -getattr(signal, "SIGXCPU", 24):
        return WorkerFailure("timeout", sentences.over_cpu_time(limits.cpu_seconds))
    if status == -getattr(signal, "SIGKILL", 9):  # most often Linux ran out of memory
        return WorkerFailure("memory", sentences.KILLED)
    if status < 0:
        return WorkerFailure("error", sentences.crashed(ending.signal_name(-status)))
    return WorkerFailure("error", sentences.exited(status))


STARVED = WorkerFailure("memory", sentences.OUT_OF_MEMORY)
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
