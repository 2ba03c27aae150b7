"""Run one activity for `course play`: `python -P autograder/play/__main__.py REQUEST`.

It is a process of its own with the terminal of its parent: a student's code can harm this process only.
"""

import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until a training handles it, Ctrl-C ends this at once
    sys.path.append(str(Path(__file__).resolve().parents[2]))

    from autograder.play.stage import main

    main(sys.argv[1])
