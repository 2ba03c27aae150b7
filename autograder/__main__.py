"""`python -m autograder` is the program `course`."""

from autograder.cli import main

main()
