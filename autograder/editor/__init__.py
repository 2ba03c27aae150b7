"""Servers that other programs start: the language server of an editor, and the tools of an assistant."""
