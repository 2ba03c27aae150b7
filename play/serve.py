"""Serve several chats at once with the model of `chat`: one batch, the learner's pages, and their batching of ex32."""

import io
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import torch

from autograder.course import UsageError
from autograder.play import CheckpointError, Stage
from autograder.report import plural
from play import chat
from play.batch import Batch, Writing, check_batch
from play.chatter import Chatter
from play.learning import check_least, refusal
from play.sampling import checked

LEAST = {"chats": 1, "blocks": 1, "block-size": 1, "port": 0}
"""The least value of each option."""

MOST_CHATS = 8
"""More have no room on a page."""

PACKAGES = ("starlette", "uvicorn")


def play(stage: Stage) -> dict[str, Any]:
    """Serve the page until Ctrl-C. With `--say`, write these texts at once, and need no page."""
    sampling = checked({name: stage.options[name] for name in chat.SAMPLING})
    check_least(stage.options, LEAST)
    chats, pool = int(stage.options["chats"]), int(stage.options["blocks"]) * int(stage.options["block-size"])
    if chats > MOST_CHATS:
        raise UsageError(f"--chats is {chats}, expected at most {MOST_CHATS}")
    if pool < sampling["length"]:
        raise UsageError(f"the pool has {pool} tokens, expected at least --length {sampling['length']:g}")
    if not stage.say and not all(map(find_spec, PACKAGES)):
        raise UsageError(
            f"the page needs two packages: install them with `pip install {' '.join(PACKAGES)}`, or the extra `desk` "
            "of this kit; with --say TEXT there is no page"
        )
    if not stage.say and isinstance(stage.stdout, io.StringIO):  # nobody would see the address
        raise UsageError("--json - prints nothing else, so no address either; write --json FILE, or add --say TEXT")
    torch.set_num_threads(1)  # a step is small: two threads wait for each other longer than they compute
    chatter = _trained(stage)
    check_batch(stage, chatter)
    faults = [_sentence(stage, id_, message) for id_, message in stage.faults]
    for fault in faults:
        stage.print(fault, "red")
    batch = Batch(
        stage,
        chatter,
        blocks=int(stage.options["blocks"]),
        block_size=int(stage.options["block-size"]),
        most=chats,
        length=int(sampling["length"]),
        temperature=sampling["temperature"],
        top_p=sampling["top-p"] if sampling["top-p"] < 1 else None,
    )
    if stage.say:
        _write(stage, batch)
    else:
        _serve(stage, batch, faults, chats)
    return _report(stage, batch)


def _trained(stage: Stage) -> Chatter:
    """Return the model of `chat`. Raises `UsageError` if there is none that this code can use."""
    try:
        chatter = chat.load_trained(stage)
    except CheckpointError as error:
        raise UsageError(refusal(error, "chat")) from None
    if chatter is None:
        raise UsageError("no model is trained yet; run `course play chat` first")
    return chatter


def _sentence(stage: Stage, id_: str, message: str) -> str:
    exercise = stage.course.exercise(id_)
    return f"{exercise.number} {exercise.title} fails: {message}"


def _write(stage: Stage, batch: Batch) -> None:
    """Write the texts of `--say` at once, and print them in their order."""
    texts = [Writing(at, prompt, stage.seed + at, lambda _: None) for at, prompt in enumerate(stage.say)]
    batch.add(texts)
    batch.run(stage.stop, until_done=True)
    if stage.stop.is_set():
        raise KeyboardInterrupt
    for text in texts:
        for line in (text.problem or text.prompt + text.text).rstrip().split("\n"):
            stage.print(line)


def _serve(stage: Stage, batch: Batch, faults: Sequence[str], chats: int) -> None:
    """Serve the page until a signal ends it."""
    from autograder.cli import HOST, LocalServer, listen
    from play.serve_page import access_at, application

    with listen(int(stage.options["port"])) as listener:
        access = access_at(f"{HOST}:{listener.getsockname()[1]}")
        with LocalServer(application(batch, access, faults, chats=chats, seed=stage.seed), listener):
            stage.print("The page of your chats. Its address, for you alone; Ctrl-C ends it:")
            print(access.address(access.secret), file=stage.stdout, flush=True)  # in one piece on a narrow terminal
            if stage.options["browser"]:
                access.open_browser()
            batch.run(stage.stop)


def _report(stage: Stage, batch: Batch) -> dict[str, Any]:
    """Print what was measured, and return it."""
    speeds = {count: tokens / seconds for count, (tokens, seconds) in sorted(batch.speeds.items())}
    peak = batch.peak
    if speeds:
        found = ", ".join(f"{speed:,.0f} with {plural(count, 'text')} at once" for count, speed in speeds.items())
        stage.print(f"Tokens a second: {found}.")
        shared = f" Without sharing, {peak.saved} more would be." if peak.saved else ""
        stage.print(
            f"At most {peak.used} of {plural(peak.blocks, 'block')} were in use: {peak.page_bytes:,} bytes of keys and "
            f"values. Contiguous caches would take {peak.contiguous_bytes:,}.{shared}"
        )
    return {
        "speeds": speeds,
        "blocks": peak.blocks,
        "used": peak.used,
        "saved": peak.saved,
        "bytes": peak.page_bytes,
        "contiguous_bytes": peak.contiguous_bytes,
    }
