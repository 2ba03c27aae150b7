"""Examine this machine, and print a block to copy into a question.

Exit status: 3 if something must be fixed.
"""

import argparse

from autograder.cli import CommandParser, Screen, add_json
from autograder.exits import ENVIRONMENT, PASS
from autograder.progress import write_json

from .doctor import at_home, examine


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command. Exit with 3 if something must be fixed."""
    facts = list(examine())
    broken = [fact for fact in facts if fact.wrong]
    status = ENVIRONMENT if broken else PASS
    data = {"ok": not broken, "facts": {fact.name: fact.found for fact in facts}}
    if write_json(options.json, {**data, "wrong": {fact.name: fact.wrong for fact in broken}}):
        return status
    screen = Screen.of(options)
    width = max(len(fact.name) for fact in facts)
    if not screen.plain:
        screen.line("```text")
    for fact in facts:
        name = f"{fact.name}:" if screen.plain else fact.name.ljust(width + 1)
        screen.line(f"{name} {at_home(fact.found)}", ("  <- here" if fact.wrong else "", "red"))
    if not screen.plain:
        screen.line("```")
    for fact in broken:
        screen.text(f"{fact.name}: {at_home(fact.wrong)}", indent=0, style="red")
    if not broken:
        screen.text("Nothing is wrong here. To ask about a problem, copy the lines above.", indent=0, style="green")
    return status
