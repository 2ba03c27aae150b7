"""Confine a worker process before it runs a submission, with Linux's own means, called directly without a library.

Nothing here decides a verdict. If a layer cannot be applied, the worker ends before it runs a line of the submission.
"""
