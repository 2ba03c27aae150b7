"""Mark every test of this folder: it compares an exercise with a library of the extra `field`."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Add the marker, so that no file has to."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("field")
