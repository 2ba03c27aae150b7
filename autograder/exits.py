"""The exit statuses of the program."""

PASS = 0
FAIL = 1
USAGE = 2
ENVIRONMENT = 3
GRADER = 4
INTERRUPTED = 130
"""The status that a shell reports for a program that Ctrl-C ended."""
