"""The commands of instructors and authors, and their options."""

import argparse
import shlex
from pathlib import Path

from autograder.cli.arguments import (
    GRADES,
    JOBS,
    LAYOUT,
    LAYOUTS,
    ROSTER,
    Commands,
    add_json,
    add_run,
    add_submissions,
    address,
    positive,
    shard,
)

KINDS = ("points", "add", "excused", "extension", "handed_in", "comment", "withdraw")
EXPORTS = (
    *("scores", "canvas", "moodle", "nbgrader", "nbgrader-course", "gradescope", "gradescope-autograder"),
    *("classroom50", "classroom50-autograder", "prairielearn", "prairielearn-grader"),
    *("github-actions", "gitlab-ci", "annotations", "code-quality", "markdown", "junit", "feedback"),
)
VISIBILITY = ("visible", "after_due_date", "after_published", "hidden")
ONE_STUDENT = "only this student; repeatable"


def add_instructor_commands(commands: Commands) -> None:
    """Add the commands to grade a class and to write a course."""
    commands.group = "Grade a class"
    _add_grade(commands)
    _add_accept(commands)
    _add_adjust(commands)
    _add_merge(commands)
    _add_export(commands)
    _add_dashboard(commands)
    _add_name(commands)
    commands.group = "Write a course"
    _add_init(commands)
    _add_new(commands)
    _add_build(commands)
    _add_validate(commands)
    _add_mutate(commands)
    _add_release(commands)


def _add_grade(commands: Commands) -> None:
    parser = commands.add(
        "grade",
        "early.grade",
        "grade every submission in a folder or a zip",
        "It writes one report per student and the table scores.csv. A report whose submission and course have not "
        "changed is kept, so a second run grades only the rest.\n\nExit status: 0 if every submission has a score, "
        "2 for a mistake in the command, the course or the roster, 3 if this machine cannot grade, 4 if the run was "
        "stopped, or if some submissions are held, were left out, or the grader failed on them.",
    )
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the submissions: a folder, or a zip of one")
    add("--out", type=Path, required=True, metavar="DIR", help="where to write the reports and scores.csv")
    add("--course", type=Path, metavar="DIR", help="the course to grade by (default: the one you are in)")
    add("--layout", choices=LAYOUTS, help=LAYOUT)
    add("--roster", type=Path, metavar="FILE", help=ROSTER)
    add("--assignment", metavar="ID", help="grade this one of the [[assignments]] (default: the whole course)")
    add("--take", action="append", metavar="NAME", help="grade only this part or exercise; repeatable")
    add("--jobs", type=positive, metavar="N", help=JOBS)
    add("--student", action="append", dest="students", metavar="NAME", help=f"grade {ONE_STUDENT}")
    does = "go on without the submission of this student, which was taken out since the last run; repeatable"
    add("--leave-out", action="append", dest="left_out", metavar="NAME", help=does)
    add("--force", action="store_true", help="keep no report: grade unchanged submissions again")
    add("--retry-errors", action="store_true", help="grade only submissions that the grader failed on")
    add("--scheduler", type=address, metavar="ADDRESS", help="grade on the cluster of this Dask scheduler")
    add("--shard", type=shard, metavar="I/N", help="grade part I of N; `course merge` joins the parts")
    does = "sandbox confines each submission (default); process runs code that you trust, with your rights"
    add("--isolation", choices=["process", "sandbox"], default="sandbox", help=does)
    add("--sandbox", type=shlex.split, metavar="COMMAND", help="a command that runs the worker in a container")
    add_run(parser, "a secret one, made once and kept in .course")


def _add_accept(commands: Commands) -> None:
    parser = commands.add(
        "accept",
        "accept.accept_file",
        "use a corrected or renamed file of one student",
        "The file is copied to accepted/ beside course.toml, and accepted/log.csv says who, when and why. The next "
        "`course grade` uses it instead of the student's own. What was handed in stays as it is.",
    )
    add = parser.add_argument
    add("student", nargs="?", metavar="STUDENT", help="the id of the student")
    add("file", type=Path, nargs="?", metavar="FILE", help="a file of the course, or a whole hand-in: folder or zip")
    add("--reason", metavar="TEXT", help="why: the student reads it")
    add("--as", dest="name", metavar="NAME", help="the file of the course that it is (default: its own name)")
    add("--by", metavar="NAME", help="who accepts it (default: git's user.name, or your login)")
    add("--assignment", metavar="ID", help="only for this assignment (default: all)")
    add("--withdraw", action="store_true", help="from now on, the student's own hand-in counts again")
    add("--list", action="store_true", help="list what is accepted, and do nothing")
    add("--course", type=Path, metavar="DIR", help="the course (default: the one you are in)")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)


def _add_adjust(commands: Commands) -> None:
    parser = commands.add(
        "adjust",
        "adjust.adjust",
        "note a decision about a mark: points, excused, time, a comment",
        f"KIND is one of: {', '.join(KINDS)}. EXERCISE may be an assignment, or * for all together. The row is "
        "added to adjustments.csv beside course.toml, which counts when marks are read: nothing is graded again. "
        "A later row of the same student and exercise replaces an earlier one. Rows of add and comment count beside "
        "each other.",
    )
    add = parser.add_argument
    add("student", nargs="?", metavar="STUDENT", help="the id of the student")
    add("exercise", nargs="?", metavar="EX", help=f"{commands.exercise}, or * for all together")
    add("kind", nargs="?", metavar="KIND", help="what is decided")
    add("value", nargs="?", metavar="VALUE", help="points; days or a time of an extension; the time handed in")
    add("--text", metavar="TEXT", help="why: the student reads it")
    add("--by", metavar="NAME", help="who decides (default: git's user.name, or your login)")
    add("--list", action="store_true", help="list what counts, of all or of one student, and do nothing")
    add("--merge", type=Path, metavar="FILE", help="add the rows of another grader's adjustments.csv")
    add("--keep", choices=("mine", "theirs"), help="what counts where --merge finds two decisions")
    add("--from-nbgrader", metavar="URL", help="take over what people entered in nbgrader's database")
    add("--assignment", metavar="NAME", help="its name in nbgrader (default: the course's folder)")
    add("--course", type=Path, metavar="DIR", help="the course (default: the one you are in)")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)


def _add_merge(commands: Commands) -> None:
    parser = commands.add(
        "merge",
        "merge.merge_shards",
        "join the parts of a class that `course grade --shard` wrote",
        "A second run changes nothing.",
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="where to write the reports and scores.csv")
    parser.add_argument("shards", type=Path, nargs="+", metavar="SHARD", help="a folder of `course grade --shard`")
    parser.add_argument("--roster", type=Path, metavar="FILE", help=ROSTER)


def _add_export(commands: Commands) -> None:
    parser = commands.add(
        "export",
        "export.export",
        "write the scores of a class in the format of a gradebook",
        f"FORMAT is one of: {', '.join(EXPORTS)}.\n\nExit status: 4 if a score could not be exported or "
        "a time of submission is in doubt.",
    )
    add = parser.add_argument
    add("format", choices=EXPORTS, metavar="FORMAT", help="the format to write")
    add("out", type=Path, nargs="?", metavar="OUT", help=f"{GRADES}, or one report")
    add("--to", required=True, metavar="PATH", help="the file or folder to write; for nbgrader the URL of its database")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)
    add("--student", action="append", dest="students", metavar="NAME", help=f"export {ONE_STUDENT}")
    _add_gradebook_options(parser)


def _add_gradebook_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that are for some formats only."""
    add = parser.add_argument_group("canvas, moodle").add_argument
    add("--into", type=Path, metavar="FILE", help="the file that you exported there, to be filled in")
    add("--column", metavar="TITLE", help="the column for the scores (default: the only one there is)")
    add("--scale", action="store_true", help="scale the scores to the maximum that is set there")
    add("--overwrite", action="store_true", help="replace grades and comments there that differ")
    add = parser.add_argument_group("nbgrader, nbgrader-course").add_argument
    add("--assignment", metavar="NAME", help="the name of the assignment (default: the course's folder)")
    add("--course", metavar="NAME", help="the name of the course (default: the only one there is)")
    add("--autograded", type=Path, metavar="DIR", help="where to write the notebooks that feedback is made of")
    add = parser.add_argument_group("gradescope").add_argument
    add("--visibility", choices=VISIBILITY, help="when students see their results (default: visible)")
    add("--check-visibility", choices=VISIBILITY, help="when students see each check (default: with the results)")
    add("--metadata", type=Path, metavar="FILE", help="the submission_metadata.json with the student and the time")
    add = parser.add_argument_group("classroom50-autograder, prairielearn-grader").add_argument
    add("--kit", type=Path, metavar="DIR", help="the kit that students have, made by course release")
    add = parser.add_argument_group("feedback").add_argument
    platforms = ("canvas", "moodle")
    add(
        "--for", dest="platform", choices=platforms, help="one zip to upload there; canvas needs --into submissions.zip"
    )


def _add_dashboard(commands: Commands) -> None:
    parser = commands.add(
        "dashboard",
        "dashboard.dashboard",
        "make a page about a class: common mistakes, similar submissions",
        "The page is OUT/class.html. Its tables are CSV files beside it.",
    )
    parser.add_argument("out", type=Path, metavar="OUT", help=GRADES)
    parser.add_argument("--names", action="store_true", help="show names (default: pseudonyms)")
    add_submissions(parser, "the submissions, to look for similar ones too", required=False)


def _add_name(commands: Commands) -> None:
    parser = commands.add(
        "name",
        "name.name",
        "add the common mistake of a group of students to the catalogue",
        "You write the texts of the new misconception, and `course validate` proves it.",
    )
    parser.add_argument("out", type=Path, metavar="OUT", help=GRADES)
    add_submissions(parser, "the submissions", required=True)
    parser.add_argument("group", metavar="GROUP", help="the id of the group, as the class page shows it")


def _add_init(commands: Commands) -> None:
    parser = commands.add(
        "init",
        "init.init",
        "begin a course of your own, with one exercise",
        "The new course passes `course validate`. Its README.md lists the commands to go on with.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to write it: a new or empty folder")
    parser.add_argument("--torch", action="store_true", help="students use PyTorch (default: plain Python)")
    parser.add_argument("--title", metavar="TEXT", help="the title of the course (default: the name of the folder)")


def _add_new(commands: Commands) -> None:
    parser = commands.add(
        "new",
        "new.new",
        "add a new exercise: its files, and its entry in course.toml",
        "The files are a small exercise that `course validate` proves. You replace it by your own.",
    )
    parser.add_argument("name", metavar="NAME", help="a name like averages, or with a free number: ex99_averages")


def _add_build(commands: Commands) -> None:
    parser = commands.add(
        "build",
        "build.build",
        "make the stubs, notebooks and reference parts from their sources",
        "It makes the files that are missing. It replaces one that differs only if you say --force.",
    )
    parser.add_argument("exercises", nargs="*", metavar="EX", help=f"{commands.exercise} (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing; list stale files, and exit with 1 if any")
    parser.add_argument("--force", action="store_true", help="replace files that were edited")


def _add_validate(commands: Commands) -> None:
    parser = commands.add(
        "validate",
        "validate.prove",
        "prove that solutions, misconceptions and checks fit together",
        "Exit status: 0 if they do, 1 if not.",
    )
    add = parser.add_argument
    add("exercises", nargs="*", metavar="EX", help=f"{commands.exercise} (default: all)")
    does = "prove too that a mistake costs points in one exercise only; with N, for every Nth misconception"
    add("--once", type=positive, nargs="?", const=1, metavar="N", help=does)
    does = "measure too how often the location of a mistake is right; with N, for every Nth misconception"
    add("--places", type=positive, nargs="?", const=1, metavar="N", help=does)
    does = "calibrate too: wrong programs made of the accepted variants, with --once their points; with N, every Nth"
    add("--styles", type=positive, nargs="?", const=1, metavar="N", help=does)
    does = "calibrate too: misconceptions in whole accepted courses, with --once their points; with N, every Nth"
    add("--ported", type=positive, nargs="?", const=1, metavar="N", help=does)
    add("--sizes", type=Path, metavar="FILE", help="take the sizes of the axes from FILE (default: course.toml)")
    add("--page", type=Path, metavar="FILE", help="write to FILE which check catches which misconception")
    add("--jobs", type=positive, metavar="N", help=JOBS)
    add("--device", default="cpu", metavar="NAME", help="where the programs run: cpu, cuda or mps (default: cpu)")
    add("--seed", type=int, metavar="N", help="use different inputs and weights (default: the seed of course.toml)")
    add_json(parser)


def _add_mutate(commands: Commands) -> None:
    parser = commands.add(
        "mutate",
        "mutate.mutate",
        "find small mistakes in a solution that no check notices",
        "It changes the solution in hundreds of ways. A mutant that passes every check is a survivor. Make a check "
        "stricter, or list the survivor as equivalent with a reason. A run that was stopped goes on where it ended."
        "\n\nExit status: 0 if every mutant is caught or listed with a reason that holds, 1 if not.",
    )
    add = parser.add_argument
    add("exercises", nargs="*", metavar="EX", help=f"{commands.exercise} (default: all)")
    add("--minutes", type=positive, metavar="N", help="begin no mutant after N minutes; the next run does the rest")
    does = "look for a difference in N more trials of each check (default: 10)"
    add("--search", type=positive, default=10, metavar="N", help=does)
    add("--doubt", action="store_true", help="look for a difference of the listed mutants, too")
    add("--force", action="store_true", help="run all mutants again, also those of an earlier run")
    add("--draft", metavar="ID", help="add the survivor ID to the misconceptions, with texts to fill in")
    does = "add a misconception, with its texts, for each standard check that none fails"
    add("--standard", action="store_true", help=does)
    does = "list the survivors as equivalent; needs --reason; may be repeated"
    add("--equivalent", nargs="+", action="extend", metavar="ID", help=does)
    add("--reason", metavar="TEXT", help="why no check can catch these survivors")
    add("--jobs", type=positive, metavar="N", help=JOBS)
    add("--seed", type=int, metavar="N", help="use different inputs and weights (default: the seed of course.toml)")
    add_json(parser)


def _add_release(commands: Commands) -> None:
    parser = commands.add(
        "release",
        "release.release",
        "make the kit for students, without the solutions",
        "It writes nothing if a file would leak a solution or a secret, and exits with 1.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to write: a new or empty folder, or an old kit")
    parser.add_argument("--check", action="store_true", help="write nothing; look for leaks in DIR, a finished kit")
    does = "release only this part or exercise, as `take` of course.toml; may be repeated"
    parser.add_argument("--take", action="append", metavar="NAME", help=does)
    does = "let students practise on programs of this exercise, nearly solutions; may be repeated"
    parser.add_argument("--hunt", action="append", metavar="EX", help=does)
    parser.add_argument("--assignment", metavar="ID", help="release this assignment, and all before it")
