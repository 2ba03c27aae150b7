"""The style sheet and the script of the class page, which loads nothing and is readable without the script.

Every text has a contrast of at least 4.5 in both themes. The meaning of each colour is also written in words.
"""

from autograder.report.html_style import DARK, LIGHT

_KINDS = {
    "light": {
        "yes": "#b9d4e6",
        "no": "#b3400a",
        "cut": "#5c1f5c",
        "open": "#ffffff",
        "kit": "#e0a800",
        "bar": "#2f6f97",
    },
    "dark": {
        "yes": "#27485c",
        "no": "#ff9a5c",
        "cut": "#d79be0",
        "open": "#17191f",
        "kit": "#ffe08a",
        "bar": "#6fb4de",
    },
}

_RULES = """\
* { box-sizing: border-box }
html { scroll-padding-top: 3.2rem }
body { margin: 0; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
main { max-width: 84rem; margin: 0 auto; padding: 0 1.2rem 4rem }
header { max-width: 84rem; margin: 0 auto; padding: 1.4rem 1.2rem .4rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .3rem; text-wrap: balance }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .3rem }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem }
p { margin: .35rem 0; max-width: 62rem }
a { color: var(--key) }
.soft, caption, figcaption, thead th { color: var(--soft) }
.note { border-left: 4px solid var(--warn); padding: .1rem .8rem }
nav { position: sticky; top: 0; z-index: 2; background: var(--paper); border-bottom: 1px solid var(--line) }
nav ul { max-width: 84rem; margin: 0 auto; padding: .5rem 1.2rem; list-style: none; display: flex; flex-wrap: wrap;
  gap: .1rem 1.4rem }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem 2.6rem; margin: .8rem 0; padding: 0 }
.tiles div { display: flex; flex-direction: column-reverse }
.tiles dt { color: var(--soft); font-size: .9rem }
.tiles dd { margin: 0; font-size: 1.45rem; line-height: 1.2; font-weight: 600 }
.wide { overflow: auto; max-height: 34rem; margin: .6rem 0; border: 1px solid var(--line); border-radius: 4px }
.wide:focus-visible, summary:focus-visible, a:focus-visible, button:focus-visible { outline: 2px solid var(--key);
  outline-offset: 1px }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 13.5px;
  font-variant-numeric: tabular-nums }
caption { text-align: left; padding: .4rem .7rem; max-width: 62rem }
caption span { white-space: nowrap }
th, td { padding: .22rem .7rem; text-align: right; vertical-align: baseline; font-weight: 400;
  border-top: 1px solid var(--line) }
thead th { position: sticky; top: 0; z-index: 1; background: var(--paper); border-top: 0; white-space: nowrap;
  border-bottom: 1px solid var(--line); vertical-align: bottom }
tbody th { font-weight: 600 }
th:first-child, .words { text-align: left }
td:not(.words) { white-space: nowrap }
td.words { min-width: 11rem; overflow-wrap: anywhere }
th.words[scope=row] { min-width: 8rem; max-width: 24rem }
th[scope=row]:not(.words) { white-space: nowrap }
#why th.words[scope=row] { min-width: 16rem }
#why td.chart, #why th.chart { width: 20%; min-width: 7rem }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer;
  text-align: inherit }
th button::after { content: " ↕"; color: var(--soft) }
th[aria-sort=ascending] button::after { content: " ↑"; color: var(--ink) }
th[aria-sort=descending] button::after { content: " ↓"; color: var(--ink) }
th[aria-sort=ascending], th[aria-sort=descending] { color: var(--ink) }
td.chart, th.chart { text-align: left; width: 45% }
td.chart { min-width: 14rem; vertical-align: middle }
details td.chart, details th.chart { width: 75% }
svg { display: block }
.strip, .bar { width: 100%; height: 15px; shape-rendering: crispEdges; border: 1px solid var(--line) }
.yes { fill: var(--yes) } .no { fill: var(--no) } .cut { fill: var(--cut) } .open { fill: var(--open) }
.kit { fill: var(--kit) }
.gaps { stroke: var(--paper); stroke-width: 1px; vector-effect: non-scaling-stroke; fill: none; pointer-events: none }
.base { stroke: var(--line) }
.columns .yes, .bar.one .yes { fill: var(--bar) }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; list-style: none; margin: .4rem 0; padding: 0;
  font-size: 13.5px }
.legend svg { display: inline-block; width: 1.1em; height: .9em; border: 1px solid var(--soft); margin-right: .4em;
  vertical-align: -1px }
details { border: 1px solid var(--line); border-radius: 4px; margin: .5rem 0; padding: 0 .8rem }
details > .wide { border: 0; margin: 0 -.8rem }
summary { cursor: pointer; padding: .45rem 0; font-weight: 600 }
summary .soft { font-weight: 400 }
details[open] > :last-child { margin-bottom: .7rem }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: .3rem 1.2rem }
figure { margin: .4rem 0; min-width: 0 }
pre, code { font: 12.5px/1.55 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace }
pre { margin: .2rem 0; padding: .45rem .7rem; background: var(--code); border-radius: 4px; overflow-x: auto;
  white-space: pre }
pre i { font-style: normal; color: var(--soft); user-select: none }
pre b { font-weight: 600 }
#point { position: fixed; z-index: 3; pointer-events: none; background: var(--ink); color: var(--paper);
  padding: .15rem .5rem; border-radius: 3px; font-size: 13px; max-width: 24rem }
@media (max-width: 40rem) {
  body { font-size: 14px } main, header, nav ul { padding-left: .8rem; padding-right: .8rem }
  caption { max-width: calc(100vw - 1.8rem) } nav { position: static } html { scroll-padding-top: 0 }
  th, td { padding: .22rem .45rem } #why th.words[scope=row] { min-width: 11rem }
  .tiles { gap: .6rem 1.6rem } .tiles dd { font-size: 1.2rem }
}
@media print {
  @page { margin: 12mm; size: landscape }
  body { font-size: 10pt } main, header { max-width: none; padding: 0 }
  nav, caption span, #point { display: none }
  .wide { overflow: visible; max-height: none; border: 0 } table { font-size: 8.5pt }
  thead th { position: static; white-space: normal } th, td { padding: .15rem .4rem }
  tr, figure, pre { break-inside: avoid } h2, h3, summary { break-after: avoid }
  th button::after { content: none !important }
  td.words, #why th.words[scope=row] { min-width: 5rem; overflow-wrap: normal }
  td.chart { min-width: 7rem }
  details::details-content { content-visibility: visible; height: auto }
  pre { white-space: pre-wrap } a { color: inherit } .legend { break-inside: avoid }
  .strip, .bar, .columns { print-color-adjust: exact }
}
"""

SCRIPT = """\
"use strict";
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const by = (row, at) => row.cells[at].dataset.by ?? row.cells[at].textContent;
  heads.forEach((head, at) => {
    if (head.classList.contains("chart")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const words = head.classList.contains("words") || at === 0;
      const [first, second] = words ? ["ascending", "descending"] : ["descending", "ascending"];
      const order = head.getAttribute("aria-sort") === first ? second : first;
      for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...body.rows].map(row => [by(row, at), row]);
      rows.sort(([a], [b]) => {
        if (a === "" || b === "") return (a === "") - (b === "");
        const gap = Number(a) - Number(b);
        return sign * (Number.isNaN(gap) ? a.localeCompare(b, undefined, { numeric: true }) : gap);
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}
const names = JSON.parse(document.getElementById("students").textContent);
const meanings = JSON.parse(document.getElementById("meanings").textContent);
const point = document.getElementById("point");
document.addEventListener("pointermove", event => {
  const strip = event.target.closest?.("svg.strip");
  point.hidden = !strip;
  if (!strip) return;
  const box = strip.getBoundingClientRect();
  const at = Math.min(names.length - 1, Math.floor((event.clientX - box.left) / box.width * names.length));
  point.textContent = `${names[at]}: ${strip.dataset.of} ${meanings[event.target.getAttribute("class")] ?? ""}`;
  point.style.top = `${Math.min(event.clientY + 14, innerHeight - 60)}px`;
  point.style.left = `${Math.max(4, Math.min(event.clientX - 40, innerWidth - 240))}px`;
});
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(part => { part.open = true; }));
"""


def style() -> str:
    """Return the style sheet."""
    themes = [
        f":root {{ color-scheme: light; {_colors(LIGHT, 'light')} }}",
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {_colors(DARK, 'dark')} }} }}",
    ]
    return "\n".join((*themes, _RULES))


def _colors(theme: dict[str, str], name: str) -> str:
    return "; ".join(f"--{key}: {color}" for key, color in (theme | _KINDS[name]).items())
