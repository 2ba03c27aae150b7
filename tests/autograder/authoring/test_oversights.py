"""What `course validate` says of mistakes that no program shows: names of nothing, and names of two things."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.authoring.oversights import (
    catalogue_mistakes,
    coarse_tolerances,
    exceptions_inside,
    exceptions_without_definition,
    foreign_imports,
    given_away,
    imported_solutions,
    is_leftover,
    leftover_problems,
    names_without_definition,
    orders_of_sets,
    reading_machines,
    regions_without_todo,
    stale_files,
    starts_without_todo,
    unlisted_imports,
)
from autograder.authoring.programs import Program, import_problem, lacking_programs
from autograder.authoring.proof import misspelt_forbidden, unknown_forbidden, validate
from autograder.comparison import Expected
from autograder.course import BEGIN, END, Course, read_course
from autograder.protocol import Value
from autograder.runner import Fault
from tests.support import tiny

CATALOGUES = Path("solutions") / "misconceptions"


def catalogue(course: Path, exercise: str = tiny.FIRST) -> Path:
    return course / CATALOGUES / f"{exercise}.toml"


@pytest.mark.worker
@pytest.mark.parametrize("root", [tiny.ROOT, tiny.REPOSITORY / "examples" / "autodiff", tiny.REPOSITORY])
def test_a_course_that_holds_has_no_oversight(root: Path) -> None:
    suite = tiny.suite_at(root)
    assert list(catalogue_mistakes(suite)) == []
    assert list(leftover_problems(suite.course)) == []
    for exercise in suite.exercises:
        assert list(names_without_definition(suite, exercise)) == []
        assert list(given_away(suite.course, exercise)) == []
        assert list(imported_solutions(suite.course, exercise)) == []
        assert list(coarse_tolerances(suite.checks[exercise.id])) == []
        assert list(foreign_imports(suite.course, exercise)) == []
        assert list(lacking_programs(suite, exercise)) == []
        assert list(reading_machines(suite.checks[exercise.id])) == []
        assert list(regions_without_todo(suite.course, exercise)) == []
        assert list(exceptions_without_definition(suite, exercise)) == []
        assert list(unknown_forbidden(suite.course, exercise)) == []


def test_a_check_of_something_else_names_the_nearest(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    tiny.replaced(file, 'points=3, of="running_mean"', 'points=3, of="runing_means"')
    suite = tiny.suite_at(course)
    [found] = names_without_definition(suite, suite.course.exercise(tiny.FIRST))
    missing = f"has of='runing_means', which {tiny.FIRST}.py does not define"
    assert found == f"the check values (line 6) {missing}; did you mean running_mean?"


def test_an_exception_that_nothing_defines_is_named(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    with (course / "solutions" / tiny.FILES[0]).open("a", encoding="utf-8") as stream:
        stream.write("\n\nclass NoNumbersError(ValueError): ...\n")
    with file.open("a", encoding="utf-8") as stream:
        known = '("NoNumbersError", json.JSONDecodeError, "KeyError")'
        stream.write(f"\nimport json\n\n@check('a', judge=Raises({known}))\ndef test_a(impl, given): ...\n")
        stream.write("\n@check('b', judge=Raises('NoNumberError'))\ndef test_b(impl, given): ...\n")
    suite = tiny.suite_at(course)
    line = len(file.read_text("utf-8").splitlines()) - 1
    nothing = f"which is no exception of Python and not defined in {tiny.FIRST}.py"
    assert list(exceptions_without_definition(suite, suite.course.exercise(tiny.FIRST))) == [
        f"the check b (line {line}) expects NoNumberError, {nothing}; did you mean NoNumbersError?"
    ]


@pytest.mark.parametrize(
    ("observe", "refused"), [(lambda seen: seen, False), (lambda seen: {"a": [1, seen]}, True), (lambda _: [1], False)]
)
def test_an_exception_inside_a_list_or_a_dict_is_refused(observe: Callable[[Value], Value], refused: bool) -> None:
    raised: Value = {"raised": ["ValueError"], "message": "no 0", "mentions": ["0"]}
    [check, *_] = tiny.SUITE.checks[tiny.FIRST]
    value = observe(raised)
    found = list(exceptions_inside([check], {(check.id, 0): Expected(value, value)}))
    assert [sentence.startswith(f"the check {check.id} returns what") for sentence in found] == [True] * refused


def test_a_region_without_a_todo_is_named(course: Path) -> None:
    solution = course / "solutions" / tiny.FILES[0]
    text = solution.read_text("utf-8")
    solution.write_text("\n".join(line for line in text.splitlines() if "# TODO" not in line), "utf-8")
    suite = tiny.suite_at(course)
    [found] = regions_without_todo(suite.course, suite.course.exercise(tiny.FIRST))
    assert found.startswith("running_mean has no comment `# TODO ex01: ...` above ### BEGIN SOLUTION")


@pytest.mark.parametrize("region", ["", f"    {BEGIN}\n    pass\n    {END}\n"])
def test_a_function_with_its_work_outside_of_a_region_is_given_away(course: Path, region: str) -> None:
    solution = course / "solutions" / tiny.FILES[0]
    text = solution.read_text("utf-8").replace(f"    {BEGIN}\n", "").replace(f"    {END}\n", region)
    solution.write_text(text, "utf-8")
    suite = tiny.suite_at(course)
    exercise = suite.course.exercise(tiny.FIRST)
    [(name, found)] = given_away(suite.course, exercise)
    assert (name, found.split(": ", 1)[1]) == (
        "running_mean",
        "running_mean is given away: its work is outside of ### BEGIN SOLUTION; "
        "write the mark above it, and one below it",
    )
    line = int(found.split(":")[1])
    assert text.splitlines()[line - 1].strip().startswith("if ")
    assert list(starts_without_todo(suite, exercise)) == [], "its start is no mistake"


def test_a_function_that_only_calls_a_given_one_is_given_away(course: Path) -> None:
    solution = course / "solutions" / tiny.FILES[0]
    text = solution.read_text("utf-8")
    before, region, after = re.split(rf"    {BEGIN}\n|    {END}\n", text)
    head, _, signature = before.rpartition("def running_mean(")
    helper = f"def _work(x):\n{region}\n\n"
    call = f"    {BEGIN}\n    return _work(x)\n    {END}\n"
    solution.write_text(f"{head}{helper}def running_mean({signature}{call}{after}", "utf-8")
    suite = tiny.suite_at(course)
    [(name, found)] = given_away(suite.course, suite.course.exercise(tiny.FIRST))
    assert name == "running_mean"
    assert "running_mean is given away: all that it does is call _work, which is outside of" in found


@pytest.mark.parametrize(
    "how", ["from ex01_running_mean import added\n", "import ex01_running_mean as one\none.added\n"]
)
def test_a_name_that_only_a_region_of_an_earlier_exercise_has_is_named(course: Path, how: str) -> None:
    first, second = (course / "solutions" / file for file in tiny.FILES)
    at = len(first.read_text("utf-8").splitlines()) + 2
    with first.open("a", encoding="utf-8") as stream:
        stream.write(f"{BEGIN}\ndef added(x):\n    return x\n{END}\n")
    second.write_text(f"from {tiny.FIRST} import running_mean\n{how}{second.read_text('utf-8')}", "utf-8")
    made = read_course(course)
    [found] = foreign_imports(made, made.exercise(tiny.SECOND))
    taken = f"solutions/{tiny.FILES[1]}:{1 + how.count(chr(10))}: the stub takes added from {tiny.FIRST}"
    assert found.startswith(f"{taken}, whose stub does not define it, so students have no added")
    assert f"in solutions/{tiny.FILES[0]}:{at}," in found


def forbidding(course: Path, *names: str) -> Course:
    listed = ", ".join(f'"{name}"' for name in names)
    tiny.replaced(course / "course.toml", 'forbidden = ["torch.cummax"]', f"forbidden = [{listed}]")
    return read_course(course)


def test_a_forbidden_name_that_its_module_lacks_is_named(course: Path) -> None:
    made = forbidding(course, "math.dits", "os.path.joinn", "math.dist", "os.path.join", "concurrent.futures.thread")
    assert list(unknown_forbidden(made, made.exercise(tiny.FIRST))) == [
        "forbidden lists math.dits, and math has no dits; did you mean math.dist?",
        "forbidden lists os.path.joinn, and os.path has no joinn; did you mean os.path.join?",
    ]


@pytest.mark.worker
def test_a_forbidden_name_that_torch_lacks_is_named(course: Path) -> None:
    made = forbidding(course, "torch.nn.MultiHeadAttention", "torch.nn.functional.softmax", "torch._refs.softmax")
    assert list(unknown_forbidden(made, made.exercise(tiny.FIRST))) == [
        "forbidden lists torch.nn.MultiHeadAttention, and torch.nn has no MultiHeadAttention; "
        "did you mean torch.nn.MultiheadAttention?"
    ]


def test_what_cannot_be_looked_up_is_no_oversight(course: Path) -> None:
    made = forbidding(course, "torch.*.nothing", "math.*", "antigravity.nothing", "sorted", "syntax:for", "list.sort")
    assert list(unknown_forbidden(made, made.exercise(tiny.FIRST))) == []


def test_a_name_of_a_library_that_the_course_lacks_is_named(course: Path) -> None:
    tiny.replaced(course / "course.toml", 'libraries = ["torch"]\n', "")
    made = forbidding(course, "torch.nn.Linear", "math.dist", "list.sort", "package:torch", "sorted")
    [found] = unknown_forbidden(made, made.exercise(tiny.FIRST))
    lacks = "forbidden lists torch.nn.Linear, and libraries of course.toml does not have torch"
    assert found == f"{lacks}; forbid it as package:torch, or add torch to libraries"


def test_a_forbidden_name_of_a_module_that_does_not_exist_names_the_nearest(course: Path) -> None:
    made = forbidding(course, "collection.Counter", "collections.Counter", "maths.dits", "notamodule.name")
    assert list(misspelt_forbidden(made, made.exercise(tiny.FIRST))) == [
        "forbidden lists collection.Counter, and there is no module collection; did you mean collections.Counter?"
    ]
    found = list(unknown_forbidden(made, made.exercise(tiny.FIRST)))
    assert [sentence.split(",")[0] for sentence in found] == [
        "forbidden lists maths.dits",
        "forbidden lists notamodule.name",
    ]


def test_an_accepted_variant_imports_what_is_listed_and_numpy(course: Path) -> None:
    file = course / "solutions" / "accepted" / tiny.FIRST / "other.py"
    file.write_text("import math\nimport numpy\nimport torch\nimport jinja2\n", "utf-8")
    made = read_course(course)
    [found] = unlisted_imports(made, made.exercise(tiny.FIRST))
    assert found.startswith(f"solutions/accepted/{tiny.FIRST}/other.py: line 4 imports jinja2, which libraries of")
    file = course / "solutions" / "accepted" / tiny.FIRST / "other.py"
    file.write_text("try:\n    import jinja2\nexcept ImportError:\n    jinja2 = None\n")
    assert not list(unlisted_imports(made, made.exercise(tiny.FIRST))), "it does without"


def test_a_catalogue_that_cannot_be_read_makes_no_program_a_leftover(course: Path) -> None:
    program = course / CATALOGUES / tiny.FIRST / "by_hand.py"
    program.parent.mkdir(exist_ok=True)
    program.write_text("", "utf-8")
    assert len(list(leftover_problems(read_course(course)))) == 1
    catalogue(course).write_text("[[", "utf-8")
    assert list(leftover_problems(read_course(course))) == []


def test_an_id_of_two_exercises_is_named(course: Path) -> None:
    with catalogue(course, tiny.SECOND).open("a", encoding="utf-8") as stream:
        stream.write("\n[mean-not-divided]\nname = 'another'\n")
    shared = f"{tiny.SECOND}: the misconception mean-not-divided has the id of one of {tiny.FIRST}; give it another id"
    assert list(catalogue_mistakes(tiny.suite_at(course))) == [shared]


def test_a_catalogue_of_no_exercise_is_named(course: Path) -> None:
    (course / CATALOGUES / "ex01_runing_mean.toml").write_text("", "utf-8")
    (course / CATALOGUES / "other.toml").write_text("", "utf-8")
    assert list(leftover_problems(read_course(course))) == [
        f"{CATALOGUES}/ex01_runing_mean.toml: course.toml has no exercise ex01_runing_mean; did you mean {tiny.FIRST}?",
        f"{CATALOGUES}/other.toml: course.toml has no exercise other; rename the file, or remove it",
    ]


def without_second(course: Path) -> None:
    """Take the second exercise out of course.toml, and leave its files."""
    file = course / "course.toml"
    text = file.read_text("utf-8")
    file.write_text(text[: text.rindex("[[exercises]]")], "utf-8")


def test_every_file_of_a_removed_exercise_is_named_and_no_other(course: Path) -> None:
    own = [
        *(f"exercises/{tiny.SECOND}.py", f"exercises/notebooks/{tiny.SECOND}.ipynb", f"solutions/{tiny.SECOND}.py"),
        *(f"tests/exercises/test_{tiny.SECOND}.py", f"tests/exercises/try_{tiny.SECOND}.py"),
        f"tests/exercises/hints/{tiny.SECOND}.toml",
        *(f"solutions/misconceptions/{tiny.SECOND}.toml", f"solutions/equivalents/{tiny.SECOND}.toml"),
        *(f"solutions/accepted/{tiny.SECOND}", f"solutions/accepted/whole/other/{tiny.SECOND}.py"),
        *(f"solutions/reference_parts/{tiny.SECOND}.py", f"tests/exercises/reference_parts/{tiny.SECOND}.json"),
    ]
    for name in (*own, "exercises/draft.py", "solutions/helpers.py", "tests/exercises/shared.py"):
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        if not (course / name).exists():
            (course / name).write_text("", "utf-8")
    assert list(leftover_problems(read_course(course))) == []
    without_second(course)
    removed = f"course.toml has no exercise {tiny.SECOND}; rename the files, or remove them"
    assert list(leftover_problems(read_course(course))) == [f"{', '.join(own)}: {removed}"]


def test_a_kit_has_no_checks_of_a_removed_exercise(course: Path) -> None:
    (course / "tests" / "exercises" / "shared.py").write_text("", "utf-8")
    without_second(course)
    made = read_course(course)
    files = sorted((course / "tests" / "exercises").glob("*.py"))
    assert [file.name for file in files if not is_leftover(made, file)] == ["shared.py", f"test_{tiny.FIRST}.py"]


def test_a_stub_that_differs_from_the_solution_is_named_with_the_command_that_replaces_it(course: Path) -> None:
    made = read_course(course)
    exercise = made.exercise(tiny.FIRST)
    assert list(stale_files(made, exercise)) == []
    stub = course / "exercises" / tiny.FILES[0]
    stub.write_text(f"{stub.read_text('utf-8')}# mine\n", "utf-8")
    replaces = "`course build 01 --force` replaces it, and its notebook"
    assert list(stale_files(made, exercise)) == [
        f"exercises/{tiny.FILES[0]} differs from what the solution gives: {replaces}"
    ]
    stub.unlink()
    assert list(stale_files(made, exercise)) == [], "no stub was made yet"


def test_an_old_reference_part_is_named_with_the_command_that_makes_it(course: Path) -> None:
    made = read_course(course)
    made.part_sources_dir.mkdir(parents=True)
    (made.part_sources_dir / tiny.FILES[0]).write_text("def running_mean(x):\n    return x\n", "utf-8")
    part = f"tests/exercises/reference_parts/{tiny.FIRST}.json"
    assert list(stale_files(made, made.exercise(tiny.FIRST))) == [
        f"{part} is missing or old: `course build 01` makes it"
    ]


@pytest.mark.worker
def test_a_proof_contains_them(course: Path) -> None:
    forbidding(course, "math.dits")
    (course / CATALOGUES / "other.toml").write_text("", "utf-8")
    stub = course / "exercises" / tiny.FILES[0]
    stub.write_text(f"{stub.read_text('utf-8')}# mine\n", "utf-8")
    suite = tiny.suite_at(course)
    found = validate(suite, seed=suite.course.seed, jobs=1, cache=course / ".course" / "cache")
    assert [problem for problem in found.problems if problem.startswith(f"{CATALOGUES}/other.toml")]
    assert f"{tiny.FIRST}: forbidden lists math.dits" in found.exercises[0].warnings[-1]
    assert any("differs from what the solution gives" in warning for warning in found.exercises[0].warnings)


PROGRAM = """
[by-hand]
name = "by hand"
explanation = "It is another program."
hint = "Which program is it?"
program = "by_hand.py"
"""


@pytest.mark.parametrize(
    ("text", "lacks"),
    [("def runing_mean(x): ...\n", True), ("def running_mean(x): ...\n", False), ("running_mean = len\n", False)],
)
def test_a_whole_program_without_a_function_that_checks_use_is_named(course: Path, text: str, lacks: bool) -> None:
    program = course / CATALOGUES / tiny.FIRST / "by_hand.py"
    program.parent.mkdir(exist_ok=True)
    program.write_text(text, "utf-8")
    with catalogue(course).open("a", encoding="utf-8") as stream:
        stream.write(PROGRAM)
    suite = tiny.suite_at(course)
    found = list(lacking_programs(suite, suite.course.exercise(tiny.FIRST)))
    assert bool(found) == lacks
    assert not lacks or found[0].startswith("the program of the misconception by-hand defines no running_mean, so")


def test_a_misconception_that_cannot_be_imported_proves_nothing() -> None:
    program = Program("misconception", tiny.FIRST, "by-hand", {})
    fault = Fault("ImportError", (), "No module named 'ex01_stat'", "other", (), at_import=True)
    [found] = import_problem(program, [fault, fault])
    assert found.startswith("the misconception by-hand cannot be imported (ImportError: No module named 'ex01_stat')")
    assert not list(import_problem(program, [replace(fault, at_import=False)]))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (f"solutions/accepted/{tiny.FIRST}.py", f"move a variant to solutions/accepted/{tiny.FIRST}/NAME.py"),
        (f"solutions/accepted/{tiny.FIRST}/other.txt", "give a variant a name that ends with .py"),
        (f"solutions/{tiny.FIRST} (copy).py", f"it looks like a copy of a file of {tiny.FIRST}, and no command"),
        (f"solutions/{tiny.FIRST}.py~", f"it looks like a copy of a file of {tiny.FIRST}, and no command"),
        (f"tests/exercises/test_{tiny.FIRST}.py.orig", f"it looks like a copy of a file of {tiny.FIRST}"),
        (f"solutions/misconceptions/{tiny.FIRST}.toml.bak", f"it looks like a copy of a file of {tiny.FIRST}"),
    ],
)
def test_a_file_that_no_command_reads_is_named(course: Path, name: str, sentence: str) -> None:
    (course / name).write_text("", "utf-8")
    [found] = leftover_problems(read_course(course))
    assert found.startswith(f"{name}: ")
    assert sentence in found


def test_a_link_out_of_the_course_is_named(course: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    file, elsewhere = course / "solutions" / tiny.FILES[0], tmp_path_factory.mktemp("other") / "a.py"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    [found] = leftover_problems(read_course(course))
    assert (
        found == f"solutions/{tiny.FILES[0]}: it is a link to a file outside of the course; put the file itself there"
    )


def test_a_check_that_imports_a_solution_is_named(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.SECOND}.py"
    text = file.read_text("utf-8")
    file.write_text(f"{text}\n\ndef known():\n    from {tiny.FIRST} import running_mean\n", "utf-8")
    made = read_course(course)
    [found] = imported_solutions(made, made.exercise(tiny.SECOND))
    where = f"tests/exercises/test_{tiny.SECOND}.py:{len(text.splitlines()) + 4}"
    assert found.startswith(f"{where}: a check cannot import {tiny.FIRST}; use impl")


def test_a_coarse_tolerance_is_named(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    with file.open("a", encoding="utf-8") as stream:
        stream.write("\nfrom autograder.checks import Same\n\n")
        stream.write("\n@check('a', judge=Same(tolerance=0.3))\ndef test_a(impl, given): ...\n")
    suite = tiny.suite_at(course)
    [found] = coarse_tolerances(suite.checks[tiny.FIRST])
    assert found.endswith("has the tolerance 0.3, expected at most 0.1: only coarse mistakes fail it")


@pytest.mark.parametrize(
    ("code", "is_named"),
    [
        ("list({*x})", True),
        ("tuple(set(x))", True),
        ("', '.join({str(one) for one in x})", True),
        ("sorted(list(set(x)))", False),
        ("len(tuple({*x}))", False),
        ("sorted({*x})", False),
        ("list(dict.fromkeys(x))", False),
    ],
)
def test_a_list_in_the_order_of_a_set_is_named(course: Path, code: str, is_named: bool) -> None:
    solution = course / "solutions" / tiny.FILES[0]
    text = solution.read_text("utf-8")
    solution.write_text(f"{text}\n\ndef ordered(x):\n    return {code}\n", "utf-8")
    suite = tiny.suite_at(course)
    found = list(orders_of_sets(suite.course, suite.course.exercise(tiny.FIRST)))
    line = len(text.splitlines()) + 4
    sentence = f"{tiny.FILES[0]}, line {line}: a set has no order that other right programs share: write sorted(...)"
    assert found == ([sentence] if is_named else [])
