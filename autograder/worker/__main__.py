"""The worker program: `python -s -S -P autograder/worker/__main__.py [--library=NAME]... FOLDER...`.

The libraries are loaded before the first job, which takes seconds for some. The folders contain them: without `site`
nothing else is on the path, so no file that a student could put there runs. Requests arrive on standard input, answers
leave on standard output, and whatever the student's code prints goes to standard error.
"""

import gc
import os
import sys
from pathlib import Path


def main() -> None:
    """Move the streams out of the student's reach, then answer requests."""
    kit = str(Path(__file__).resolve().parents[2])
    sys.path.insert(0, kit)
    from autograder.protocol import split_arguments  # after the path is set

    libraries, packages = split_arguments(sys.argv[1:])
    sys.argv[1:] = []
    sys.path += packages
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)

    gc.disable()  # loading libraries makes no garbage, and looking for some takes a sixth of the time
    from autograder.worker.session import serve  # after the path is set
    from autograder.worker.support import LibraryMissing, load_support  # after the path is set

    try:
        load_support(libraries)
    except LibraryMissing as error:
        from autograder.protocol import write_frame  # after the path is set

        os.write(answers, write_frame({"event": "unusable", "message": str(error)}))
        return
    if kit not in packages:
        sys.path.remove(kit)
    sys.dont_write_bytecode, os.environ["PYTHONDONTWRITEBYTECODE"] = True, "1"  # no student's import leaves a file
    serve(requests, answers)
    sys.stdout.flush()
    os._exit(0)  # skips the student's threads, finalizers and atexit functions


if __name__ == "__main__":
    main()
