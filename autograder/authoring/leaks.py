"""The leak gate: search every file of a kit for secrets, in every encoding and archive format."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.leaks_secrets import Secret, words_of
from autograder.authoring.leaks_texts import named_texts
from autograder.authoring.leaks_views import SealedError, views

_FIRST = 3
"""Secrets are looked up by their first three words, so that a text is compared with few of them."""

_COMPILED = re.compile(rb"[\x0b-\x13]\r\n.{12}\xe3\0{12}", re.DOTALL)
"""What the compiled code of a module begins with: a number of the release, \\r\\n, and a code without arguments."""

_OF_COMPILED = (".pyc", ".pyo")


@dataclass(frozen=True)
class Leak:
    """A secret in a file of a kit; `found` is the rest of a sentence that begins with the file name."""

    file: str
    found: str

    @property
    def sentence(self) -> str:
        return f"{self.file} {self.found}"


class Gate:
    """Searches files for secrets."""

    def __init__(self, secrets: Sequence[Secret]) -> None:
        self._by_start: defaultdict[tuple[str, ...], list[Secret]] = defaultdict(list)
        for secret in secrets:
            if secret.number is None:
                self._by_start[secret.words[:_FIRST]].append(secret)
        self._numbers = [(_notations(secret.number), secret) for secret in secrets if secret.number is not None]

    def leaks(
        self, files: Iterable[tuple[str, bytes]], hunted: Collection[str] = (), hunts: Collection[str] = ()
    ) -> list[Leak]:
        """Return the first secret in each file, or one for each hint; a file that cannot be searched counts as a leak.

        The files named in `hunts` may have lines that only programs of the `hunted` exercises have.
        """
        none: Collection[str] = ()
        found: list[Leak] = []
        for name, data in files:
            if (leak := self._leak(name, data, hunted if name in hunts else none)) is not None:
                found += [*self._in_texts(name, data)] or [leak]
        return found

    def _in_texts(self, name: str, data: bytes) -> Iterator[Leak]:
        """Yield the first secret in each hint, and in each other text that an author finds by its name."""
        for place, text in named_texts(name, data):
            if (found := self._first_secret(text)) is not None:
                yield Leak(name, f"has {found[1].of} in {place}: {_excerpt(found[1])}")

    def _leak(self, name: str, data: bytes, hunted: Collection[str]) -> Leak | None:
        try:
            if (found := self._first_secret(name)) is not None:
                return Leak(name, f"has {found[1].of} in its name: {_excerpt(found[1])}")
            for view in views(data):
                packed = f", in {' in '.join(reversed(view.layers))}" if view.layers else ""
                if name.endswith(_OF_COMPILED) or _COMPILED.search(view.blob):
                    return Leak(name, f"is compiled Python{packed}, which nobody can review")
                found = self._first_secret(view.text, hunted)
                if found is not None:
                    number, secret = found
                    line = f" in line {number}" if not view.layers else packed
                    return Leak(name, f"has {secret.of}{line}: {_excerpt(secret)}")
        except SealedError as sealed:
            return Leak(name, str(sealed))
        return None

    def _first_secret(self, text: str, hunted: Collection[str] = ()) -> tuple[int, Secret] | None:
        """Return a secret in a text, and the line on which it begins; none of the `hunted` exercises alone."""
        starts, words = self._by_start, words_of(text)
        for at, three in enumerate(zip(words, words[1:], words[2:], strict=False)):
            if three in starts:
                for secret in starts[three]:
                    if secret.exercises and secret.exercises.issubset(hunted):
                        continue
                    if tuple(words[at : at + len(secret.words)]) == secret.words:
                        return _line(text, at), secret
        for notations, secret in self._numbers:
            for spelling in (text, text.replace("_", "")):
                if number := notations.search(spelling):
                    return spelling.count("\n", 0, number.start()) + 1, secret
        return None


def _notations(number: int) -> re.Pattern[str]:
    """Return a pattern for a number in decimal or hexadecimal digits, not inside a longer number."""
    return re.compile(rf"(?<!\d){number}(?!\d)|(?<![0-9a-f]){number:x}(?![0-9a-f])", re.IGNORECASE)


def _excerpt(secret: Secret) -> str:
    text = " ".join(secret.words)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _line(text: str, at: int) -> int:
    """Return the line of a text with its word number `at`."""
    for number, line in enumerate(text.splitlines(), 1):
        at -= len(words_of(line))
        if at < 0:
            return number
    return 1


def files_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every file in a folder, git history included; of a link, its target."""
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink():
            yield name, str(file.readlink()).encode()
        elif file.is_file():
            yield name, file.read_bytes()


def files_of(files: Mapping[str, bytes], folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a new kit, and of the git history in its folder."""
    yield from files.items()
    if (folder / ".git").is_dir():
        yield from ((f".git/{name}", data) for name, data in files_in(folder / ".git"))
