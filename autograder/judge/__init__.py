"""The trusted side: verdicts from observations and answer keys. It runs nobody's implementation, and needs no torch."""
