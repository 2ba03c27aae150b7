"""The code of an exercise from a notebook: which cells count, which are left out, and how broken ones are refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.protocol import text_of
from autograder.submission import (
    FileError,
    Handout,
    Submission,
    cell_of,
    notes_of,
    python_of,
    read_notebook,
    read_submission,
)
from tests.support.submission_examples import BOTH, FILES, LIMIT, ONE, TWO, laid_out, noted, zipped

BOOK = ONE.replace(".py", ".ipynb")
STUB = b"def embed():\n    raise NotImplementedError\n"

bounded = settings(max_examples=200, derandomize=True, deadline=None, database=None)


def code(source: str | list[str], **nbgrader: bool) -> dict[str, Any]:
    metadata = {"nbgrader": nbgrader} if nbgrader else {}
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": [], "execution_count": None}


def text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def book(*cells: Any) -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)}).encode()


def source(*cells: Any) -> str:
    return read_notebook(book(*cells), LIMIT).source.decode()


def submission(folder: Path, files: dict[str, bytes], given: Handout | None = None) -> Submission:
    return read_submission(laid_out(folder, files), FILES, None, given or Handout({ONE: STUB}))


def test_the_code_cells_one_after_the_other_are_the_source_and_their_places_are_kept() -> None:
    made = read_notebook(book(text("# hello"), code("import torch\n"), code(["a = 1\n", "b = 2"]), code("c")), LIMIT)
    assert made.source == b"import torch\na = 1\nb = 2\nc\n"
    assert [cell_of(made.cells, line) for line in (1, 2, 3, 4)] == [(2, 1), (3, 1), (3, 2), (4, 1)]
    assert cell_of((), 3) is None


def test_a_location_is_named_by_its_cell_if_it_has_one(tmp_path: Path) -> None:
    read = submission(tmp_path / "ada", {f"notebooks/{BOOK}": book(text(""), code("a\nb")), TWO: b"x"})
    assert read.sources == {ONE: b"a\nb\n", TWO: b"x"}
    assert (read.place(ONE, 2), read.place(TWO, 2)) == ("cell 2, line 2", "line 2")
    assert [*read.notes] == notes_of("ordinary", read.notes) == [f"{ONE} is the code of notebooks/{BOOK}"]


def test_cells_that_check_or_grade_are_left_out_and_locked_code_is_not() -> None:
    graded = code("assert 1", grade=True, solution=False, locked=True)
    given_code = code("import torch", grade=False, solution=False, locked=True)
    answer = code("x = 1", grade=True, solution=True, locked=False)
    check = code("from autograder.notebook import check\ncheck('ex05')")
    assert source(given_code, graded, answer, check) == "import torch\nx = 1\n"


def test_a_note_names_work_in_a_cell_that_checks_and_is_left_out() -> None:
    made = read_notebook(book(code("import autograder.notebook\ndef f(): pass")), LIMIT)
    assert made.notes == ("cell 1 imports autograder.notebook, so it was left out; check in another cell",)


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "# %matplotlib inline\nx = 1"),
        ("!pip install 'torch\nx = 1", "# !pip install 'torch\nx = 1"),
        ("if x:\n    %time f(\ny = 1", "if x:\n    pass  # %time f(\ny = 1"),
        ("files = !ls\nx?\n?x\nf.y??", "files = []\n# x?\n# ?x\n# f.y??"),
        ("a = (b\n     % c)\nd = a \\\n  % b", "a = (b\n     % c)\nd = a \\\n  % b"),
        ('s = """\n%d of\n!x\n"""\n%magic', 's = """\n%d of\n!x\n"""\n# %magic'),
        ("s = 'it\\'s'  # (\n%magic", "s = 'it\\'s'  # (\n# %magic"),
        ("x = y % z\nx %= 2\nx != 3", "x = y % z\nx %= 2\nx != 3"),
        ("%%bash\nrm -rf\nx = 1", "# %%bash\n# rm -rf\n# x = 1"),
        ("%%time\nx = 1", "# %%time\nx = 1"),
        ("s = '''never\n%ends", "s = '''never\n%ends"),
        ("\n\n  ", "\n\n  "),
        ("a\r\nb\rc", "a\nb\nc"),
    ],
)
def test_only_what_is_no_python_becomes_a_comment(cell: str, python: str) -> None:
    assert "\n".join(python_of(cell)) == python


@bounded
@given(st.text(alphabet=" \n\t\\'\"#()[]%!?=ax", max_size=60))
def test_the_lines_of_a_cell_stay_as_many(cell: str) -> None:
    assert len(python_of(cell)) == len(cell.rstrip("\n").split("\n"))


def test_an_edited_file_counts_an_untouched_stub_gives_way_to_the_notebook(tmp_path: Path) -> None:
    mine = book(code("mine = 1"))
    edited = submission(tmp_path / "a", {ONE: b"own = 1\n", f"notebooks/{BOOK}": mine, TWO: b""})
    assert edited.sources[ONE] == b"own = 1\n"
    assert edited.notes == (f"{ONE} counts, not notebooks/{BOOK}: both hold work",)
    untouched = submission(tmp_path / "b", {ONE: STUB.replace(b"\n", b"\r\n"), BOOK: mine, TWO: b""})
    assert untouched.sources[ONE] == b"mine = 1\n"
    assert untouched.notes == (f"{ONE} is the code of {BOOK}",)


def test_a_notebook_as_it_was_handed_out_is_no_work_and_needs_no_word(tmp_path: Path) -> None:
    handed_out = Handout({ONE: STUB, BOOK: book(text("lesson"), code(STUB.decode()))})
    for at, mine in enumerate((b"own = 1\n", STUB)):
        read = submission(tmp_path / f"{at}", {ONE: mine, BOOK: book(code(STUB.decode())), TWO: b""}, handed_out)
        assert (read.sources[ONE], read.notes) == (mine, ())


def test_a_broken_notebook_beside_a_file_costs_nothing_but_a_word(tmp_path: Path) -> None:
    read = submission(tmp_path / "a", {ONE: b"own", BOOK: b"{", TWO: b""})
    assert read.sources[ONE] == b"own"
    assert noted(read, f"{BOOK} is not a notebook: its JSON cannot be read; save it again in Jupyter")


def test_a_notebook_in_a_zip_is_read_alike(tmp_path: Path) -> None:
    files = {f"work/{BOOK}": book(code("a = 1"))}
    folder = read_submission(laid_out(tmp_path / "ada", files), FILES)
    assert read_submission(zipped(tmp_path / "ada.zip", files), FILES) == folder


def test_a_notebook_with_a_nearly_right_name_is_pointed_out(tmp_path: Path) -> None:
    read = submission(tmp_path / "a", {"ex05_attention-Copy1.ipynb": book(), ONE: b""})
    assert noted(read, f"{TWO} is missing, and there is ex05_attention-Copy1.ipynb")


def test_outputs_may_be_large_and_code_may_not(tmp_path: Path) -> None:
    cell = code("a = 1")
    cell["outputs"] = [{"data": {"image/png": "A" * (4 << 20)}}]
    assert source(cell) == "a = 1\n"
    assert len(book(cell)) > LIMIT
    with pytest.raises(FileError, match="has more than 256 KiB of code"):
        source(code("#" * (LIMIT + 1)))
    huge = submission(tmp_path / "a", {BOOK: b" " * (8 * 1024 * 1024 + 1), **BOTH})
    assert noted(huge, "8,388,609 bytes, more than the 8,192 KiB a file may have, so it was not read")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is not a notebook: its JSON cannot be read"),
        (b"\xff\xfe", "is not a notebook: its JSON cannot be read"),
        (b"[" * 100_000, "is not a notebook: its JSON cannot be read"),
        (b'{"a":' * 100_000, "is not a notebook: its JSON cannot be read"),
        (b"9" * 100_000, "is not a notebook: its JSON cannot be read"),
        (b"[]," * 1_100_000, "lists and objects in it"),
        (b"[]", "has no list of cells"),
        (b'{"worksheets": [{"cells": []}]}', "has no list of cells, expected a notebook of format 4"),
        (b'{"cells": {}}', "has no list of cells"),
        (b'{"cells": [1]}', "has a broken cell 1, expected a JSON object"),
        (book(*[text("")] * 2001), "has 2,001 cells, more than 2,000"),
        (book(code(1)), "has a cell 1 without a text as its source"),  # type: ignore[arg-type]
        (book(code(["a", 1])), "has a cell 1 without a text as its source"),  # type: ignore[list-item]
    ],
)
def test_what_is_no_notebook_is_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        read_notebook(data, LIMIT)


def test_strange_metadata_and_letters_that_are_none_do_no_harm() -> None:
    strange: list[Any] = [None, [], "x", {"nbgrader": []}, {"nbgrader": {"grade": "true"}}]
    cells = [{"cell_type": "code", "source": "a", "metadata": metadata} for metadata in strange]
    assert source(*cells) == "a\n" * 5
    assert read_notebook(book(code("s = '\ud800\x00'")), LIMIT).source == b"s = '\xed\xa0\x80\x00'\n"


keys = st.sampled_from(["cells", "cell_type", "source", "metadata", "nbgrader", "grade", "code", "solution"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.long
@bounded
@given(st.dictionaries(keys, JSON, max_size=4) | JSON | st.builds(lambda cells: {"cells": cells}, st.lists(JSON)))
def test_any_json_is_read_or_refused(data: Any) -> None:
    try:
        made = read_notebook(json.dumps(data).encode(), LIMIT)
    except FileError as error:
        message = str(error)
    else:
        message = "".join(made.notes)
        assert len(made.source) <= LIMIT
    assert message.isprintable()


def test_long_hostile_lines_cost_little() -> None:
    many = 200_000
    for line in (" " * many + "x", "a" * many + "?", "(" * many, "'" * (many - 1), '"""' + "\\" * many, "a=" * many):
        assert len(python_of(line)) == 1
    assert len(python_of("x = (\n" * 30_000)) == 30_000


CHECKS = code("check('ex05')", grade=True, solution=False, locked=True)


@pytest.mark.parametrize(
    "cell", ["hint('ex05')", "# ask\nhint()\n\nwhy('a-b');  # once more\nstatus()", "check('ex05', strict=True)"]
)
def test_a_cell_that_only_asks_the_kit_something_is_left_out(cell: str) -> None:
    assert source(code("a = 1"), code(cell), code("b = 2")) == "a = 1\nb = 2\n"


@pytest.mark.parametrize(
    "cell", ["x = check('ex05')", "hint = 1", "why", "check(\nx)", "status()\nx = 1", "# only words"]
)
def test_a_cell_that_does_more_than_ask_counts(cell: str) -> None:
    assert source(code(cell)) == f"{cell}\n"


def test_code_below_the_cell_that_checks_is_for_trying_out() -> None:
    made = read_notebook(book(code("a = 1"), CHECKS, text("Try"), code("raise ValueError"), code("def f(): 1")), LIMIT)
    assert made.source == b"a = 1\n"
    assert made.notes == ("cell 5 is below the check, so it was left out; move code to be graded above it",)
    assert source(code("a = 1"), code("check('ex05')"), code("b = 2")) == "a = 1\nb = 2\n", "it is no cell that grades"


def test_a_notebook_of_the_stub_is_no_work_whatever_stands_between_its_lines(tmp_path: Path) -> None:
    untouched = book(text("lesson"), code("\n\ndef embed():\n\n    # a thought\n    raise NotImplementedError"), CHECKS)
    read = submission(tmp_path / "a", {ONE: b"own = 1\n", BOOK: untouched, TWO: b""})
    assert (read.sources[ONE], read.notes) == (b"own = 1\n", ())


def test_a_declaration_of_an_encoding_in_a_notebook_is_of_no_effect_as_in_jupyter() -> None:
    made = read_notebook(book(code("# coding: latin-1\nx = 'ö'\n")), LIMIT)
    assert text_of(made.source) == "#\nx = 'ö'\n"


def test_half_a_character_in_a_notebook_is_an_error_as_in_jupyter() -> None:
    made = read_notebook(book(code("x = 1"), code("y = '\ud800'")), LIMIT)
    with pytest.raises(SyntaxError) as caught:
        text_of(made.source)
    assert caught.value.lineno == 2


def test_a_notebook_that_is_not_saved_as_utf_8_is_called_so(tmp_path: Path) -> None:
    data = json.dumps({"cells": [], "text": "ö"}, ensure_ascii=False).encode("latin-1")
    assert (
        submission(tmp_path / "ada", {BOOK: data})
        .notes[0]
        .startswith(f"{BOOK} is not a notebook: its JSON cannot be read as UTF-8")
    )
