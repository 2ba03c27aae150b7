"""`course trust`: allow the code of a course to run on this machine with your rights."""

import argparse
import sys
from pathlib import Path

from autograder.cli.screen import say, warn
from autograder.course import find_course, read_course, trust
from autograder.exits import ENVIRONMENT, PASS


def trust_course(options: argparse.Namespace) -> int:
    """Run the command."""
    root = read_course(find_course(options.folder)).root.resolve()
    if options.undo:
        say(f"No longer trusted: {root}" if trust.distrust(root) else f"It was not trusted: {root}")
        return PASS
    file = trust.trust(root)
    if file is None:
        warn(f"the list of trusted folders cannot be written; set {trust.VARIABLE}={root} instead")
        return ENVIRONMENT
    say(f"Trusted: {root}, until `course trust --undo`. The list is in {file}")
    return PASS


def ask_on_terminal(root: Path) -> bool:
    """Ask whether to trust a folder. Without a terminal the answer is no."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        return False
    say(f"You have not used the course in {root} before.", stream=sys.stderr)
    say("Its checks, exercises and solutions are programs, and they run with your rights.", stream=sys.stderr)
    say("Do you trust this folder? Type yes:", end=" ", stream=sys.stderr)
    return sys.stdin.readline().strip().lower() == "yes"
