"""What a page of the docs says to type."""

import re
from pathlib import Path


def commands_of(page: Path) -> list[str]:
    """Return the commands of a page, without their comments."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    lines = [re.sub(r"\s+#.*", "", line).strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]
