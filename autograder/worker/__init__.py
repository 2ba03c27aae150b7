"""The worker process, which nobody trusts: it imports the student's code, runs probes, and answers with data."""
