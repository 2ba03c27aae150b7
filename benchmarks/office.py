"""The time and memory of exports and pages of a large class: they grow in step with the number of students.

    python benchmarks/office.py [STUDENTS]

A class of STUDENTS (2,000) and one of a quarter of that are made up: fourteen exercises of eighteen checks, many wrong,
every fourth student with decisions in adjustments.csv. Each command of the program runs on both, in a process of its
own; the table has its elapsed time, its processor time, its largest memory, and the ratio of the processor times. A
ratio above 6 means that something grows faster than the class, and the exit status is 1.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from autograder.course import read_course
from autograder.gradebook import Roster, policy_of, scores_csv
from autograder.gradebook.out import Stored, write_stored
from tests.support.class_examples import large_class

MOST_GROWTH = 6.0
EXERCISES, CHECKS = 14, 18
COMMANDS = {
    "scores": ("export", "scores", "out", "--to", "scores.csv"),
    "pages for Moodle": ("export", "feedback", "out", "--to", "pages.zip", "--for", "moodle"),
    "gradescope": ("export", "gradescope", "out", "--to", "gradescope"),
    "class page": ("dashboard", "out"),
}


def main() -> None:
    """Measure, print the table, and exit with 1 if a command grows faster than the class."""
    students = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        sizes = (students // 4, students)
        for count in sizes:
            make_class(Path(folder) / str(count), count)
        for name, command in COMMANDS.items():
            measured = [run(Path(folder) / str(count), command) for count in sizes]
            rows.append((name, *measured[1], measured[1][1] / measured[0][1]))
    print(f"{students:,} students, {EXERCISES} exercises; growth: processor time beside {students // 4:,} students")
    for name, elapsed, processor, memory, growth in rows:
        print(f"{name:<18}{elapsed:7.1f} s{processor:8.1f} s CPU{memory:7.0f} MiB{growth:7.1f} times")
    sys.exit(int(any(row[-1] > MOST_GROWTH for row in rows)))


def make_class(root: Path, students: int) -> None:
    """Write a course and a graded class, with a roster and decisions about every fourth student."""
    reports = large_class(students, EXERCISES, CHECKS)
    root.mkdir(parents=True)
    (root / "course.toml").write_text(course_text([exercise.id for exercise in reports[0].exercises]), "utf-8")
    course = read_course(root)
    out = root / "out"
    (out / "reports").mkdir(parents=True)
    for report in reports:
        write_stored(out / "reports" / f"{report.submission['student']}.json", Stored(report, "1", {}))
    names = [str(report.submission["student"]) for report in reports]
    (root / "roster.csv").write_text(
        "student,name,lms_id\n" + "".join(f"{name},Name {name},{at}\n" for at, name in enumerate(names, 1)), "utf-8"
    )
    decided = [f"{name},02,add,1,a good idea,Grace,2026-03-09 10:00\n" for name in names[::4]]
    decided += [f"{name},03,excused,,ill,Grace,2026-03-09 10:00\n" for name in names[::8]]
    (root / "adjustments.csv").write_text("student,exercise,kind,value,text,by,when\n" + "".join(decided), "utf-8")
    exercises = [exercise.id for exercise in course.exercises]
    (out / "scores.csv").write_text(scores_csv(reports, exercises, policy_of(course, Roster())), "utf-8")
    run_json = {"schema": 1, "suite": reports[0].suite, "seed": 7, "exercises": exercises}
    (out / "run.json").write_text(json.dumps({**run_json, "students": dict.fromkeys(names)}), "utf-8")


def course_text(exercises: list[str]) -> str:
    """Return a course.toml in which each check is worth one point."""
    tables = [f'[[exercises]]\nid = "{id_}"\ntitle = "part {id_[-2:]}"\npoints = {CHECKS}\n' for id_ in exercises]
    head = f'title = "A course of parts"\nseed = 1\npoints = {len(exercises) * CHECKS}\n'
    return "\n".join([head, *tables])


def run(root: Path, command: tuple[str, ...]) -> tuple[float, float, float]:
    """Run a command; return its elapsed and processor time in seconds, and its largest memory in MiB."""
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", *command], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 4):
        raise SystemExit(f"course {' '.join(command)} failed: {said}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
