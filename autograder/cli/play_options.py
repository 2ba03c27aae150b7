"""The options of `course play ACTIVITY`: those of every activity, and its own from course.toml."""

import argparse
from pathlib import Path

from autograder.cli.arguments import DEVICE, DIFFERENT_SEED, Parser, positive
from autograder.course.model import Activity
from autograder.learner.play.launch import PlaySettings

LARGEST_SEED = 10**18 - 1
"""torch takes 64 bits, and an activity adds small numbers to its seed."""


def parse_settings(activity: Activity, options: argparse.Namespace, needs: str = "") -> PlaySettings:
    """Return the settings of an activity. Raises `UsageError`; exits with 0 after `--help`, which ends with `needs`."""
    title = activity.title
    parser = Parser(prog=f"course play {activity.id}", description=f"{title[0].upper()}{title[1:]}.", epilog=needs)
    add = parser.add_argument
    add("--device", default="cpu", metavar="NAME", help=DEVICE)
    add("--seed", type=_seed, default=1, metavar="N", help=f"{DIFFERENT_SEED} (default: 1)")
    add("--steps", type=positive, metavar="N", help="train for N steps (default: the activity decides)")
    add("--say", action="append", default=[], metavar="TEXT", help="answer TEXT instead of your typing; repeatable")
    add("--fresh", action="store_true", help="ignore the checkpoint and start over")
    add("--anyway", action="store_true", help="train even if an exercise that it needs fails")
    add("--submission", type=Path, metavar="DIR", help="use a folder or a zip (default: your exercises/)")
    add("--json", metavar="FILE", help="write the figures to FILE; - is stdout, and nothing else is printed")
    own = parser.add_argument_group(f"options of {activity.id}") if activity.choices else parser
    for choice in activity.choices:
        does = choice.does.replace("%", "%%")  # argparse reads % as a field
        if isinstance(choice.default, bool):
            own.add_argument(
                f"--{choice.name}", action=argparse.BooleanOptionalAction, default=choice.default, help=does
            )
        else:
            default = str(choice.default).replace("%", "%%")
            text = f"{does} (default: {default})" if default else does
            kind = type(choice.default)
            own.add_argument(f"--{choice.name}", type=kind, default=choice.default, metavar="X", help=text)
    known, others = parser.parse_known_args(options.others)
    parser.refuse(others)
    parsed = vars(known)
    values = {choice.name: parsed.pop(choice.name.replace("-", "_")) for choice in activity.choices}
    return PlaySettings(**parsed, plain=options.plain, color=False if options.no_color else None, options=values)


def _seed(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = LARGEST_SEED + 1
    if abs(number) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at most 18 digits")
    return number
