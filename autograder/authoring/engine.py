"""The running engine as a distribution: what pip needs to install it again, on another machine."""

import json
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from autograder import DISTRIBUTION, __version__
from autograder.course.names import UsageError

ENGINE = Path(__file__).parents[1]
"""The folder of the package: in a checkout, in a kit or where pip installed it."""


def requirement(*extras: str) -> str:
    """Return the line for a requirements file that installs this engine: its commit, if pip got it from git."""
    name = f"{DISTRIBUTION}[{','.join(extras)}]" if extras else DISTRIBUTION
    source = json.loads(_installed().read_text("direct_url.json") or "{}")
    git = source.get("vcs_info", {})
    if git.get("vcs") == "git":
        return f"{name} @ git+{source['url']}@{git['commit_id']}"
    return f"{name}=={__version__}"


def _installed() -> Distribution:
    try:
        return distribution(DISTRIBUTION)
    except PackageNotFoundError:
        raise UsageError(f"{DISTRIBUTION} is not installed here; install it: pip install -e {ENGINE.parent}") from None
