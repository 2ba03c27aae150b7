"""Every sentence about a finding, beside the fact that it puts into words. A sentence is edited here and nowhere else.

A fact is found by comparison, diagnosis or judge as a frozen value; `wording` puts it into words when a result is made.
"""

from autograder.messages.wording import Fact, Wording, headline, message, opened, sentence

__all__ = ["Fact", "Wording", "headline", "message", "opened", "sentence"]
