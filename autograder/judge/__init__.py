"""The trusted side: verdicts from observations and answer keys. It runs no learner's code, and needs no torch."""
