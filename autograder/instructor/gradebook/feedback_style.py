"""The style of a feedback page: for a phone, a wide window, a dark theme, and paper."""

from autograder.report.html_style import NAME, page_themes, style

_CARD = f".{NAME}.{NAME}.{NAME}"
_ROWS = f"{_CARD}.rows"

STYLE = f"""\
{page_themes()}
body {{ color: var(--ink); background: var(--paper); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif;
  margin: 0 auto; max-width: 60rem; padding: 1.2rem 1rem 2rem; overflow-wrap: anywhere }}
h1 {{ font-size: 1.6rem; line-height: 1.2; margin: 0 }}
h2 {{ font-size: 1.2rem; margin: 2rem 0 .5rem }}
p {{ margin: .4rem 0 }}
a {{ color: var(--key) }}
header p {{ color: var(--soft); margin: 0 }}
.total {{ font-size: 1.35rem; font-weight: 600; margin: .8rem 0 .3rem }}
.begin {{ border: 1px solid var(--line); border-left: 5px solid var(--key); border-radius: 4px;
  padding: .1rem 1.2rem .7rem; margin-top: 1.5rem }}
.begin h2 {{ margin-top: .6rem }}
.begin ul {{ margin: .4rem 0; padding-left: 1.2rem }}
.begin code {{ color: var(--key) }}
code {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .93em }}
section.exercise {{ margin: 1.2rem 0 1.6rem }}
.more {{ margin-left: 1.2rem }}
.more h3 {{ font-size: 1em; margin: .9rem 0 .3rem }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .4rem 0 }}
dt {{ color: var(--soft) }}
dd {{ margin: 0 }}
footer {{ border-top: 1px solid var(--line); color: var(--soft); margin-top: 2rem; padding-top: .6rem }}
{style()}
{_ROWS} {{ border: 0; background: none; padding: 0; margin: .4rem 0; max-width: none }}
{_ROWS} tbody tr {{ border-top: 1px solid var(--line) }}
{_ROWS} :is(th, td) {{ padding: .2rem 1.1rem .2rem 0 }}
{_ROWS} th[scope=row] {{ white-space: normal }}
details{_ROWS} {{ margin-left: 1.3rem }}
{_CARD} pre > span {{ display: block; padding-left: 7ch; text-indent: -7ch }}
@media (max-width: 40rem) {{
  dl {{ display: block }}
  dd {{ margin: 0 0 .4rem }}
  .more, details{_ROWS} {{ margin-left: 0 }}
  {_CARD}:not(.rows) {{ padding-left: .8rem; padding-right: .8rem }}
  {_CARD} pre {{ white-space: pre-wrap }}
  {_CARD}:not(.rows) .words td {{ white-space: normal }}
  {_ROWS} :is(th, td) {{ padding-right: .6rem }}
  {_ROWS} :is(th, td):last-child {{ padding-right: 0 }}
}}
@media print {{
  @page {{ margin: 1.5cm }}
  body {{ max-width: none; padding: 0; font-size: 10pt }}
  h2, h3, summary {{ break-after: avoid }}
  tr, figure, .begin {{ break-inside: avoid }}
  {_ROWS} {{ break-inside: auto }}
  summary {{ list-style: none }}
  details::details-content {{ content-visibility: visible; display: block; height: auto }}
  {_CARD} pre {{ white-space: pre-wrap; overflow-wrap: anywhere; overflow: visible }}
  {_CARD} :is(.wide, .place) {{ overflow: visible }}
}}"""
