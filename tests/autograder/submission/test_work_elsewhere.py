"""Work in a file that is not read, beside one without work: it is named, and never a silent zero."""

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.submission import Handout, Submission, python_of, read_notebook, read_submission
from autograder.submission.submission import bodies, written
from tests.autograder.submission.test_notebooks import book, code, text
from tests.support.submission_examples import LIMIT, laid_out, zipped

FILE, OTHER = FILES = ("ex05_attention.py", "ex06_heads.py")
BOOK = "ex05_attention.ipynb"
STUB = '''import torch


def scores(
    q, k
):
    """Return the scores."""
    # TODO ex05
    raise NotImplementedError("ex05: scores")


class Attention:
    def forward(self, x):
        """Attend."""
        raise NotImplementedError("ex05: Attention.forward")
'''
WORK = STUB.replace('raise NotImplementedError("ex05: scores")', "return q @ k.T").replace(
    'raise NotImplementedError("ex05: Attention.forward")', "return scores(x, x)"
)
HALF = STUB.replace('raise NotImplementedError("ex05: scores")', "return q @ k.T")
GIVEN = Handout({FILE: STUB.encode(), OTHER: b"def heads(x):\n    raise NotImplementedError\n"})


def read(folder: Path, files: dict[str, bytes]) -> Submission:
    return read_submission(laid_out(folder, {OTHER: b"def heads(x):\n    return x\n", **files}), FILES, None, GIVEN)


def packed(name: str, content: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, content)
    return stream.getvalue()


BROKEN = json.dumps(json.loads(book(code(WORK))), indent=1).replace(' "cells"', '<<<<<<< HEAD\n "cells"').encode()

ELSEWHERE = {
    "ex05_attention (1).py": WORK.encode(),
    "ex05_attention_final.py": WORK.encode(),
    "Copy of ex05_attention.py": WORK.encode(),
    "ex05.py": WORK.encode(),
    "old/ex05_attention.py": WORK.encode(),
    "a/b/c/ex05_attention.py": WORK.encode(),
    "EX05_ATTENTION.PY": WORK.encode(),
    "ex05_attention.py.txt": WORK.encode(),
    "ex05_attention.txt": WORK.encode("utf-16"),
    "ex05_attention.py.bak": WORK.encode(),
    "ex05_attention.py~": WORK.encode(),
    "solution.py": WORK.encode(),
    "homework5.ipynb": book(code(WORK)),
    "ex05_attention (2).ipynb": book(code("import torch"), code(WORK)),
    "ex05_attention-v2.ipynb": BROKEN,
    "ex05_attention.html": WORK.replace("def", "<span>def</span>").encode(),
    ".ipynb_checkpoints/ex05_attention-checkpoint.ipynb": book(code(WORK)),
    ".history/ex05_attention_20260301.py": WORK.encode(),
    "work.zip": packed(FILE, WORK),
    "ex05_attention.pdf": b"%PDF",
    "ex05_attention.7z": b"7z",
}


@pytest.mark.parametrize("name", ELSEWHERE)
@pytest.mark.parametrize(
    "own", [STUB, "", "# nothing\n", HALF, None], ids=["stub", "empty", "words", "half", "missing"]
)
def test_work_beside_a_file_without_it_is_a_doubt_that_names_both(name: str, own: str | None, tmp_path: Path) -> None:
    if name in ("ex05_attention.pdf", "ex05_attention.7z") and own == HALF:
        return  # they may be anything, and some work counts
    if own is None and ("/" in name or name == "work.zip") and not name.startswith("."):
        return  # then that one is found
    submission = read(tmp_path / "ada", {name: ELSEWHERE[name], **({FILE: own.encode()} if own is not None else {})})
    assert [*submission.doubts] == [FILE]
    sentence = submission.doubts[FILE]
    assert FILE in sentence
    assert name in sentence
    assert sentence in submission.notes


@pytest.mark.parametrize("name", ["old/ex05_attention.py", "ex05_attention (1).py", "solution.py"])
def test_a_zip_is_read_like_a_folder(name: str, tmp_path: Path) -> None:
    files = {FILE: STUB.encode(), OTHER: b"", name: WORK.encode()}
    assert [*read_submission(zipped(tmp_path / "a.zip", files), FILES, None, GIVEN).doubts] == [FILE]


@pytest.mark.parametrize(
    "files",
    [
        {FILE: WORK, "ex05_attention (1).py": WORK, "old/solution.py": HALF},
        {FILE: STUB, "ex05_attention (1).py": STUB, "old/ex05_attention.py": STUB.replace("\n", "\r\n")},
        {FILE: STUB, "ex05_attention (1).py": "", "notes.txt": "What does def scores(q, k): do?\n"},
        {FILE: STUB, ".ipynb_checkpoints/ex05_attention-checkpoint.py": STUB},
        {FILE: HALF, "ex05_attention (1).py": HALF},
        {FILE: STUB, "autograder/scores.py": WORK, "ex07_other.py": WORK},
        {FILE: STUB, ".git/ex05_attention.py": WORK, "venv/ex05_attention.py": WORK},
    ],
)
def test_copies_and_files_of_the_kit_are_no_doubt(files: dict[str, str], tmp_path: Path) -> None:
    assert read(tmp_path / "ada", {name: source.encode() for name, source in files.items()}).doubts == {}


def test_a_checkpoint_that_equals_the_notebook_is_no_doubt(tmp_path: Path) -> None:
    both = {BOOK: book(code(WORK)), ".ipynb_checkpoints/ex05_attention-checkpoint.ipynb": book(code(WORK))}
    submission = read(tmp_path / "ada", {FILE: STUB.encode(), **both})
    assert submission.doubts == {}
    assert submission.notes == (f"{FILE} is the code of {BOOK}",)


def test_an_archive_that_is_not_opened_is_a_doubt_only_where_nothing_else_is_written(tmp_path: Path) -> None:
    assert read(tmp_path / "a", {FILE: STUB.encode(), "data.rar": b"Rar!"}).doubts == {}
    nothing = read(tmp_path / "b", {FILE: STUB.encode(), OTHER: GIVEN.files[OTHER], "data.rar": b"Rar!"})
    assert [*nothing.doubts] == [FILE, OTHER]
    broken = read(tmp_path / "c", {FILE: STUB.encode(), OTHER: GIVEN.files[OTHER], "work.zip": b"PK\3\4"})
    assert [*broken.doubts] == [FILE, OTHER]


def test_only_lines_of_ones_own_are_work() -> None:
    assert written(WORK, STUB) == {"scores", "Attention.forward"}
    assert written(HALF, STUB) == {"scores"}
    moved = STUB.replace("q, k\n", "q: Tensor, k: Tensor\n").replace("Return the scores", "My own words")
    assert written(moved, STUB) == frozenset()
    assert written("def scores(q, k): return q[1:2]\n", STUB) == {"scores"}
    assert written("def scores(q, k):\n    pass\n", STUB) == frozenset()
    assert bodies("def f(\n    a,\n):\n    '''x\n    y'''\n    # z\n    return a\n") == {"f": ["return a"]}


LEFT = {
    "is a text cell": text(WORK),
    "is a raw cell": {**text(WORK), "cell_type": "raw"},
    "begins with %%writefile": code(f"%%writefile {FILE}\n{WORK}"),
    "begins with %%bash": code(f"%%bash\n{WORK}"),
    "begins with %%script": code(f"%%script python\n{WORK}"),
    "begins with %%html": code(f"%%html\n{WORK}"),
    "begins with %%timeit": code(f"%%timeit\n{WORK}"),
    "begins with %%javascript": code(f"%%time\n%%javascript\n{WORK}"),
    "is a test cell of nbgrader": code(WORK, grade=True, solution=False, locked=True),
    "as a comment, which Python ignores": code("\n".join(f"# {line}" for line in WORK.split("\n"))),
}


@pytest.mark.parametrize("what", LEFT)
def test_work_in_a_cell_that_is_left_out_is_named_with_its_cell(what: str, tmp_path: Path) -> None:
    submission = read(tmp_path / "ada", {BOOK: book(code("import torch"), LEFT[what])})
    [sentence] = submission.left[FILE]
    assert f"{BOOK}: cell 2 " in sentence
    assert what in sentence
    assert "`Attention.forward` and 1 more" in sentence
    assert sentence in submission.notes
    twice = read(tmp_path / "bob", {BOOK: book(code(WORK), LEFT[what])})
    assert not twice.left[FILE], "another cell has it, so nothing is lost"


def test_work_in_comments_of_a_script_is_named_with_its_line(tmp_path: Path) -> None:
    commented = "import torch\n" + "\n".join(f"# {line}" for line in HALF.split("\n"))
    submission = read(tmp_path / "ada", {FILE: commented.encode()})
    assert submission.left[FILE] == (f"{FILE} has `scores` as a comment from line 5 on, which Python ignores",)


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("!pip install torch \\\n    numpy\nx = 1", ["# !pip install torch \\", "", "x = 1"]),
        ("pip install torch", ["# pip install torch"]),
        ("ls", ["# ls"]),
        ("ls -l", ["# ls -l"]),
        ("cd ..", ["# cd .."]),
        ("\n%cd /tmp\nx = 1", ["", "# %cd /tmp", "x = 1"]),
        ("a = !ls\nb = %pwd", ["a = []", "b = None"]),
        ("%time x = f(1)\ny = %time g()", ["x = f(1)  # %time x = f(1)", "y = g()  # y = %time g()"]),
        ("%%time\n%%capture out\nx = 1\n!ls", ["# %%time", "# %%capture out", "x = 1", "# !ls"]),
        (">>> x = 1\n>>> y = 2", ["x = 1", "y = 2"]),
        ("  x = 1\n  !ls", ["x = 1", "# !ls"]),
        ("await f()", ["await f()"]),
        ("env = 3", ["env = 3"]),
        ("time.sleep(1)", ["time.sleep(1)"]),
        ("!ls\nx = = 1", ["# !ls", "x = = 1"]),
    ],
)
def test_a_cell_is_read_as_jupyter_reads_it_and_keeps_its_lines(cell: str, python: list[str]) -> None:
    assert python_of(cell) == python


def test_without_ipython_a_cell_that_needs_it_is_held_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "IPython.core.inputtransformer2", None)
    submission = read(tmp_path / "ada", {BOOK: book(code("x = 1"), code(f"!pip install torch\n{WORK}"))})
    assert (
        "cell 2 that only IPython can read; install it with `pip install -e '.[notebook]'`" in submission.doubts[FILE]
    )
    assert read(tmp_path / "bob", {BOOK: book(code("pip install x"), code(WORK))}).doubts == {}


def test_a_script_that_was_exported_with_its_magics_is_read(tmp_path: Path) -> None:
    submission = read(tmp_path / "ada", {FILE: f"!pip install torch\n%matplotlib inline\n{WORK}".encode()})
    assert submission.sources[FILE].decode() == f"# !pip install torch\n# %matplotlib inline\n{WORK}"
    assert submission.notes == (f"{FILE} has lines for IPython, not for Python; they were left out",)
    text_only = f'"""\n!x\n%y\n"""\n{WORK}'.encode()
    assert read(tmp_path / "bob", {FILE: text_only}).sources[FILE] == text_only


def test_a_notebook_with_a_merge_conflict_says_so(tmp_path: Path) -> None:
    assert b"<<<<<<<" in BROKEN
    submission = read(tmp_path / "ada", {BOOK: BROKEN})
    assert f"{BOOK} is not a notebook: line " in submission.unread[FILE]
    assert "has a merge conflict marker of git; keep one version" in submission.unread[FILE]


def test_names_that_an_editor_or_a_browser_changed_get_the_note_to_rename(tmp_path: Path) -> None:
    for at, name in enumerate(["Ex05_Attention.PY", "ex05_attention.py.txt", "ex05_attention.ipynb.json"]):
        submission = read(tmp_path / f"{at}", {name: b"nothing"})
        assert submission.notes == (f"{FILE} is missing, and there is {name}; rename it if that is the one",)


def test_a_file_that_a_doubt_is_about_is_not_proposed_for_another_exercise(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "ada", {FILE: STUB.encode(), "ex05_attention (1).py": WORK.encode()})
    submission = read_submission(folder, (FILE, "ex06_multi_head_attention.py"), None, GIVEN)
    [note] = submission.notes
    assert note == submission.doubts[FILE]


@pytest.mark.long
def test_a_cell_of_many_magics_and_a_long_line_cost_little() -> None:
    assert len(python_of("!ls\n" * 3000)) == 3000
    assert len(python_of("a." * 30_000 + "?")) == 1
    assert read_notebook(book(code("%x\n" * 1000)), LIMIT).source.count(b"\n") == 1000
