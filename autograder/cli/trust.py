"""`course trust`: say that the code of a course may run on this machine, as you."""

import argparse
import sys
from pathlib import Path

from autograder.course import find_course, read_course, trust
from autograder.exits import ENVIRONMENT, PASS


def trust_course(options: argparse.Namespace) -> int:
    """Run the command."""
    root = read_course(find_course(options.folder)).root.resolve()
    if options.undo:
        print(f"No longer trusted: {root}" if trust.distrust(root) else f"Not on the list: {root}")
        return PASS
    file = trust.trust(root)
    if file is None:
        print(f"course: the list of trusted folders cannot be written; use {trust.VARIABLE}={root}", file=sys.stderr)
        return ENVIRONMENT
    print(f"Trusted: {root}, until `course trust --undo`. The list is in {file}")
    return PASS


def ask_on_terminal(root: Path) -> bool:
    """Ask whether a folder is to be trusted; without a terminal the answer is no."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        return False
    print(f"You have not used the course in {root} before.", file=sys.stderr)
    print("Its checks, exercises and solutions are programs, and they run with your rights.", file=sys.stderr)
    print("Do you trust this folder? Type yes: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() == "yes"
