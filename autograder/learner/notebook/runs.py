"""Record the cells that this kernel runs: IPython's history so far, then each run with the id of its cell."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """The source of a cell as run, and the id of the cell if the front end reports it."""

    source: str
    cell: str | None = None


_runs: list[Run] = []
_recording: list[Any] = []
_start_folder: list[Path] = []


def begin_to_record() -> None:
    """Record every cell from now on, and those of the history so far. Without IPython, do nothing."""
    shell = _shell()
    if shell is None or shell in _recording:
        return
    _recording.append(shell)
    with contextlib.suppress(OSError):
        _start_folder.append(Path.cwd())
    _runs.extend(Run(source) for source in shell.history_manager.input_hist_raw if source.strip())
    shell.events.register("pre_run_cell", _note)


def runs() -> tuple[Run, ...]:
    """Return the runs, in order."""
    return tuple(_runs)


def folder() -> Path:
    """Return the folder of the notebook, where the kernel started. Raises OSError if it no longer exists."""
    return _start_folder[-1] if _start_folder else Path.cwd()


def graded_by_nbgrader() -> bool:
    """Return whether nbgrader runs this kernel, to validate or to grade: then nothing is anybody's progress."""
    return bool(os.environ.get("NBGRADER_EXECUTION"))


def notebook_names() -> Iterator[Path]:
    """Yield the path of the running notebook: VS Code sets a variable, JupyterLab an environment variable."""
    shell = _shell()
    named = shell.user_ns.get("__vsc_ipynb_file__") if shell is not None else None
    for name in (named, os.environ.get("JPY_SESSION_NAME")):
        if isinstance(name, str) and name:
            yield Path(name)


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
