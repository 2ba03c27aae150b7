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
