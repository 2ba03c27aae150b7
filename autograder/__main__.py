"""`python -m autograder` is the program `course`."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the working folder: a numpy.py a student left there is not ours

    from autograder.cli import main

    main()
