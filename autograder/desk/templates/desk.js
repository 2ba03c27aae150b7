"use strict";
// The filters work without this script: then the button sends them.
const filters = document.getElementById("filters");
let newest = 0;

async function show(address, keep) {
  const number = ++newest;
  const answer = await fetch(address, { credentials: "same-origin" });
  const text = await answer.text();
  if (number !== newest) return;
  const page = new DOMParser().parseFromString(text, "text/html");
  if (!answer.ok || !page.getElementById("results")) return location.assign(address);
  for (const id of ["count", "results"]) {
    document.getElementById(id).replaceChildren(...page.getElementById(id).childNodes);
  }
  if (keep) history[keep](null, "", address);
}

if (filters) {
  const address = () => {
    const wanted = new URLSearchParams(new FormData(filters));
    for (const [name, value] of [...wanted]) if (!value) wanted.delete(name);
    return wanted.size ? `/?${wanted}` : "/";
  };
  filters.addEventListener("input", event => show(address(), event.target.type === "search" ? "replaceState" : "pushState"));
  filters.addEventListener("submit", async event => {
    event.preventDefault();
    await show(address(), "replaceState");
    document.querySelector("a.row")?.focus();
  });
  addEventListener("popstate", () => location.reload());
}

for (const code of document.querySelectorAll(".file pre")) {
  const wrong = code.querySelector(".wrong");
  if (wrong) code.scrollTop = wrong.offsetTop - code.offsetTop - code.clientHeight / 3;
}

// A question is answered where the words that begin its answer end.
function answer() {
  const reason = document.querySelector("textarea");
  if (!reason?.value || location.hash !== "#decide-head") return;
  reason.focus();
  reason.setSelectionRange(reason.value.length, reason.value.length);
}
addEventListener("hashchange", answer);
answer();

// What a decision needs as its value stands in the field as an example; some need none.
const kind = document.querySelector("select[name=kind]");
function fit() {
  const value = document.querySelector("input[name=value]"), { example } = kind.selectedOptions[0].dataset;
  value.placeholder = example || "none";
  value.disabled = !example;
}
kind?.addEventListener("input", fit);
if (kind) fit();

function step(by) {
  const rows = [...document.querySelectorAll("a.row")];
  if (rows.length) {
    const at = rows.indexOf(document.activeElement);
    rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)].focus();
  } else document.querySelector(`a[rel=${by > 0 ? "next" : "prev"}]`)?.click();
}

const keys = {
  j: () => step(1),
  k: () => step(-1),
  "/": () => document.querySelector("input[type=search]")?.select(),
  e: () => document.getElementById("first")?.focus(),
  "?": () => document.getElementById("keys").showModal(),
};

addEventListener("keydown", event => {
  const place = event.target;
  if (event.key === "Escape" && place.matches?.("input, select, textarea")) place.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || place.closest?.("input, select, textarea, dialog")) return;
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});

// A form is sent once, however often its button is pressed; the desk counts it once too.
addEventListener("submit", event => {
  if (event.target.method !== "post") return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});
// What was typed and is not saved is lost on another page, so the browser asks. A refused form is typed already.
addEventListener("beforeunload", event => {
  const forms = [...document.querySelectorAll("form[method=post]")], fields = "textarea, input:not([type=hidden])";
  const refused = document.querySelector("[role=alert]") && !forms.some(form => form.dataset.sent);
  const isTyped = form => [...form.querySelectorAll(fields)].some(field => field.value !== field.defaultValue);
  if (!refused && !forms.some(form => !form.dataset.sent && isTyped(form))) return;
  event.preventDefault();
  for (const form of forms) delete form.dataset.sent;
});
addEventListener("pageshow", () => { for (const form of document.forms) delete form.dataset.sent; });
