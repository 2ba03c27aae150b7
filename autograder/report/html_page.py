"""The frame of every HTML page: one file, for a phone and a wide window, without any network."""

POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'"
"""A page may load nothing and send nothing, whatever is in it."""

OWN_STYLE = "style-src 'unsafe-inline'"
"""A page without a script may use the style that it contains, and that of its pictures."""


def whole_page(title: str, style: str, body: str, allowed: str = OWN_STYLE) -> str:
    """Return a page of these parts, which are safe HTML already; `allowed` is what its policy lets in."""
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}; {allowed}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
