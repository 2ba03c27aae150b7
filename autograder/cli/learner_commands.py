"""The commands of a learner, and their options."""

from pathlib import Path

from autograder.cli.arguments import Commands, add_exercise, add_json, add_run

COURSE_SEED = "the seed of course.toml"

NAMING = "Every command that takes an exercise accepts its number, its name, the beginning of its name, or its id."


def _naming(commands: Commands) -> str:
    """Return how an exercise is named, with the names of one as an example."""
    *others, last = commands.names or [""]
    return f"{NAMING[:-1]}:\n{', '.join(others)} and {last} all name {last}." if others else NAMING


def add_learner_commands(commands: Commands) -> None:
    """Add the commands to learn with."""
    commands.group = "Write and check"
    _add_try(commands)
    _add_check(commands)
    _add_watch(commands)
    _add_lsp(commands)
    commands.group = "Get help"
    _add_hint(commands)
    _add_why(commands)
    _add_diff(commands)
    _add_solution(commands)
    commands.group = "Practise"
    _add_hunt(commands)
    _add_arrange(commands)
    _add_review(commands)
    commands.group = "Find your way"
    _add_next(commands)
    _add_list(commands)
    _add_status(commands)
    _add_report(commands)
    _add_reset(commands)
    commands.group = "Hand in and use"
    _add_submit(commands)
    _add_play(commands)
    commands.group = "This machine"
    _add_doctor(commands)
    _add_trust(commands)


def _add_try(commands: Commands) -> None:
    parser = commands.add(
        "try",
        "try_out.show_try",
        "run the example of the lesson on your code, before any check",
        "It shows your numbers beside those that the lesson computes on paper. It gives no points, and your progress "
        "does not change.",
    )
    add_exercise(commands, parser)
    does = "run the example on the files in a folder or a zip, not on your exercises/; they run with your rights"
    parser.add_argument("--submission", type=Path, metavar="DIR", help=does)
    add_json(parser)


def _add_check(commands: Commands) -> None:
    parser = commands.add(
        "check",
        "check.check",
        "run the checks of your exercise, and explain the first failure",
        "Without EX it checks the exercise you are on. The result is saved as your progress, unless you name a "
        f"--submission.\n\n{_naming(commands)}\n\n"
        "Exit status: 0 if all pass, 1 if not, 2 for a wrong option or course, 3 if this machine cannot run checks, 4 "
        "if the grader itself failed.",
    )
    parser.add_argument("exercises", nargs="*", metavar="EX", help=f"{commands.exercise} (default: the one you are on)")
    parser.add_argument("--all", action="store_true", help="check every exercise")
    does = "check the files in a folder or a zip, not your exercises/; they run with your rights"
    parser.add_argument("--submission", type=Path, metavar="DIR", help=does)
    does = "do not ask what a corrected mistake was (also: questions = false in course.toml)"
    parser.add_argument("--no-questions", action="store_true", help=does)
    add_run(parser, COURSE_SEED)
    add_json(parser)


def _add_watch(commands: Commands) -> None:
    parser = commands.add(
        "watch",
        "watch.watch",
        "check your exercise each time you save it",
        "Keys show a hint, the mistake, the measurements or the list, and move on; ? lists them, and q quits. "
        "With --plain, press Enter after a key.",
    )
    add_exercise(commands, parser)
    add_run(parser, COURSE_SEED)


def _add_lsp(commands: Commands) -> None:
    commands.add(
        "lsp",
        "lsp.run_server",
        "check at every save, and show the wrong line in your editor",
        "An editor starts this language server and talks to it over stdin and stdout. It needs pygls.",
    )


def _add_hint(commands: Commands) -> None:
    parser = commands.add(
        "hint",
        "hint.show_hint",
        "show the next hint for your last failure",
        "Hints go from a question to the step. After the first one, the next hint comes when you have edited "
        "your file, or with --now.",
    )
    add_exercise(commands, parser)
    parser.add_argument("--now", action="store_true", help="show the next hint without an edit")
    add_json(parser)


def _add_why(commands: Commands) -> None:
    parser = commands.add(
        "why",
        "why.show_why",
        "explain the mistake behind your last failure",
        "It shows what is wrong, your line, why the mistake is tempting, and an experiment. After a pass it shows the "
        "line of the solution too.",
    )
    does = "a misconception by its id, or an exercise for its last failure (default: your last failure)"
    parser.add_argument("id", nargs="?", metavar="ID", help=does)
    add_json(parser)


def _add_diff(commands: Commands) -> None:
    parser = commands.add(
        "diff",
        "diff.show_diff",
        "show every measurement of your last failure",
        "Your values stand beside the expected ones. Nothing runs again.",
    )
    add_exercise(commands, parser)
    add_json(parser)


def _add_solution(commands: Commands) -> None:
    parser = commands.add(
        "solution",
        "solution.show_solution",
        "show the reference solution, after a pass or the last hint",
        "Before a pass it asks you to confirm. Your progress records that you saw the solution. A student's kit "
        "has no solutions.",
    )
    add_exercise(commands, parser, "the one you worked on last")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _add_hunt(commands: Commands) -> None:
    parser = commands.add(
        "hunt",
        "hunt.hunt",
        "find, name and repair the fault in a program",
        "It writes a program with one fault to hunt/. It asks what the program gives, which line is wrong, and what "
        "the mistake is. Repair it in the file, then run `course hunt --check`.",
    )
    add_exercise(commands, parser)
    does = "1: one file; 2: a file for each exercise that EX needs too, with the fault in one of them"
    parser.add_argument("--level", type=int, choices=(1, 2), default=1, metavar="N", help=does)
    parser.add_argument("--seed", type=int, metavar="N", help="draw another program (default: one not solved yet)")
    parser.add_argument("--new", action="store_true", help="draw again, although a hunt is open")
    parser.add_argument("--predict", metavar="N", help="answer what the program gives")
    parser.add_argument("--line", metavar="LINE", help="answer which line is wrong: 41, or ex05:41 with several files")
    parser.add_argument("--name", metavar="N", help="answer what the mistake is")
    parser.add_argument("--check", action="store_true", help="run the checks on your repair")
    parser.add_argument("--answer", action="store_true", help="give up, and show the answer")
    does = "write tests of EX instead: they must pass right programs, and find wrong ones"
    parser.add_argument("--tests", action="store_true", help=does)
    add_json(parser)


def _add_arrange(commands: Commands) -> None:
    parser = commands.add(
        "arrange",
        "arrange.arrange",
        "put the lines of a right program in order, after the last hint",
        "It writes the lines of a right program like yours to arrange/, in another order and with some wrong ones. "
        "Order them, then run `course arrange EX --check`.",
    )
    add_exercise(commands, parser)
    parser.add_argument("--check", action="store_true", help="run the checks on your order")
    add_json(parser)


def _add_review(commands: Commands) -> None:
    parser = commands.add(
        "review",
        "review.review",
        "answer some questions on earlier mistakes: two minutes",
        "The questions are on mistakes that you made and on exercises that passed long ago. A question that you "
        "answer comes back later, a missed one sooner.",
    )
    parser.add_argument("--answer", metavar="N", help="answer the first question that is due")
    add_json(parser)


def _add_next(commands: Commands) -> None:
    parser = commands.add(
        "next",
        "next.show_next",
        "move on to the next exercise, or to the one you name",
        "No exercise is locked: you may move to any of them at any time. Without EX it stays with an exercise that "
        "does not pass yet, except with --skip. It prints the beginning of the lesson.",
    )
    add_exercise(commands, parser, "the following one")
    parser.add_argument("--skip", action="store_true", help="leave an exercise that does not pass yet")
    add_json(parser)


def _add_list(commands: Commands) -> None:
    parser = commands.add("list", "overview.show_list", "list the exercises with their last results")
    only = parser.add_mutually_exclusive_group()
    for choice, which in (("failing", "that fail"), ("done", "that pass"), ("open", "that do not pass yet")):
        does = f"list only exercises {which}"
        only.add_argument(f"--{choice}", action="store_const", const=choice, dest="only", help=does)
    parser.add_argument("--author", action="store_true", help="list the size of each answer key in a kit, for authors")
    add_json(parser)


def _add_status(commands: Commands) -> None:
    summary = "show your progress in numbers: exercises, points, runs and hints"
    add_json(commands.add("status", "overview.show_status", summary))


def _add_report(commands: Commands) -> None:
    parser = commands.add(
        "report",
        "report.show_report",
        "show your progress as one text or HTML page",
        "It contains none of your code and no name.",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report to FILE as one HTML page")
    add_json(parser)


def _add_reset(commands: Commands) -> None:
    parser = commands.add(
        "reset",
        "reset.reset",
        "put the stub of an exercise back, and keep a copy of your file",
        "It asks you to confirm. The copy goes to .course/backups.",
    )
    parser.add_argument("exercise", metavar="EX", help=commands.exercise)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _add_submit(commands: Commands) -> None:
    parser = commands.add(
        "submit",
        "submit.submit",
        "pack your exercises into one zip to hand in",
        "It lists what is in the zip, and the digest that the report on it will have. "
        "Exit status: 1 if you have not started any exercise.",
    )
    does = "the zip to write (default: submission.zip in the course's folder)"
    parser.add_argument("--out", type=Path, metavar="FILE", help=does)
    add_json(parser)


def _add_play(commands: Commands) -> None:
    """The options belong to the activities, which only the course knows; so `--help` does too."""
    parser = commands.add("play", "play.play", "train and use what you have built", add_help=False)
    parser.add_argument("activity", nargs="?", metavar="ACTIVITY")


def _add_doctor(commands: Commands) -> None:
    parser = commands.add(
        "doctor",
        "doctor.show_doctor",
        "examine this machine, and print a block to copy into a question",
        "Exit status: 3 if something must be fixed.",
    )
    add_json(parser)


def _add_trust(commands: Commands) -> None:
    parser = commands.add(
        "trust",
        "trust.trust_course",
        "allow the code of a course to run on this machine with your rights",
        "A course that you have not used before asks for this once.",
    )
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help="the course (default: the one you are in)")
    parser.add_argument("--undo", action="store_true", help="ask again before its code runs")
