"""What a worker gives up before it runs anybody's code: Linux's own means, called directly, no library between.

Nothing here decides a verdict. Where a layer cannot be put on, the worker ends before it runs a line of a submission.
"""
