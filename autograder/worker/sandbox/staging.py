"""For a judge that is root: `python -I -S staging.py JSON COMMAND...` becomes an ordinary user for good.

Before, in a mount namespace of its own, it puts what the sandbox needs where that user can reach it; then it turns into
the command.

So an interpreter below /root, say, can be used in the sandbox although its user cannot come near it.
"""

import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Stage, drop every privilege, and run the command. Any failure ends the process before the command."""
    wanted = json.loads(sys.argv[1])
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    from autograder.worker.sandbox import linux

    linux.unshare(linux.CLONE_NEWNS)
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("tmpfs", wanted["stage"], "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    for source, target in wanted["binds"]:
        if os.path.isdir(source):  # noqa: PTH112
            os.mkdir(target)  # noqa: PTH102
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        linux.mount(source, target, None, linux.MS_BIND | linux.MS_REC)
    os.setgroups([])
    os.setresgid(wanted["user"], wanted["user"], wanted["user"])
    os.setresuid(wanted["user"], wanted["user"], wanted["user"])
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
