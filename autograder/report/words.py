"""The words that other rooms use, by their former names."""

from autograder.report.exercise_summary import checks_pass as checks_pass
from autograder.report.exercise_summary import message_of as message_of
from autograder.report.exercise_summary import notes as notes
from autograder.report.exercise_summary import number as number
from autograder.report.exercise_summary import passing as passing
from autograder.report.exercise_summary import shown_first as shown_first
from autograder.report.exercise_summary import spoken as spoken
from autograder.report.exercise_summary import student as student
from autograder.report.quantities import listed as listed
from autograder.report.quantities import plural as plural
from autograder.report.quantities import points as points
from autograder.report.quantities import points_of as points_of
from autograder.report.quantities import seconds as seconds
from autograder.report.states import STATES as STATES
from autograder.report.states import state_of as state_of
