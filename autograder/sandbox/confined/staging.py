"""Run a command as an ordinary user, for a judge that is root: `python -I -S staging.py JSON COMMAND...`.

Before it drops its privileges, it mounts the files that the sandbox needs, in a mount namespace of its own, where that
user can reach them. So the sandbox can use an interpreter below /root, for example, which the user could not read.
"""

import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Mount the files, drop every privilege, and run the command. Any failure ends the process before the command."""
    request = json.loads(sys.argv[1])
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    from autograder.sandbox.confined import layers  # after the path is set

    layers.unshare(layers.CLONE_NEWNS)
    layers.mount(None, "/", None, layers.MS_REC | layers.MS_PRIVATE)
    layers.mount("tmpfs", request["stage"], "tmpfs", layers.MS_NOSUID | layers.MS_NODEV, "mode=755")
    for source, target in request["binds"]:
        if os.path.isdir(source):  # noqa: PTH112
            os.mkdir(target)  # noqa: PTH102
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        layers.mount(source, target, None, layers.MS_BIND | layers.MS_REC)
    os.setgroups([])
    os.setresgid(request["user"], request["user"], request["user"])
    os.setresuid(request["user"], request["user"], request["user"])
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
