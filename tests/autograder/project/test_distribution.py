"""The name of the distribution is our own, and no text gives a command that installs another project."""

import re
import tomllib

from autograder import DISTRIBUTION
from tests.support import tiny

TEXTS = ("README.md", "pyproject.toml", "Makefile", "docs/*.md", "autograder/**/*.py", "autograder/**/*.md")

FROM_THE_INDEX = re.compile(r"pip install[^\n`]*?(?<![\w./-])autograder(?:\[|\b(?!/))")
"""A command that would install the program called `autograder` on the package index, which is not ours."""


def test_the_distribution_has_one_name_everywhere() -> None:
    project = tomllib.loads((tiny.REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    own = [entry for entry in project["optional-dependencies"]["dev"] if entry.startswith(f"{DISTRIBUTION}[")]
    assert own, "what `dev` takes from the other extras goes by the distribution's own name"


def test_no_text_names_the_stranger_that_is_called_autograder_on_the_index() -> None:
    files = [file for pattern in TEXTS for file in sorted(tiny.REPOSITORY.glob(pattern))]
    found = [file.name for file in files if FROM_THE_INDEX.search(file.read_text("utf-8"))]
    assert len(files) > 100
    assert not found


def test_the_pattern_finds_such_a_command() -> None:
    assert FROM_THE_INDEX.search("pip install 'autograder[cluster]'")
    assert FROM_THE_INDEX.search("pip install autograder")
    assert not FROM_THE_INDEX.search("pip install -e '.[cluster]'")
