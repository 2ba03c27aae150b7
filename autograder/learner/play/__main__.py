"""The program that runs one activity for `course play`: `python -P autograder/learner/play/__main__.py REQUEST`.

A process of its own, with the terminal of its parent: what a student's code does to it harms nobody else.
"""

import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until a training listens to it, Ctrl-C ends this without a word
    sys.path.append(str(Path(__file__).resolve().parents[3]))

    from autograder.learner.play.running import main

    main(sys.argv[1])
