"""`course play serve`: several texts in one batch, their blocks, the page, and who may ask it."""

import contextlib
import http.client
import io
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from starlette.testclient import TestClient

from autograder.cli import HOST, MOST_FORM, Access, LocalServer, listen
from autograder.cli.local_page import CONFINED
from autograder.course import UsageError
from autograder.play.stage import Checkpoint
from play import serve
from play.batch import CHARACTERS, Batch, Writing, check_batch
from play.chatter import Chatter, learn_tokenizer
from play.demo import Teller
from play.serve_page import access_at, application
from play.text import read_tales
from tests.support import tiny
from tests.support.accessibility import faults
from tests.support.browser import Browser
from tests.support.play_programs import COURSE, PROGRAM, SOLUTIONS, played, solved, standing_on, trained_chat, wrong

PAGES = "ex32_pages"
ACCEPTED = sorted((COURSE.solutions_dir / "accepted" / PAGES).glob("*.py"))
SAMPLING: Mapping[str, Any] = {"temperature": 0.8, "top_p": 0.95}
OPTIONS = {
    "port": 0, "browser": False, "chats": 2, "blocks": 64, "block-size": 8, "length": 120, "temperature": 0.8,
    "top-p": 0.95,
}  # fmt: skip
PROMPTS = ("Once upon a time there was a tailor", "Mira", "The river rose. " * 3)
PHONE, LAPTOP = 390, 1280


def chatter_on(stage: Any, **others: Any) -> Chatter:
    """Return an untrained model with a tokenizer."""
    vocab, merges = learn_tokenizer(stage, read_tales(20_000).training[:5_000], 300)
    arguments = {
        "vocab_size": len(vocab), "context_length": 64, "d_model": 32, "num_layers": 2, "num_heads": 4, "d_ff": 48,
        "num_kv_heads": 2, "window": None, "tie_weights": True,
    }  # fmt: skip
    return Chatter(stage, vocab, merges, {**arguments, **others})


def batch_of(stage: Any, chatter: Chatter, **sizes: int) -> Batch:
    return Batch(stage, chatter, **{"blocks": 32, "block_size": 4, "most": 3, "length": 12, **sizes}, **SAMPLING)


def texts_for(prompts: tuple[str, ...], on_change: Callable[[Writing], None] = lambda _: None) -> list[Writing]:
    return [Writing(at, prompt, at, on_change) for at, prompt in enumerate(prompts)]


def alone(chatter: Chatter, text: Writing, length: int = 12) -> str:
    """Return what `course play chat` would write."""
    return chatter.continued(text.prompt, length, seed=text.seed, **SAMPLING)


def run(batch: Batch) -> None:
    batch.run(threading.Event(), until_done=True)


def assert_all_is_free(batch: Batch) -> None:
    assert batch.usage.used == batch.usage.page_bytes == 0
    for pages in batch.layers:
        assert pages.pool.num_free == pages.pool.num_blocks
        assert pages.tables == pages.lengths == {}


# The batch.


@pytest.mark.parametrize("window", [None, 5])
@pytest.mark.parametrize("pages", [None, *ACCEPTED], ids=lambda file: file.stem if file else "solution")
def test_texts_at_once_are_those_of_each_alone(window: int | None, pages: Path | None) -> None:
    sources = {**SOLUTIONS, f"{PAGES}.py": pages.read_bytes()} if pages else SOLUTIONS
    with standing_on(sources, {}) as stage:
        chatter = chatter_on(stage, window=window)
        check_batch(stage, chatter)
        assert stage == ["Texts of different lengths in one batch have the logits of each alone."]
        batch, texts = batch_of(stage, chatter), texts_for(PROMPTS)
        batch.add(texts)
        run(batch)
        assert [text.text for text in texts] == [alone(chatter, text) for text in texts]
        assert all(text.has_ended and not text.problem for text in texts)
        assert batch.speeds[3][0] > 0
        assert_all_is_free(batch)


def test_a_text_that_arrives_later_joins_and_none_changes() -> None:
    with standing_on(SOLUTIONS, {}) as stage:
        chatter = chatter_on(stage)
        later = Writing(1, PROMPTS[0], 1, lambda _: None)
        batch = batch_of(stage, chatter)
        first = Writing(0, PROMPTS[2], 0, lambda text: batch.add([later]) if text.new == 4 else None)
        batch.add([first])
        run(batch)
        assert [first.text, later.text] == [alone(chatter, first), alone(chatter, later)]
        assert {1, 2} <= set(batch.speeds)
        assert_all_is_free(batch)


def test_a_text_waits_until_the_pool_has_room_for_all_of_it() -> None:
    with standing_on(SOLUTIONS, {}) as stage:
        chatter = chatter_on(stage)
        batch, texts = batch_of(stage, chatter, blocks=12), texts_for((PROMPTS[0], PROMPTS[0], "Mira"))
        batch.add(texts)
        run(batch)
        assert set(batch.speeds) <= {1, 2}
        assert [text.text for text in texts] == [alone(chatter, text) for text in texts]
        assert_all_is_free(batch)


def test_texts_with_one_beginning_share_its_blocks_until_they_part() -> None:
    with standing_on(SOLUTIONS, {}) as stage:
        chatter = chatter_on(stage)
        usages = []
        batch = batch_of(stage, chatter, block_size=5)
        texts = texts_for((PROMPTS[0],) * 3, lambda _: usages.append(batch.usage))
        batch.add(texts)
        run(batch)
        given = texts[0].given
        assert given % 5, "the last block is shared too, until one writes in it"
        assert usages[0].used == -(-given // 5)
        assert usages[0].saved == 2 * usages[0].used
        assert min(usage.saved for usage in usages if len(usage.tables) == 3) == 2 * (given // 5)
        assert [text.text for text in texts] == [alone(chatter, text) for text in texts]
        assert_all_is_free(batch)


def test_the_memory_is_that_of_the_pages() -> None:
    with standing_on(SOLUTIONS, {}) as stage:
        chatter = chatter_on(stage)
        batch = batch_of(stage, chatter)
        usages = []
        batch.add(texts_for((PROMPTS[0], "Mira"), lambda _: usages.append(batch.usage)))
        run(batch)
        token = 2 * 2 * 2 * 8 * 4  # layers, K and V, heads, K, bytes
        assert usages[0].page_bytes == usages[0].used * 4 * token
        assert usages[0].contiguous_bytes == 2 * 64 * token
        assert usages[0].tokens <= usages[0].used * 4 < usages[0].tokens + 2 * 4
        assert batch.peak.used == max(usage.used for usage in [*usages, batch.peak])


def test_a_cancelled_text_frees_its_blocks_and_the_others_go_on() -> None:
    with standing_on(SOLUTIONS, {}) as stage:
        chatter = chatter_on(stage)
        batch = batch_of(stage, chatter)
        used = []

        def on_change(text: Writing) -> None:
            if text.chat == 0 and text.new == 3:
                batch.cancel(text)
            if text.chat == 0 and text.has_ended:
                used.append((text.name in batch.layers[0].tables, batch.pool.num_blocks - batch.pool.num_free))

        texts = texts_for((PROMPTS[2], PROMPTS[0]), on_change)
        batch.add(texts)
        run(batch)
        assert texts[0].new == 3
        [(is_kept, left)] = used
        assert not is_kept
        assert left == -(-(texts[1].given + 2) // 4), "the other one has its blocks, and the last token is not in them"
        assert texts[1].text == alone(chatter, texts[1])
        assert_all_is_free(batch)


def test_a_text_that_is_too_long_is_refused_in_a_sentence_and_takes_nothing() -> None:
    with standing_on(SOLUTIONS, {}) as stage:
        chatter = chatter_on(stage)
        batch = batch_of(stage, chatter)
        texts = texts_for(("word " * 40, "x" * (CHARACTERS * 64 + 1), "Mira"))
        batch.add(texts)
        run(batch)
        assert "tokens. With 12 new ones, at most 53 fit. Shorten it." in texts[0].problem
        assert texts[1].problem == "The text has 257 characters, expected at most 256. Shorten it."
        assert texts[2].text == alone(chatter, texts[2])
        assert_all_is_free(batch)


def test_a_prompt_that_is_no_unicode_is_written_on() -> None:
    with standing_on(SOLUTIONS, {}) as stage:
        chatter = chatter_on(stage)
        batch = batch_of(stage, chatter)
        texts = texts_for(("\ud800", "?", "naïve — “quoted” 🦙", ""))
        batch.add(texts)
        run(batch)
        assert texts[0].ids[: texts[0].given] == texts[1].ids[: texts[1].given]
        assert all(text.has_ended and not text.problem and text.new for text in texts)
        assert_all_is_free(batch)


def test_a_batch_stops_in_the_middle() -> None:
    with standing_on(SOLUTIONS, {}) as stage:
        stop = threading.Event()
        batch = batch_of(stage, chatter_on(stage))
        [text] = texts_for(("Mira",), lambda text: stop.set() if text.new == 2 else None)
        batch.add([text])
        batch.run(stop)
        assert text.new == 2
        assert text.has_ended, "its reader goes on"
        assert_all_is_free(batch)


@pytest.mark.long
@pytest.mark.parametrize(
    "misconception", ["pages-gather-sorted", "pages-append-from-row-zero", "pages-append-copy-empty"]
)
def test_pages_that_change_a_text_are_found_before_it_is_written(misconception: str) -> None:
    with standing_on(wrong(misconception), {}) as stage:
        stage.anyway = True
        check_batch(stage, chatter_on(stage))
        [(exercise, message)] = stage.faults
        assert exercise == PAGES
        assert message.startswith("texts in one batch have logits that differ from those of each alone by ")


# Who may ask the page.

ORIGIN = f"http://{HOST}:8000"


@pytest.fixture
def waiting() -> tuple[TestClient, Batch, Access]:
    """A browser that opened the page of a batch that does not run."""
    with standing_on(SOLUTIONS, {}) as stage:
        batch = batch_of(stage, chatter_on(stage))
    access = access_at(f"{HOST}:8000")
    app = application(batch, access, ["32 pages fails: <b>wrong</b>"], chats=2, seed=1)
    client = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    assert client.get(f"/?token={access.ticket()}").status_code == 200
    return client, batch, access


def test_only_a_browser_with_the_address_reaches_the_page(waiting: tuple[TestClient, Batch, Access]) -> None:
    client, batch, access = waiting
    for path in ("/", "/chats.css", "/chats.js", "/figures", "/nowhere"):
        answer = client.get(path)
        assert {name: answer.headers.get(name) for name in CONFINED} == CONFINED
        assert "http://" not in answer.text
    assert "<script>" not in client.get("/").text
    assert "&lt;b&gt;wrong" in client.get("/").text
    assert client.get("/nowhere").status_code == 404
    assert client.get("/figures", headers={"Host": "evil.example"}).status_code == 421
    assert client.get("/figures", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    asked = {"chats": [0], "prompt": "Mira"}
    for origin in ("https://evil.example", "null", f"http://{HOST}:8001"):
        assert client.post("/write", json=asked, headers={"Origin": origin}).status_code == 403
        assert client.post("/stop", json=asked, headers={"Origin": origin}).status_code == 403
    assert client.post("/write", json=asked).status_code == 403
    client.cookies.clear()
    for path in ("/", "/figures", "/?token=wrong", f"/?token={access.session}"):
        assert client.get(path).status_code == 403
    assert client.post("/write", json=asked, headers={"Origin": ORIGIN}).status_code == 403
    assert not batch._arrived


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"\xff", 409, "The request is no object of JSON."),
        (b"[" * 60_000, 409, "The request is no object of JSON."),
        (b'{"chats": [0]}', 409, "The request has no prompt, expected a text."),
        (b'{"chats": [0], "prompt": 5}', 409, "The request has no prompt, expected a text."),
        *(
            (f'{{"chats": {chats}, "prompt": ""}}'.encode(), 409, "expected a list of numbers from 0 to 1.")
            for chats in ("[]", "[2]", "[-1]", "[true]", "[0.0]", "7", '["0"]', "[[]]", "null")
        ),
        (b"x" * (MOST_FORM + 1), 413, f"at most {MOST_FORM:,} bytes are read"),
    ],
)
def test_a_request_that_cannot_be_read_is_a_sentence(
    waiting: tuple[TestClient, Batch, Access], body: bytes, status: int, sentence: str
) -> None:
    client, batch, _ = waiting
    answer = client.post("/write", content=body, headers={"Origin": ORIGIN})
    assert answer.status_code == status
    assert sentence in answer.text
    assert not batch._arrived


# The real server.


class Asker:
    """A browser without a window: it keeps the cookie of the page."""

    def __init__(self, address: str) -> None:
        self.host = re.match(r"http://([^/]+)/", address)[1]
        answer = self.ask("GET", address[address.index("/?") :])
        self.cookie = answer.getheader("Set-Cookie").partition(";")[0]
        answer.read()

    def ask(self, method: str, path: str, fields: object = None, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.host, timeout=120)
        more = {"Cookie": self.cookie, "Origin": f"http://{self.host}"} if hasattr(self, "cookie") else {}
        connection.request(method, path, json.dumps(fields) if fields else None, {**more, **headers})
        return connection.getresponse()

    def write(self, chats: list[int], prompt: str) -> http.client.HTTPResponse:
        answer = self.ask("POST", "/write", {"chats": chats, "prompt": prompt})
        assert answer.status == 200, answer.read()
        return answer

    def figures(self) -> dict[str, Any]:
        return dict(json.loads(self.ask("GET", "/figures").read()))

    def wait(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until the figures are so, and return them."""
        until = time.monotonic() + 120
        while not is_so(found := self.figures()):
            assert time.monotonic() < until, found
            time.sleep(0.02)
        return found


def last_of(answer: http.client.HTTPResponse) -> dict[int, dict[str, Any]]:
    """Return the last event of each chat."""
    return {event["chat"]: event for event in map(json.loads, answer.read().splitlines())}


def test_a_reader_who_goes_away_cancels_its_texts() -> None:
    with standing_on(SOLUTIONS, {}) as stage:
        batch = batch_of(stage, chatter_on(stage))
    with listen(0) as listener:
        access = access_at(f"{HOST}:{listener.getsockname()[1]}")
        with LocalServer(application(batch, access, [], chats=2, seed=1), listener):
            asker = Asker(access.address(access.secret))
            answer = asker.write([0, 1], "Mira")
            [first, second] = batch._arrived
            busy = asker.ask("POST", "/write", {"chats": [1], "prompt": ""})
            assert (busy.status, busy.read()) == (409, b"Chat 2 is writing already. Stop it first.\n")
            assert asker.ask("POST", "/stop", {"chats": [1]}).status == 204
            assert (first.is_cancelled, second.is_cancelled) == (False, True)
            first.text = "x"
            first.on_change(first)
            assert json.loads(answer.readline())["text"] == "x"
            answer.close()
            until = time.monotonic() + 60
            while not first.is_cancelled:
                assert time.monotonic() < until
                time.sleep(0.02)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose exercises are all solved, with a model that `chat` has trained."""
    root = solved(tmp_path_factory.mktemp("serve"))
    trained_chat(root)
    return root


@contextlib.contextmanager
def served(root: Path, **options: object) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Start the activity as `course play serve` does, and yield it with the lines up to its address."""
    request = {
        "root": str(root), "activity": "serve", "device": "cpu", "seed": 1, "steps": None, "say": [], "fresh": False,
        "anyway": False, "json": None, "submission": None, "plain": True, "color": None, "wrong": [],
        "options": {**OPTIONS, **options},
    }  # fmt: skip
    command = [sys.executable, "-P", str(PROGRAM), json.dumps(request)]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=root, env=tiny.environment({}), **pipes) as running:
        try:
            yield running, [running.stdout.readline() for _ in range(3)]
        finally:
            running.kill()


@pytest.mark.worker
def test_the_program_writes_texts_at_once_frees_what_nobody_reads_and_ends_at_ctrl_c(root: Path) -> None:
    with served(root, temperature=0.0) as (running, lines):
        assert lines[1] == "The page of your chats. Its address, for you alone; Ctrl-C ends it:\n"
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}\n", lines[2])
        asker = Asker(lines[2].strip())
        prompts = ["Mira and the blue lamp", "Once upon a time"]
        alone = [last_of(asker.write([chat], prompt))[chat]["text"] for chat, prompt in enumerate(prompts)]
        both = [asker.write([chat], prompt) for chat, prompt in enumerate(prompts)]
        assert [last_of(answer)[chat]["text"] for chat, answer in enumerate(both)] == alone
        assert len(set(alone)) == 2
        asker.wait(lambda found: found["used"] == 0)
        long = last_of(asker.write([0, 1], "word " * 200))
        assert [event["problem"] for event in long.values()] == [
            "The text has 602 tokens. With 120 new ones, at most 137 fit. Shorten it."
        ] * 2
        for _ in range(3):
            gone = asker.write([0, 1], "Once upon a time")
            gone.readline()
            gone.close()
            found = asker.wait(lambda found: found["used"] == 0)
            assert found["tables"] == {}
        open_to_the_end = asker.write([0, 1], "Once upon a time")
        open_to_the_end.readline()
        running.send_signal(signal.SIGINT)
        assert all(event["end"] for event in last_of(open_to_the_end).values())
        rest, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert re.search(
        r"^Tokens a second: [\d,]+ with 1 text at once, [\d,]+ with 2 texts at once\.$", rest, re.MULTILINE
    )
    assert re.search(r"^At most \d+ of 64 blocks were in use: [\d,]+ bytes of keys and values\.", rest, re.MULTILINE)
    assert "Your code printed" not in rest, "the server has no log, and no code of the student prints"
    assert errors == "\ncourse: stopping after this step; press Ctrl-C again to stop at once\n"


@pytest.mark.worker
def test_without_a_page_it_writes_what_the_model_writes_alone(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    say = ["Mira and the blue lamp", "Once upon a time", "word " * 200]
    done = played(
        root, "serve", steps=None, options={**OPTIONS, "length": 20, "temperature": 0.0}, say=say, json=str(file)
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "The text has 602 tokens. With 20 new ones, at most 237 fit. Shorten it." in done.stdout
    figures = json.loads(file.read_text("utf-8"))["figures"]
    assert set(figures["speeds"]) == {"1", "2"} or set(figures["speeds"]) == {"2"}
    assert figures["bytes"] < figures["contiguous_bytes"]
    with standing_on(SOLUTIONS, {}) as stage:
        teller = Teller(stage, ())
        for prompt in say[:2]:
            assert (prompt + teller.continued(prompt, 20, seed=1)).rstrip() in done.stdout


def test_what_keeps_it_from_beginning_is_a_sentence(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sentence(
        file: str = "chat.pt", made_by: Mapping[str, str] | None = None, stdout: object = None, **options: object
    ) -> str:
        kept = Checkpoint(root / ".course" / "play" / file, made_by or {})
        with standing_on(SOLUTIONS, {**OPTIONS, **options}) as stage:
            stage.say, stage.stdout, stage.checkpoint_of = [], stdout, lambda _: kept
            with pytest.raises(UsageError) as raised:
                serve.play(stage)
        return str(raised.value)

    assert sentence(chats=9) == "--chats is 9, expected at most 8"
    assert sentence(blocks=0) == "--blocks is 0, expected 1 or more"
    assert sentence(blocks=2) == "the pool has 16 tokens, expected at least --length 120"
    assert "so no address either; write --json FILE" in sentence(stdout=io.StringIO())
    assert sentence("none.pt") == "no model is trained yet; run `course play chat` first"
    assert "changed since; run `course play chat --fresh` first" in sentence(made_by={"ex32_pages.py": "1"})
    monkeypatch.setattr(serve, "find_spec", lambda _: None)
    found = sentence()
    assert "install them with `pip install starlette uvicorn`, or the extra `desk` of this kit" in found


@pytest.mark.worker
def test_a_port_in_use_is_a_sentence(root: Path) -> None:
    with listen(0) as listener:
        port = listener.getsockname()[1]
        done = played(root, "serve", steps=None, options={**OPTIONS, "port": port})
    assert done.returncode == 2
    assert f"port {port} cannot be used" in done.stderr


# The page in a browser.


@contextlib.contextmanager
def page_of(stage: Any, **sizes: int) -> Iterator[Access]:
    """Serve the page of a batch that runs, until the block ends."""
    batch, stop = batch_of(stage, chatter_on(stage), **sizes), threading.Event()
    running = threading.Thread(target=batch.run, args=(stop,))
    with listen(0) as listener:
        access = access_at(f"{HOST}:{listener.getsockname()[1]}")
        with LocalServer(application(batch, access, ["32 pages fails: no"], chats=3, seed=1), listener):
            running.start()
            try:
                yield access
            finally:
                stop.set()
                running.join()


ENDED = "[...document.querySelectorAll('[role=status]')].filter(one => one.textContent.endsWith(' tokens')).length"


def test_chats_are_written_by_keys_alone(chromium: Browser) -> None:
    with standing_on(SOLUTIONS, {}) as stage, page_of(stage) as access:
        chromium.open(access.address(access.secret), width=LAPTOP)
        chromium.wait("document.querySelectorAll('article').length === 3")
        assert chromium.value("location.search") == ""
        chromium.value("document.querySelectorAll('article input')[1].focus(); 0")
        chromium.call("Input.insertText", text="<b>Mira</b>")
        chromium.press("Enter")
        chromium.wait(f"{ENDED} === 1")
        assert chromium.value("document.querySelectorAll('.text')[1].textContent").startswith("<b>Mira</b>")
        chromium.value("document.getElementById('all').focus(); 0")
        chromium.call("Input.insertText", text="The river rose.")
        chromium.press("Enter")
        chromium.wait(f"{ENDED} === 3")
        assert chromium.value("document.querySelectorAll('.text strong')[2].textContent") == "The river rose."
        chromium.wait("document.getElementById('speeds').textContent.includes('with 1, ')")
        chromium.wait("document.getElementById('blocks').textContent === '0 of 32'")
        chromium.value("document.getElementById('all').value = 'word '.repeat(40); 0")
        chromium.press("Enter")
        chromium.wait("document.querySelectorAll('[role=status].problem').length === 3")
        assert "Shorten it." in chromium.value("document.querySelector('[role=status]').textContent")
        assert chromium.said == []
        assert all(address.startswith(f"http://{access.host}") for address in chromium.requests)
    chromium.value("document.querySelector('article form').requestSubmit(); 0")
    chromium.wait("document.querySelector('[role=status]').textContent.includes('Start `course play serve` again.')")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_everybody_can_read_and_reach_all_of_it(chromium: Browser, axe: str, width: int, dark: bool) -> None:
    with standing_on(SOLUTIONS, {}) as stage, page_of(stage) as access:
        chromium.open(access.address(access.secret), width=width, dark=dark)
        chromium.wait("document.querySelectorAll('article').length === 3")
        chromium.value("document.getElementById('together').requestSubmit(); 0")
        chromium.wait(
            "[...document.querySelectorAll('[role=status]')].every(one => one.textContent.endsWith('tokens'))"
        )
        assert chromium.value("document.documentElement.scrollWidth") == width
        chromium.call("Page.setBypassCSP", enabled=True)
        assert faults(chromium, axe) == []
        chromium.call("Page.setBypassCSP", enabled=False)
        ground = chromium.value("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(23, 25, 31)" if dark else "rgb(255, 255, 255)")
