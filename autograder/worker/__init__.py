"""The untrusted side: imports the student's code, runs each probe, and answers with observations as data."""
