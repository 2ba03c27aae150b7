"""What a command found, as JSON, for other programs."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.learner.progress import write_whole

SCHEMA = 1


def write_json(options: argparse.Namespace, data: Mapping[str, Any]) -> bool:
    """Write the data where `--json` asks for it. Whether that was the standard output: then nothing else is shown."""
    if options.json is None:
        return False
    to_stdout = bool(options.json == "-")
    text = json.dumps({"schema": SCHEMA, **data}, indent=1, ensure_ascii=to_stdout) + "\n"
    if to_stdout:
        sys.stdout.write(text)
    else:
        write_whole(Path(options.json), text)
    return to_stdout
