"""The style of all HTML pages: colours, cards, and their themes in JupyterLab, VS Code, Colab and the system.

Every text has a contrast of 4.5 or more on its ground, in both themes.
"""

LIGHT = {
    "ink": "#1c1e22",
    "soft": "#5a5f69",
    "paper": "#ffffff",
    "line": "#d5d8dd",
    "code": "#f0f0ec",
    "good": "#176f2c",
    "bad": "#b00020",
    "warn": "#8a5a00",
    "key": "#00606f",
    "high": "#d55e00",
    "low": "#0072b2",
    "zero": "#efefeb",
    "none": "#8a8a8a",
}
DARK = {
    "ink": "#dee0e4",
    "soft": "#9a9fa9",
    "paper": "#17191f",
    "line": "#3a3f48",
    "code": "#23272e",
    "good": "#7ccf7c",
    "bad": "#ff6b6b",
    "warn": "#e5c07b",
    "key": "#4ec9d8",
    "high": "#ff8c3a",
    "low": "#4aa8ff",
    "zero": "#252a31",
    "none": "#6b7078",
}

NAME = "course-card"

_IN_LIGHT = ('[data-jp-theme-light="true"]', ".vscode-light", 'html[theme="light"]')
_IN_DARK = ('[data-jp-theme-light="false"]', ".vscode-dark", ".vscode-high-contrast", 'html[theme="dark"]')

_RULES = """\
.X { box-sizing: border-box; max-width: 60rem; margin: 4px 0; padding: .8rem 1.2rem .9rem; color: var(--ink);
  background: var(--paper); border: 1px solid var(--line); border-left: 5px solid var(--state, var(--line));
  border-radius: 4px; font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
.X.pass { --state: var(--good) }
.X.fail { --state: var(--bad) }
.X.problem { --state: var(--warn) }
.X p { margin: .45rem 0; color: inherit }
.X .top { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 1.5rem }
.X .title { font-size: 1.15em; font-weight: 600 }
.X .state { color: var(--state, var(--soft)); margin-right: .35em }
.X .soft, .X .waiting, .X figcaption, .X caption, .X th { color: var(--soft) }
.X ul.checks { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; list-style: none; margin: .35rem 0 .7rem; padding: 0 }
.X .checks li { margin: 0; padding: 0 }
.X .checks b { font-weight: 400 }
.X .passed b { color: var(--good) }
.X .failed b { color: var(--bad) }
.X .problem b { color: var(--warn) }
.X .checks .first { font-weight: 600; color: var(--bad) }
.X figure { margin: .7rem 0; padding: 0 }
.X .place { background: var(--code); border-radius: 4px; padding: .5rem .8rem; overflow-x: auto }
.X pre, .X code { font: 13px/1.6 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; margin: 0; padding: 0;
  background: none; color: inherit; border: 0 }
.X pre { white-space: pre; word-break: normal; overflow-x: auto }
.X pre i { font-style: normal; color: var(--soft); user-select: none }
.X .agrees i { color: var(--good) }
.X .wrong { font-weight: 600 }
.X u { color: var(--bad); text-decoration: underline wavy var(--bad); text-underline-offset: 3px }
.X em { font-style: normal; font-weight: 600; color: var(--bad) }
.X .shown { display: flex; flex-wrap: wrap; gap: .6rem 2.2rem; align-items: flex-start }
.X .shown figure { margin: .3rem 0 }
.X svg { display: block; max-width: 100%; height: auto }
.X svg text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: var(--soft) }
.X .zero { fill: var(--zero) }
.X .high { fill: var(--high) }
.X .low { fill: var(--low) }
.X .none { fill: var(--none) }
.X .differs { stroke: var(--bad); stroke-width: 1.6; fill: none }
.X .wide { overflow-x: auto }
.X table { border-collapse: collapse; border: 0; margin: .4rem 0; font-size: 13px; color: inherit;
  font-variant-numeric: tabular-nums; width: auto; table-layout: auto }
.X caption { text-align: left; padding: 0; caption-side: top }
.X tr:nth-child(n), .X tr:hover { background: none }
.X thead { border: 0 }
.X th, .X td { border: 0; background: none; padding: .1rem 1.1rem .1rem 0; text-align: right; font-weight: 400;
  white-space: nowrap; vertical-align: baseline; max-width: none }
.X th[scope=row], .X .words td, .X .words th { text-align: left; color: inherit }
.X .words thead th { color: var(--soft) }
.X .tells { font-weight: 600 }
.X details { margin: .35rem 0 }
.X summary { color: var(--key); font-weight: 600; cursor: pointer }
.X .next code, .X p code { color: var(--key) }
.X .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
@media print { .X { break-inside: avoid } }
"""


def page_themes() -> str:
    """Return the colours of a page that follows the theme of the system; paper is light."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {_colors(DARK)} }} }}"
    return f":root {{ color-scheme: light; {_colors(LIGHT)} }}\n{dark}"


def style() -> str:
    """Return the style sheet of the cards; it changes nothing outside them."""
    themes = [
        f".X {{ color-scheme: light; {_colors(LIGHT)} }}",
        f"@media (prefers-color-scheme: dark) {{ .X {{ color-scheme: dark; {_colors(DARK)} }} }}",
        f"{', '.join(f'{theme} .X' for theme in _IN_LIGHT)} {{ color-scheme: light; {_colors(LIGHT)} }}",
        f"{', '.join(f'{theme} .X' for theme in _IN_DARK)} {{ color-scheme: dark; {_colors(DARK)} }}",
        f"@media print {{ .X.X.X.X {{ color-scheme: light; {_colors(LIGHT)} }} }}",
    ]
    strong = _RULES.replace(".X", f".{NAME}.{NAME}.{NAME}")  # stronger than the rules of the host for tables and code
    return "\n".join(themes).replace(".X", f".{NAME}") + f"\n{strong}"


def _colors(theme: dict[str, str]) -> str:
    return "; ".join(f"--{name}: {color}" for name, color in theme.items())
