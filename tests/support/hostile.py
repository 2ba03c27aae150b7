"""Strings that would be markup, a directive of a template, or a way to hide text, where they are not escaped."""

from hypothesis import strategies as st

PIECES = (
    "<script>alert(1)</script>", "</style>", "</pre>", "<img src=x onerror=alert(1)>", "<!--", "]]>",
    '" onload="x', "'", "&amp;", "&#60;", "{{ 7 * 7 }}", "{% raw %}", "{#", "\u202e", "\u2066", "\x00", "\x1b[31m",
    "\ud800", "\r\n", "\t", "javascript:", "\u0300", "A", " ",
)  # fmt: skip


def texts() -> st.SearchStrategy[str]:
    """Return texts of some hostile pieces."""
    return st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
