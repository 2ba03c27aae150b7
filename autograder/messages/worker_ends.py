"""Sentences about a worker process that ended, and about checks that were not run because of it."""

UNREADABLE = "Your file is nested too deeply, or too long, to be analysed. Write it in smaller steps."
CHANNEL_CLOSED = "Your code closed the channel for its answers. Look for a call of os.close()."
OUT_OF_MEMORY = "Your code ran out of memory."
KILLED = "The system killed the process, probably for lack of memory. Look for very large lists, arrays or tensors."


def over_wall_time(seconds: float) -> str:
    """Return the sentence about a check that the judge stopped waiting for."""
    advice = "Look for a loop that never ends, or a call that waits."
    return f"Timed out after {seconds:.3g} s, the limit for this run. {advice}"


def over_cpu_time(seconds: float) -> str:
    """Return the sentence about a check that used up its processor time."""
    most = f"{seconds} s of processor time"
    return f"Timed out after {most}, the limit for one run of a check. Look for a loop that never ends."


def printed_too_much(kib: int) -> str:
    """Return the sentence about code that printed more than `kib`."""
    most = f"{kib >> 10} MiB" if kib >= 1024 else f"{kib} KiB"
    return f"Your code printed more than {most}. Look for a print in a loop."


def answer_too_large(detail: str) -> str:
    """Return the sentence about an answer above a limit."""
    return f"Your code returned more than a check accepts: {detail}. Return less."


def channel_misused(detail: str) -> str:
    """Return the sentence about an answer that no worker sends."""
    return f"Your code wrote to the channel for its answers: {detail}. Remove writes to file descriptors."


def crashed(signal: str) -> str:
    """Return the sentence about a process that ended by a signal."""
    advice = "Look for endless recursion or calls into C."
    return f"Your code crashed the Python interpreter ({signal}). {advice}"


def exited(status: int) -> str:
    """Return the sentence about a process that ended by itself."""
    return f"Your code ended the process (exit status {status}). Remove calls of exit() and os._exit()."


def function_over_time(function: str, seconds: float) -> str:
    """Return why the other checks of a function were not run after all its time was used."""
    return f"Not run: the checks of {function or 'the whole file'} before it took {seconds:.3g} s in all, the limit."


def function_given_up(function: str, ends: int, stopped_in: str | None = None) -> str:
    """Return why the other checks of a function were not run after so many checks ended the process.

    `stopped_in` is another function that the last of them stopped in.
    """
    checks = f"{ends} check{'s' if ends > 1 else ''} of {function or 'the whole file'}"
    where = f" {'The last one' if ends > 1 else 'It'} stopped in {stopped_in}." if stopped_in else ""
    return f"Not run: {checks} timed out or ended the process.{where}"


def dependent_not_run(exercise: str) -> str:
    """Return why an exercise was not run that uses one that timed out."""
    return f"Not run: {exercise} timed out, and this exercise uses it."
