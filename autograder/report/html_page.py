"""The frame of every page that is one HTML file: for a phone and a wide window, and closed to any network."""

POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'"
"""What a browser lets a page do, whatever is in it: load nothing, and send nothing."""

OWN_STYLE = "style-src 'unsafe-inline'"
"""A page without a script takes the style that stands in it, and in its pictures."""


def whole_page(title: str, style: str, body: str, allowed: str = OWN_STYLE) -> str:
    """Return the page made of these parts, which are safe HTML already.

    `allowed` is what its policy lets in.
    """
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
