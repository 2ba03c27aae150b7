"""`course name`: what a group of students got wrong, written into the catalogue as a misconception to be named."""

import argparse

from autograder.authoring.naming import entry_of, patches_of
from autograder.cli.dashboard import submissions_of
from autograder.course import find_course, read_course
from autograder.course.names import UsageError
from autograder.course.suite import load_suite
from autograder.exits import PASS
from autograder.instructor.dashboard.clusters import clusters_of, find_cluster
from autograder.instructor.dashboard.gathered import gathered
from autograder.instructor.gradebook.graded import read_graded
from autograder.instructor.gradebook.roster import read_roster
from autograder.learner.progress import write_whole
from autograder.report.words import plural


def name(options: argparse.Namespace) -> int:
    """Run the command. Raises `UsageError` where there is no such group, or no patch that makes its program."""
    course = read_course(find_course())
    roster = read_roster(course, options.roster)
    graded = read_graded(course, roster, options.out)
    room = gathered(graded, {each.student: each.student for each in graded.marks})
    cluster = find_cluster(clusters_of(room), options.group)
    exercise = course.exercise(cluster.exercise)
    solution = course.solutions_dir / exercise.file
    if not solution.is_file():
        raise UsageError(f"{solution} is not there, and a misconception is a patch of it; run this in the course")
    handed_in = submissions_of(options, course, roster, graded)
    theirs = [handed_in[each].sources[exercise.file] for each in cluster.students if each in handed_in]
    if not theirs:
        raise UsageError(
            f"none of the {plural(len(cluster.students), 'student')} of {cluster.id} is in {options.folder}"
        )
    parts = [check.of for check in load_suite(course).checks[exercise.id] if check.id in cluster.checks and check.of]
    source = min(theirs, key=lambda each: (len(each), each))
    text = solution.read_text("utf-8")
    patches = patches_of(text, source, parts)
    entry = entry_of(
        exercise, f"{exercise.id[5:].replace('_', '-')}-{cluster.id}", plural(len(cluster.students), "student"), patches
    )
    file = course.solutions_dir / "misconceptions" / f"{exercise.id}.toml"
    catalogue = file.read_text("utf-8") if file.is_file() else ""
    if f"-{cluster.id}]" in catalogue:
        raise UsageError(f"{file.relative_to(course.root)} has {cluster.id} already; write its texts there")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, f"{catalogue.rstrip()}\n{entry}".lstrip("\n"))
    print(entry.strip("\n"))
    print(f"\nAdded to {file.relative_to(course.root)}. Write its texts, then run `course validate {exercise.number}`")
    return PASS
