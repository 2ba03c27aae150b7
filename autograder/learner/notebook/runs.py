"""What was run in this kernel, in order and where: IPython's own history, and from now on with the ids of the cells."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """The source of a cell as it was run, and the cell's id where the front end tells it."""

    source: str
    cell: str | None = None


_runs: list[Run] = []
_recording: list[Any] = []
_began: list[Path] = []


def begin_to_record() -> None:
    """Note every cell that is run from now on, and those of the history so far. Without IPython nothing is."""
    shell = _shell()
    if shell is None or shell in _recording:
        return
    _recording.append(shell)
    with contextlib.suppress(OSError):
        _began.append(Path.cwd())
    _runs.extend(Run(source) for source in shell.history_manager.input_hist_raw if source.strip())
    shell.events.register("pre_run_cell", _note)


def runs() -> tuple[Run, ...]:
    """Return what was run, in order."""
    return tuple(_runs)


def folder() -> Path:
    """Return the folder of the notebook, in which the kernel began. Raises OSError if it is gone."""
    return _began[-1] if _began else Path.cwd()


def graded_by_nbgrader() -> bool:
    """Say whether nbgrader runs this kernel, to validate or to grade, so that it is nobody's own progress."""
    return bool(os.environ.get("NBGRADER_EXECUTION"))


def notebook_names() -> Iterator[Path]:
    """Yield where the front end says that the running notebook lies: VS Code in a variable, JupyterLab outside."""
    shell = _shell()
    named = shell.user_ns.get("__vsc_ipynb_file__") if shell is not None else None
    for each in (named, os.environ.get("JPY_SESSION_NAME")):
        if isinstance(each, str) and each:
            yield Path(each)


def _note(info: Any) -> None:
    source = getattr(info, "raw_cell", None)
    cell = getattr(info, "cell_id", None)
    if isinstance(source, str) and source.strip():
        _runs.append(Run(source, cell if isinstance(cell, str) else None))


def _shell() -> Any:
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()
