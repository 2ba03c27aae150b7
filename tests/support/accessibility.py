"""The violations that axe-core finds on a page: text, tables and regions that some people cannot read or reach."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Browser

AXE = Path(__file__).parent / "axe"
RUN = """
for (const details of document.querySelectorAll('details')) details.open = true;
axe.run({resultTypes: ['violations']}).then(found => found.violations.map(violation => ({
  id: violation.id, impact: violation.impact, at: violation.nodes.slice(0, 3).map(node => node.html.slice(0, 200))})))
"""


def script(folder: Path) -> str:
    """Return the script of axe-core in the version of the lock file, downloaded into a folder."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm is installed, which fetches axe-core: apt install npm")
    shutil.copytree(AXE, folder, dirs_exist_ok=True)
    command = [npm, "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        pytest.skip(f"npm could not fetch axe-core:\n{done.stderr}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


def faults(opened: Browser, axe: str) -> list[dict[str, Any]]:
    """Return the violations on the open page, with all its details unfolded."""
    opened.value(f"{axe};0")
    return list(opened.value(RUN))
