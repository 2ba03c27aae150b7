"""A notebook as it was last run: which cells take the place of those on disk."""

import json
from typing import Any

import pytest

from autograder.notebook.cells import LiveNotebook, Run, read_live
from autograder.submission import FileError

LIMIT = 1 << 18
IMPORTS = "import math\nimport torch"
ONE, TWO = "def one():\n    return 0", "def two():\n    return 0"
CHECK = 'check("ex01")'


def cell(cell_id: str, source: str, **mark: bool) -> dict[str, Any]:
    metadata = {"nbgrader": mark} if mark else {}
    return {"cell_type": "code", "id": cell_id, "source": source, "metadata": metadata, "outputs": []}


BOOK = json.dumps(
    {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {"cell_type": "markdown", "id": "a", "source": "# Lesson", "metadata": {}},
            cell("b", IMPORTS),
            cell("c", ONE),
            cell("d", TWO),
            cell("e", CHECK, grade=True, locked=True),
            cell("f", "# room"),
        ],
    }
).encode()


def live(*runs: Run | str) -> LiveNotebook:
    return read_live(BOOK, [run if isinstance(run, Run) else Run(run) for run in runs], LIMIT)


def source(*runs: Run | str) -> str:
    return live(*runs).book.source.decode()


def test_what_was_run_as_it_is_on_disk_is_the_file() -> None:
    found = live(IMPORTS, ONE, TWO, CHECK)
    assert found.book.source.decode() == f"{IMPORTS}\n{ONE}\n{TWO}\n"
    assert found.newer == ()


def test_a_notebook_has_run_once_a_cell_that_defines_something_ran() -> None:
    assert not live().has_run
    assert not live(IMPORTS, CHECK, "x = 1").has_run
    assert live(ONE).has_run


def test_an_edited_cell_is_known_by_its_id() -> None:
    found = live(Run("def other():\n    return 1", "c"))
    assert found.book.source.decode() == f"{IMPORTS}\ndef other():\n    return 1\n{TWO}\n"
    assert found.newer == (3,)


def test_an_edited_cell_is_known_by_what_it_binds_where_there_are_no_ids() -> None:
    edited = "def help():\n    return 1\ndef one():\n    return help()"
    found = live(Run(edited, "vscode-notebook-cell:/x#W3sZmlsZQ"), TWO)
    assert found.book.source.decode() == f"{IMPORTS}\n{edited}\n{TWO}\n"
    assert found.newer == (3,)


def test_the_last_run_of_a_cell_counts_also_when_it_is_the_old_text_again() -> None:
    assert "return 2" in source("def one():\n    return 1", "def one():\n    return 2")
    assert live("def one():\n    return 1", ONE).newer == ()


def test_a_cell_that_took_in_another_leaves_nothing_of_it() -> None:
    both = "def one():\n    return 1\ndef two():\n    return 2"
    assert source(both).rstrip() == f"{IMPORTS}\n{both}"


def test_a_new_cell_that_defines_something_stands_before_the_others_and_is_newer() -> None:
    found = live("def help():\n    return 1", ONE, "def help():\n    return 2")
    assert found.book.source.decode() == f"{IMPORTS}\ndef help():\n    return 2\n{ONE}\n{TWO}\n"
    assert found.newer == (3,)
    assert found.book.cells == ((1, 2), (3, 3), (5, 4), (7, 5))


def test_what_only_tries_something_out_or_cannot_be_read_is_left_out() -> None:
    tried = ("x = one()", "import torch\nprint(torch.ones(3))", "def one(:", "%timeit one()", "one?")
    assert source(ONE, *tried) == f"{IMPORTS}\n{ONE}\n{TWO}\n"


def test_magic_in_a_cell_does_not_hide_what_it_binds() -> None:
    assert "%time" in source("%time x = 1\ndef one():\n    return 3")


def test_a_cell_below_the_check_is_for_trying_out_even_when_it_defines_something() -> None:
    found = live(ONE, Run("def three():\n    return 3", "f"))
    assert found.book.source.decode() == f"{IMPORTS}\n{ONE}\n{TWO}\n"


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"cells": [1]}'])
def test_a_file_that_is_no_notebook_is_reported(data: bytes) -> None:
    with pytest.raises(FileError):
        read_live(data, [Run(ONE)], LIMIT)
