"""What a learner works with: watch mode, progress, notebooks and play."""
