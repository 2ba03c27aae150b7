"""The commands of a learner: check, watch, hint and the like."""
