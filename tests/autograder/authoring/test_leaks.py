"""The leak gate finds secrets in every notation and archive, and nothing else."""

import base64
import bz2
import gzip
import io
import json
import lzma
import marshal
import py_compile
import re
import shutil
import subprocess
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.answer_key import ENGINE
from autograder.authoring.leaks import Gate, copied_lines, copied_regions, files_in, secrets_of, views, words_of
from tests.support import tiny

SEED = "3141592653589793238"
LINE = "    count = torch.arange(1, x.size(-1) + 1, device=x.device)  # (T,)"
SHORT = "    for _ in range(n):\n        power = power @ a\n    return power\n"
STUB = (tiny.ROOT / "exercises" / tiny.FILES[0]).read_text("utf-8")
CHECKS = (tiny.ROOT / "tests" / "exercises" / f"test_{tiny.FIRST}.py").read_text("utf-8")
CATALOGUE = (tiny.ROOT / "solutions" / "misconceptions" / f"{tiny.SECOND}.toml").read_bytes()


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    root = tiny.copied(tmp_path_factory.mktemp("course"))
    (root / ".course").mkdir()
    (root / ".course" / "grading_seed").write_text(f"{SEED}\n")
    return Gate(secrets_of(tiny.course_at(root)))


def sentence(gate: Gate, name: str, data: bytes | str) -> str:
    """Return the sentence of the gate about a file; empty if the file passes."""
    found = gate.leaks([(name, data.encode() if isinstance(data, str) else data)])
    return found[0].sentence if found else ""


@pytest.mark.long
def test_what_is_handed_out_on_purpose_passes(gate: Gate) -> None:
    for folder in ("exercises", "tests"):
        assert gate.leaks(files_in(tiny.ROOT / folder)) == []
    engine = [file for file in files_in(ENGINE) if "__pycache__" not in file[0]]
    assert gate.leaks(engine) == []


def test_a_line_of_a_solution_is_found_in_a_comment_of_a_stub(gate: Gate) -> None:
    message = sentence(gate, "exercises/ex01.py", STUB.replace("    # TODO", f"    # {LINE.strip()}\n    # TODO"))
    assert message.startswith(
        "exercises/ex01.py has line 18 of solutions/ex01_running_mean.py in line 14: count = torch"
    )


def test_a_line_is_found_however_it_is_spaced_and_quoted(gate: Gate) -> None:
    spaced = "count=torch.arange( 1,\n   x.size(-1)+1,device = x.device )"
    assert "line 18" in sentence(gate, "README.md", f"Some say `{spaced}`, others not.")
    assert "line 17" in sentence(gate, "a.md", "raise ValueError(f'nothing has no mean: x has shape {tuple(x.shape)}')")
    assert "line 18" in sentence(gate, "a.html", f"<td>{LINE.replace('-', '&#45;')}</td>")


def test_short_lines_are_found_where_they_follow_one_another(gate: Gate) -> None:
    assert "lines 20 to 22 of solutions/ex02_matrix_power.py" in sentence(gate, "notes.txt", SHORT)
    assert not sentence(gate, "notes.txt", SHORT.replace("    return power\n", ""))


def test_a_line_is_found_in_a_docstring_of_the_checks_and_in_their_code_where_others_follow(gate: Gate) -> None:
    assert "line 18" in sentence(gate, "test_ex01.py", f'{CHECKS}\n\ndef right():\n    """\n{LINE}\n    """\n')
    assert "lines 20 to 22" in sentence(gate, "test_ex02.py", f"{CHECKS}\n\ndef power(a, n, power):\n{SHORT}")


@pytest.mark.long
def test_a_line_that_the_checks_have_as_code_is_no_secret(gate: Gate, course: Path) -> None:
    checks = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    checks.write_text(f"{CHECKS}\n\ndef count(torch, x):\n{LINE}\n    return count\n", "utf-8")
    assert not sentence(Gate(secrets_of(tiny.course_at(course))), "test_ex01.py", checks.read_bytes())
    checks.write_text(f'{CHECKS}\n\ndef count():\n    """\n{LINE}\n    """\n', "utf-8")
    assert "line 18" in sentence(Gate(secrets_of(tiny.course_at(course))), "test_ex01.py", checks.read_bytes())
    assert "line 18" in sentence(gate, "test_ex01.py", checks.read_bytes())


def notebook(**parts: object) -> str:
    cell = {"cell_type": "code", "source": ["x = 1\n"], "metadata": {}, "outputs": [], **parts}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})


def test_a_line_is_found_in_every_part_of_a_notebook(gate: Gate) -> None:
    lines = [f"{line}\n" for line in SHORT.splitlines()]
    assert "lines 20 to 22" in sentence(gate, "a.ipynb", notebook(source=lines))
    assert "line 18" in sentence(gate, "a.ipynb", notebook(source=["x = 1\n", f"{LINE}\n"]))
    assert "line 18" in sentence(gate, "a.ipynb", notebook(metadata={"nbgrader": {"solution": LINE}}))
    output = {"output_type": "stream", "name": "stdout", "text": [f">>> {LINE}\n"]}
    assert "line 18" in sentence(gate, "a.ipynb", notebook(outputs=[output]))
    assert not sentence(gate, "a.ipynb", notebook())


def test_a_bank_and_a_wrong_program_are_found(gate: Gate) -> None:
    assert "has line 19 of solutions/ex02" in sentence(gate, "ex02.toml", CATALOGUE)
    wrong = tiny.POWER.replace("range(1, n + 1)", "range(n)")
    assert "the misconception power-mean-from-zero" in sentence(gate, "a.txt", wrong.splitlines()[30])


def test_a_variant_that_looks_different_is_found(gate: Gate) -> None:
    variant = (tiny.ROOT / "solutions" / "accepted" / tiny.FIRST / "loop.py").read_bytes()
    assert f"solutions/accepted/{tiny.FIRST}/loop.py" in sentence(gate, "other.py", variant)


def zipped(data: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("inside.py", data)
    return stream.getvalue()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "base64": base64.b64encode,
    "base64 in lines": base64.encodebytes,
    "base64 for addresses": base64.urlsafe_b64encode,
    "base64 behind a word": lambda data: b"key" + base64.b64encode(data),
    "hexadecimal": lambda data: data.hex().encode(),
    "zlib": zlib.compress,
    "zlib with little effort": lambda data: zlib.compress(data, 1),
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "zip, stored": lambda data: zipped(data, zipfile.ZIP_STORED),
    "zip, bzip2": lambda data: zipped(data, zipfile.ZIP_BZIP2),
    "zip without its end": lambda data: zipped(data)[:-60],
    "zip in a zip": lambda data: zipped(zipped(data)),
    "behind numbers": lambda data: bytes(range(256)) * 40 + zlib.compress(data) + b"\0\1\2",
    "base64 of zlib": lambda data: base64.b64encode(zlib.compress(data)),
    "zlib of base64 of xz": lambda data: zlib.compress(base64.b64encode(lzma.compress(data))),
    "JSON of base64": lambda data: json.dumps({"a": {"b": [base64.encodebytes(data).decode()]}}).encode(),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16, big end first": lambda data: b"\xff\xff" + data.decode().encode("utf-16-be"),
    "text among bytes": lambda data: b"\xff\xfe\xfd" + data + b"\x80\x81",
}


@pytest.mark.parametrize("how", PACKINGS)
def test_a_solution_is_found_in_whatever_it_is_packed(gate: Gate, how: str) -> None:
    assert "solutions/ex01_running_mean.py" in sentence(gate, "key/a.bin", PACKINGS[how](tiny.MEAN.encode()))
    assert not sentence(gate, "key/a.bin", PACKINGS[how](STUB.encode()))


def test_a_solution_is_found_in_a_packed_key(gate: Gate) -> None:
    found = sentence(
        gate, "key/ex01/key.xz", lzma.compress(b'{"bank": "' + base64.b64encode(tiny.MEAN.encode()) + b'"}')
    )
    assert found.startswith("key/ex01/key.xz has line 16 of solutions/ex01_running_mean.py, in base64 in xz")


def test_compiled_python_is_refused_by_what_it_is(gate: Gate, tmp_path: Path) -> None:
    source = tiny.handed_in(tmp_path / "ada") / tiny.FILES[0]
    compiled = Path(py_compile.compile(str(source), str(tmp_path / "a.pyc"), doraise=True)).read_bytes()
    for name, data in {"a.pyc": compiled, "data.bin": compiled, "a.zip": zipped(compiled)}.items():
        assert "is compiled Python" in sentence(gate, name, data)
    assert "is compiled Python" in sentence(gate, "b.txt", base64.b64encode(compiled))
    assert "is compiled Python" in sentence(gate, "old.pyc", marshal.dumps(compile("x = 1", "x", "exec")))


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.worker
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here, so there is no history to make")
@pytest.mark.parametrize("packed", [False, True])
def test_a_git_history_is_looked_through_loose_and_packed(gate: Gate, tmp_path: Path, packed: bool) -> None:
    git(tmp_path, "init", "--quiet")
    for text in (STUB, tiny.MEAN, STUB):
        (tmp_path / tiny.FILES[0]).write_text(text, "utf-8")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "a")
    if packed:
        git(tmp_path, "gc", "--quiet", "--prune=now")
    [leak] = gate.leaks(files_in(tmp_path))
    assert leak.file.startswith(".git/objects/")
    assert "solutions/ex01_running_mean.py, in zlib" in leak.sentence


def test_the_seed_of_grading_is_found_alone_and_no_other_number_is(gate: Gate) -> None:
    for name, text in {
        "course.toml": f"seed = {SEED}\n",
        "README.md": f"It is {SEED}.",
        "a": f"{int(SEED):#x}",
        "b": f"0X{int(SEED):X}",
        "c": f"seed_{int(SEED):x}",
        "d": f"{int(SEED):_}",
        "e": f'{{"score": {SEED}.0}}',
        "f": f"see run_{SEED}.json",
        f"run_{SEED}.json": "",
        f"runs/{int(SEED):X}/notes.md": "",
    }.items():
        assert "has the grading seed of .course/grading_seed" in sentence(gate, name, text)
    assert "the grading seed" in sentence(gate, "a.b64", base64.b64encode(f"the seed is {SEED}\n".encode()))
    assert not sentence(gate, "course.toml", f"seed = {tiny.COURSE.seed}\nlarge = {int(SEED) + 1}\n")
    assert not sentence(gate, "a", f"{SEED}0 1{SEED} {int(SEED):x}0 {'ab' * 8}{int(SEED):x}{'ab' * 8}")
    assert sentence(gate, "b", f"\n\nseed = {SEED}").startswith(
        "b has the grading seed of .course/grading_seed in line 3"
    )


def test_what_cannot_be_looked_through_is_refused(gate: Gate) -> None:
    sealed = bytearray(zipped(STUB.encode()))
    sealed[6] |= 1
    assert "a zip with a password" in sentence(gate, "a.zip", bytes(sealed))
    strange = bytearray(zipped(STUB.encode()))
    strange[8] = 99
    assert "compression method 99" in sentence(gate, "a.zip", bytes(strange))
    assert "is a 7z archive" in sentence(gate, "a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(40))


def test_a_bomb_ends_as_a_refusal(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.authoring.leaks.MOST_BYTES", 1 << 20)
    assert "too much to look through" in sentence(gate, "a.zip", zipped(bytes(4 << 20)))


def test_layers_without_end_come_to_an_end() -> None:
    data = STUB.encode()
    for _ in range(9):
        data = zlib.compress(base64.b64encode(data))
    assert max(len(view.layers) for view in views(data)) == 5


def test_words_are_the_same_in_any_notation() -> None:
    assert (
        words_of("# x = f('a',\n  2.5)\\n") == words_of('x=f( "a", 2.5 )') == ["x", "=", "f", "(", "a", ",", "2.5", ")"]
    )


REGION = """def middle(numbers):
    \"\"\"Return the mean.\"\"\"
    # TODO ex01: the mean
    ### BEGIN SOLUTION
    total = sum(float(number) for number in numbers)
    return total / len(numbers) + 0 * total
    ### END SOLUTION
"""
OF_REGION = ("total = sum(float(number) for number in numbers)", "return total / len(numbers) + 0 * total")


@pytest.mark.parametrize(
    ("more", "copied"),
    [
        ("# %% [markdown]\n# ```python\n# {}\n# {}\n# ```\n", True),
        ("# %%\n# {}\n# {}\nx = 1\n", True),
        ("# %%\ndef given(numbers):\n    {}\n    {}\n", True),
        ("# %% [markdown]\n# Say `{}`, and no more.\n", False),
    ],
)
@pytest.mark.parametrize("of_another", [False, True])
def test_two_lines_of_a_region_in_a_stub_are_refused(course: Path, more: str, copied: bool, of_another: bool) -> None:
    first, second = (course / "solutions" / file for file in tiny.FILES)
    tiny.replaced(first, "def running_mean", f"{REGION}\n\ndef running_mean")
    wanted = second if of_another else first
    wanted.write_text(f"{more.format(*OF_REGION)}{wanted.read_text('utf-8')}", "utf-8")
    made = tiny.course_at(course)
    found = list(copied_regions(made, made.exercise(tiny.SECOND if of_another else tiny.FIRST)))
    assert bool(found) == copied
    assert not copied or f" of solutions/{tiny.FILES[0]}: total = sum" in found[0]


def test_each_place_of_a_stub_with_lines_of_a_region_is_named_once(course: Path) -> None:
    third = "    first = float(numbers[0]) if numbers else total - total\n"
    region = REGION.replace("    return", f"{third}    return")
    given = "".join(f"def given_{at}(numbers):\n    {OF_REGION[0]}\n\n{third}    return first\n\n\n" for at in "ab")
    whole = f"def given_c(numbers):\n    {OF_REGION[0]}  # (N,)\n{third}    {OF_REGION[1]}\n\n\n"
    tiny.replaced(
        course / "solutions" / tiny.FILES[0], "def running_mean", f"{given}{whole}{region}\n\ndef running_mean"
    )
    made = tiny.course_at(course)
    found = list(copied_regions(made, made.exercise(tiny.FIRST)))
    lines = [int(re.search(r"line (\d+)", sentence)[1]) for sentence in found]  # type: ignore[index]
    assert [line - lines[0] for line in lines] == [0, 7, 14]
    assert found[0].endswith("write them in another way there, or let the region call the function that has them")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("# TODO ex01: the mean", "# TODO ex01: {}", f"line 10 of exercises/{tiny.FILES[0]}"),
        ("Return the mean.", "Return {}.", f"line 9 of exercises/{tiny.FILES[0]}"),
    ],
)
def test_one_line_of_a_region_is_found_in_a_text(course: Path, old: str, new: str, place: str) -> None:
    region = REGION.replace(old, new.format(OF_REGION[1].removeprefix("return ")))
    tiny.replaced(course / "solutions" / tiny.FILES[0], "def running_mean", f"# %%\n{region}\n\ndef running_mean")
    suite = tiny.suite_at(course)
    [found] = copied_lines(suite, suite.course.exercise(tiny.FIRST))
    assert re.sub(r"line \d+", "line N", found).startswith(re.sub(r"line \d+", "line N", place))
    assert "total / len ( numbers ) + 0 * total; say in words" in found


def test_one_line_of_a_region_is_found_in_a_title_of_a_check(course: Path) -> None:
    tiny.replaced(course / "solutions" / tiny.FILES[0], "def running_mean", f"{REGION}\n\ndef running_mean")
    with (course / "tests" / "exercises" / f"test_{tiny.SECOND}.py").open("a", encoding="utf-8") as stream:
        stream.write(f"\n\n@check('{OF_REGION[0]}')\ndef test_more(impl, given):\n    return 1\n")
    suite = tiny.suite_at(course)
    [found] = copied_lines(suite, suite.course.exercise(tiny.SECOND))
    assert found.startswith("the title of the check more has line ")


@pytest.mark.long
@pytest.mark.parametrize("root", [tiny.ROOT, tiny.REPOSITORY / "examples" / "autodiff", tiny.REPOSITORY])
def test_a_course_that_holds_has_no_copied_line(root: Path) -> None:
    suite = tiny.suite_at(root)
    for exercise in suite.exercises:
        assert list(copied_regions(suite.course, exercise)) == []
        assert list(copied_lines(suite, exercise)) == []
