"""Several texts at once: the student's blocks compute one batch, their pages hold the keys, and their `serve` decides.

`serve` of ex32 takes all requests and returns at their end. Here texts arrive and are cancelled at any time. So a call
of it ends early whenever something has changed: the model says that every text has ended, and the pages ignore the
release. The next call goes on with all of them, and their keys are still there.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

import torch
from torch import Tensor

from autograder.play import Stage
from play.chatter import Chatter

RECENT_SECONDS = 2.0
"""The speed of now is that of so much time."""

IDLE_SECONDS = 0.1
"""How often a batch without a text looks whether it should stop."""

CHARACTERS = 4
"""The longest prompt has so many characters for each token of the context: a tokenizer may be slow on more."""

SAME = 1e-3
"""Two logits that differ by more are different: rounding stays below."""


@dataclass(eq=False)
class Writing:
    """A text that is being written for a chat: its prompt, and what there is so far.

    `on_change` is called after every new token, and once when it has ended: then its blocks are free again. `problem`
    says why it could not begin.
    """

    chat: int
    prompt: str
    seed: int
    on_change: Callable[["Writing"], None]
    name: str = ""
    ids: list[int] = field(default_factory=list)
    given: int = 0
    text: str = ""
    problem: str = ""
    has_ended: bool = False
    is_cancelled: bool = False
    generator: torch.Generator | None = None

    @property
    def new(self) -> int:
        """How many tokens were written."""
        return len(self.ids) - self.given


@dataclass(frozen=True)
class Usage:
    """The memory at one moment. All bytes are of keys and values, of all layers together.

    `tables` has the blocks of each chat, and `tokens` counts those whose keys are in them. `used` counts the blocks
    that are not free, and `page_bytes` is their size. `contiguous_bytes` is what the running texts would take if each
    had a cache of its own with rows for the longest text of the model.
    """

    blocks: int
    used: int
    tables: Mapping[int, Sequence[int]]
    tokens: int
    page_bytes: int
    contiguous_bytes: int

    @property
    def saved(self) -> int:
        """How many more would be in use if no two texts shared a block."""
        every = [block for table in self.tables.values() for block in table]
        return len(every) - len(set(every))


class LayerPages:
    """The cache that one layer gets for one call: a row for each text, its newest token at the right end."""

    def __init__(self, pages: Any, counts: Mapping[str, int], length: int) -> None:
        self._pages, self._counts, self.length = pages, counts, length

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Append the new keys and values (B, G, T, K) to the pages, and return those of all tokens (B, G, S, K)."""
        for row, (name, new) in enumerate(self._counts.items()):
            self._pages.append(name, key[row, :, -new:].transpose(0, 1), value[row, :, -new:].transpose(0, 1))
        _, _, added, _ = key.shape
        self.length += added
        held = [self._pages.gather(name) for name in self._counts]
        return self._joined(key, [keys for keys, _ in held]), self._joined(value, [values for _, values in held])

    def _joined(self, like: Tensor, rows: Sequence[Tensor]) -> Tensor:
        """Return rows (T, G, K) of different lengths as (B, G, S, K), filled up with zeros on the left."""
        joined = like.new_zeros(len(rows), like.size(1), self.length, like.size(3))
        for at, row in enumerate(rows):
            joined[at, :, self.length - row.size(0) :] = row.transpose(0, 1)
        return joined


class Batch:
    """The texts that run or wait, the pages of their keys and values, and what is measured about them.

    All code of the student runs in the thread that calls `run`. Any thread may call `add`, `cancel` and `speed`.
    """

    def __init__(
        self, stage: Stage, chatter: Chatter, *, blocks: int, block_size: int, most: int, length: int, **sampling: Any
    ) -> None:
        self._stage, self._chatter, self._sampling = stage, chatter, sampling
        self._most, self.context = most, chatter.window
        self.length = min(length, self.context - 1)
        self._own = stage.own("ex32_pages")
        self._choose = stage.own("ex14_generation").sample_next
        self._mask = stage.own("ex21_sliding_window").sliding_window_mask
        self.layers = [self._own.PagedCache(blocks, block_size) for _ in chatter.model.layers]  # type: ignore[union-attr]
        self.block_size, self.pool = block_size, self.layers[0].pool
        self._texts: dict[str, Writing] = {}
        self._arrived: list[Writing] = []
        self._done: set[str] = set()
        self._lock, self._changed, self._stop = Lock(), Event(), Event()
        self._count = self._block_bytes = 0
        self._since = self._marked = time.perf_counter()
        self._recent: deque[tuple[float, int]] = deque(maxlen=10_000)
        self.speeds: dict[int, tuple[int, float]] = {}
        """By the number of texts at once: the tokens that were written, and the seconds that it took."""
        self.usage = self.peak = Usage(self.pool.num_blocks, 0, {}, 0, 0, 0)
        """The memory of now, and that of the moment when most blocks were in use."""

    # What any thread may call.

    def add(self, texts: Sequence[Writing]) -> None:
        """Let texts wait until `serve` lets them join. Those that join at once with the same prompt share blocks."""
        with self._lock:
            self._arrived += texts
        self._changed.set()

    def cancel(self, text: Writing) -> None:
        """End a text. Its blocks are free again before any other text goes on."""
        text.is_cancelled = True
        self._changed.set()

    def speed(self) -> float:
        """Return the tokens a second of all texts together in the last seconds, up to now."""
        now = time.perf_counter()
        began = max(now - RECENT_SECONDS, self._since)
        tokens = sum(tokens for when, tokens in list(self._recent) if when > began)
        return tokens / (now - began) if tokens else 0.0

    # The loop.

    def run(self, stop: Event, *, until_done: bool = False) -> None:
        """Write texts until `stop` is set, or until all have ended. Passes on what the student's code raises.

        Those that are not complete at a stop end there.
        """
        self._stop = stop
        while not stop.is_set():
            self._admit()
            if self._texts:
                self._serve()
            elif until_done:
                return
            else:
                self._changed.wait(IDLE_SECONDS)
        self._admit()
        for text in list(self._texts.values()):
            self._end(text)

    def _admit(self) -> None:
        """Take in the texts that have arrived, and end those that were cancelled."""
        self._changed.clear()
        with self._lock:
            arrived, self._arrived = self._arrived, []
        if not self._texts:
            self._since = time.perf_counter()
        for text in arrived:
            text.problem = self._prepare(text)
            self._texts[text.name] = text
        for text in list(self._texts.values()):
            if text.is_cancelled or text.problem:
                self._end(text)

    def _prepare(self, text: Writing) -> str:
        """Make the ids of a text, and return why it cannot begin, or ""."""
        self._count += 1
        text.name = f"{self._count}"
        most = CHARACTERS * self.context
        if len(text.prompt) > most:
            return f"The text has {len(text.prompt):,} characters, expected at most {most:,}. Shorten it."
        prompt = text.prompt.encode("utf-8", "replace").decode()  # half a pair of surrogates has no bytes
        text.ids = [self._chatter.end, *self._chatter.ids(prompt)]
        text.given = len(text.ids)
        text.generator = torch.Generator(self._stage.device).manual_seed(text.seed)
        # The last new token is never shown to the model.
        room = min(self.context, self.pool.num_blocks * self.block_size) - (self.length - 1)
        if text.given > room:
            return f"The text has {text.given} tokens. With {self.length} new ones, at most {room} fit. Shorten it."
        return ""

    def _serve(self) -> None:
        """Let `serve` of ex32 run all texts, those that run first, until they have ended or something has changed."""
        texts = self._texts.values()
        requests = [self._own.Request(text.name, list(text.ids), self.length - text.new) for text in texts]
        self._marked = time.perf_counter()
        with torch.no_grad():
            self._own.serve(self._step, self, requests, self._most, self._chatter.end)
        for text in [text for text in texts if text.name in self._done]:
            self._end(text)

    def release(self, name: str) -> None:
        """Release the blocks of a text that is complete, as `serve` asks. One that only pauses keeps them."""
        if name in self._done:
            self._end(self._texts[name])

    def _end(self, text: Writing) -> None:
        for pages in self.layers:
            if text.name in pages.tables:
                pages.release(text.name)
        self._done.discard(text.name)
        del self._texts[text.name]
        self._measure()
        text.has_ended = True
        text.on_change(text)

    # A step.

    def _step(self, names: Sequence[str], tokens: Sequence[Sequence[int]], _: object) -> list[int]:
        """Return the next id of each text: the model that `serve` calls."""
        if self._changed.is_set() or self._stop.is_set():
            return [self._chatter.end] * len(names)
        texts = [self._texts[name] for name in names]
        known = self.layers[0].lengths
        shown: dict[str, list[int]] = {}
        sources: dict[str, str] = {}
        first: dict[tuple[int, ...], str] = {}
        for text, given in zip(texts, tokens, strict=True):
            # A text that goes on after a change is given as a whole, and the pages have all of it but the last token.
            missing = list(given[known.get(text.name, 0) - len(text.ids) :])
            source = text.name if text.name in known else first.setdefault(tuple(missing), text.name)
            if source == text.name:
                shown[text.name] = missing
            sources[text.name] = source
        rows = dict(zip(shown, self.logits(shown), strict=True))
        for name, source in sources.items():
            if source != name:
                self.fork(source, name)
        self._measure()
        ids = [self._next(text, rows[sources[text.name]]) for text in texts]
        self._time(len(texts))
        return ids

    def logits(self, shown: Mapping[str, Sequence[int]]) -> Tensor:
        """Return the logits (B, V) after the new ids of each text, in one call of each layer.

        Shorter rows are filled up on the left. A padded query sees one key, so that no softmax is over nothing; what it
        computes is not used, and its key is not kept.
        """
        model: Any = self._chatter.model.eval()
        counts = {name: len(ids) for name, ids in shown.items()}
        ends = {name: self.layers[0].lengths.get(name, 0) + new for name, new in counts.items()}
        width, keys = max(counts.values()), max(ends.values())
        mask = torch.zeros(len(shown), width, keys, dtype=torch.bool, device=self._stage.device)
        mask[:, range(width), range(keys - width, keys)] = True
        for row, (name, new) in enumerate(counts.items()):
            window = self._mask(new, ends[name], self._chatter.arguments["window"], device=mask.device)
            mask[row, width - new :, keys - ends[name] :] = window
        positions = [[0] * (width - new) + list(range(ends[name] - new, ends[name])) for name, new in counts.items()]
        ids = [[self._chatter.end] * (width - len(new)) + list(new) for new in shown.values()]
        x = model.token_embeddings(self._chatter.batch(ids))
        for layer, pages in zip(model.layers, self.layers, strict=True):
            x = layer(x, mask, self._chatter.batch(positions), LayerPages(pages, counts, keys - width))
        logits: Tensor = model.lm_head(model.ln_final(x[:, -1:]))[:, -1]
        return logits

    def fork(self, source: str, name: str) -> None:
        """Begin a text with all tokens of another one, which shares its blocks."""
        for pages in self.layers:
            pages.fork(source, name)

    def _next(self, text: Writing, logits: Tensor) -> int:
        """Choose the next id of a text from its logits (V,), and note it."""
        chosen = self._choose(logits.unsqueeze(0), generator=text.generator, **self._sampling)
        token = int(chosen[0])
        text.ids.append(token)
        text.text = self._chatter.text([id_ for id_ in text.ids[text.given :] if id_ != self._chatter.end])
        if token == self._chatter.end or text.new == self.length:
            self._done.add(text.name)
        else:
            text.on_change(text)
        return token

    # What is measured.

    def _time(self, count: int) -> None:
        """Note the tokens and the time of a step in which so many texts ran."""
        now = time.perf_counter()
        tokens, seconds = self.speeds.get(count, (0, 0.0))
        self.speeds[count] = (tokens + count, seconds + now - self._marked)
        self._recent.append((now, count))
        self._marked = now

    def _measure(self) -> None:
        """Note the memory of now, by the pages themselves."""
        tables = self.layers[0].tables
        running = [text for text in self._texts.values() if text.name in tables]
        if running:
            pages = [tensor for layer in self.layers for tensor in (layer.keys, layer.values)]
            self._block_bytes = sum(tensor[0].numel() * tensor.element_size() for tensor in pages)
        used = self.pool.num_blocks - self.pool.num_free
        self.usage = Usage(
            blocks=self.pool.num_blocks,
            used=used,
            tables={text.chat: tuple(tables[text.name]) for text in running},
            tokens=sum(self.layers[0].lengths[text.name] for text in running),
            page_bytes=used * self._block_bytes,
            contiguous_bytes=len(running) * self.context * self._block_bytes // self.block_size,
        )
        self.peak = max(self.peak, self.usage, key=lambda usage: usage.page_bytes)


def check_batch(stage: Stage, chatter: Chatter) -> None:
    """Report if texts of different lengths in one batch, and one that shares blocks, have other logits than alone."""
    batch = Batch(stage, chatter, blocks=12, block_size=4, most=3, length=1)
    draw = torch.Generator().manual_seed(stage.seed)
    texts = {
        name: torch.randint(1, len(chatter.vocabulary), (length,), generator=draw).tolist()
        for name, length in (("a", 11), ("b", 6))
    }
    with torch.no_grad():
        batch.logits({name: ids[:-1] for name, ids in texts.items()})
        batch.fork("a", "c")
        texts["c"] = [*texts["a"][:-1], texts["b"][0]]
        together = batch.logits({name: ids[-1:] for name, ids in texts.items()})
        alone = torch.cat([chatter.model(chatter.batch([ids]))[:, -1] for ids in texts.values()])
    apart = float((together - alone).abs().max())
    if not apart <= SAME:
        message = f"texts in one batch have logits that differ from those of each alone by {apart:.3f}, expected 0"
        stage.report_fault("ex32_pages", message)
        return
    stage.print("Texts of different lengths in one batch have the logits of each alone.")
