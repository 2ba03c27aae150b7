"""Renders results: in the terminal, as plain text, as HTML and as pictures."""
