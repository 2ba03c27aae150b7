"use strict";
const find = id => document.getElementById(id);
const chats = [];
let running = 0;

for (let number = 0; number < Number(document.querySelector("main").dataset.chats); number++) {
  const article = find("chat").content.cloneNode(true).querySelector("article");
  const [write, stop] = article.querySelectorAll("button");
  const chat = {
    form: article.querySelector("form"), input: article.querySelector("input"), write, stop,
    status: article.querySelector("[role=status]"), text: article.querySelector(".text"), prompt: "",
  };
  article.querySelector("h2").textContent = `Chat ${number + 1}`;
  chat.text.setAttribute("aria-label", `Text of chat ${number + 1}`);
  chat.form.addEventListener("submit", event => {
    event.preventDefault();
    begin([number], chat.input.value);
  });
  stop.addEventListener("click", () => send("/stop", { chats: [number] }));
  find("chats").append(article);
  chats.push(chat);
}
find("together").addEventListener("submit", event => {
  event.preventDefault();
  begin(chats.map((_, number) => number), find("all").value);
});

function send(path, fields) {
  return fetch(path, { method: "POST", body: JSON.stringify(fields) });
}

// Write a text in some chats, and show it as it comes: a line of JSON for each token.
async function begin(numbers, prompt) {
  if (numbers.some(number => chats[number].write.disabled)) return;
  for (const number of numbers) start(chats[number], prompt);
  let problem = "The program has ended, or this page was closed. Start `course play serve` again.";
  try {
    const answer = await send("/write", { chats: numbers, prompt });
    if (!answer.ok) problem = await answer.text();
    else await read(answer.body.getReader());
  } catch {
    // The connection is lost: the sentence above says what to do.
  }
  for (const number of numbers) {
    if (chats[number].write.disabled) finish(chats[number], problem);
  }
}

async function read(reader) {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) show(JSON.parse(line));
  }
}

function start(chat, prompt) {
  Object.assign(chat, { prompt });
  chat.write.disabled = true;
  chat.stop.disabled = false;
  chat.status.className = "soft";
  chat.status.textContent = "waits for blocks";
  chat.text.replaceChildren();
  if (!running++) watch();
}

function show({ chat: number, text, tokens, problem, end }) {
  const chat = chats[number];
  if (tokens) {
    const beginning = document.createElement("strong");
    beginning.textContent = chat.prompt;
    chat.text.replaceChildren(beginning, text);
    chat.text.scrollTop = chat.text.scrollHeight;
    chat.status.textContent = "writes";
  }
  if (end) finish(chat, problem, `${tokens} tokens`);
}

function finish(chat, problem, words) {
  chat.write.disabled = false;
  chat.stop.disabled = true;
  chat.status.className = problem ? "problem" : "soft";
  chat.status.textContent = problem || words;
  running--;
}

const count = number => Math.round(number).toLocaleString("en");

// Ask for the figures while something is written, and once more at the end.
async function watch() {
  for (;;) {
    const last = !running;
    try {
      figures(await (await fetch("/figures")).json());
    } catch {
      return;
    }
    if (last) return;
    await new Promise(done => setTimeout(done, 250));
  }
}

function figures(found) {
  const running = Object.keys(found.tables).length;
  const texts = running === 1 ? "1 text" : `${running} texts`;
  find("speed").textContent = found.speed ? count(found.speed) : "–";
  const speeds = Object.entries(found.speeds).map(([chats, speed]) => `${count(speed)} with ${chats}`);
  if (speeds.length) find("speeds").textContent = `so far: ${speeds.join(", ")} at once`;
  find("blocks").textContent = `${found.used} of ${found.blocks}`;
  find("shared").textContent = found.saved
    ? `${found.saved} more if none were shared` : `of ${found.rows} tokens each; at most ${found.peak} so far`;
  find("bytes").textContent = count(found.bytes);
  find("filled").textContent = `bytes, for ${found.tokens} tokens`;
  find("contiguous").textContent = count(found.contiguous);
  find("each").textContent = `bytes, for ${texts} of up to ${found.context} tokens`;
  draw(found);
}

function draw({ blocks, tables, used }) {
  const users = Array.from({ length: blocks }, () => []);
  for (const [chat, table] of Object.entries(tables)) for (const block of table) users[block].push(Number(chat) + 1);
  find("pool").replaceChildren(...users.map(names => {
    const square = document.createElement("span");
    square.className = names.length > 1 ? "used shared" : names.length ? "used" : "";
    square.textContent = names.length > 3 ? `${names.length}×` : names.join("");
    return square;
  }));
  find("pool").setAttribute("aria-label", `The pool: ${used} of ${blocks} blocks are in use`);
}
fetch("/figures").then(answer => answer.json()).then(figures);
