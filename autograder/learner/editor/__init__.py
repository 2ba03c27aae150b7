"""The language server of `course lsp`: what a check found, shown in the learner's editor."""
