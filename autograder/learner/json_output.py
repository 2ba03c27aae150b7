"""Write the result of a command as JSON, for other programs."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.course.storage import write_atomically

SCHEMA = 1


def write_json(target: str | None, data: Mapping[str, Any]) -> bool:
    """Write data to the file that `--json` names, if any. Return whether that was stdout: then print nothing else."""
    if target is None:
        return False
    to_stdout = target == "-"
    text = json.dumps({"schema": SCHEMA, **data}, indent=1) + "\n"  # in ASCII: it has names and code of students
    if to_stdout:
        sys.stdout.write(text)
    else:
        write_atomically(Path(target), text)
    return to_stdout
