"""The leak gate: looks for what must not be handed out in every file of a kit, however it is written or packed."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.leaks_secrets import Secret, words_of
from autograder.authoring.leaks_views import SealedError, views

_FIRST = 3
_COMPILED = re.compile(rb"[\x0b-\x13]\r\n.{12}\xe3\0{12}", re.DOTALL)
"""What the compiled code of a module begins with: a number of the release, \\r\\n, and a code without arguments."""

_OF_COMPILED = (".pyc", ".pyo")


@dataclass(frozen=True)
class Leak:
    """What a file of a kit must not have: the rest of a sentence that begins with its name."""

    file: str
    found: str

    @property
    def sentence(self) -> str:
        return f"{self.file} {self.found}"


class Gate:
    """Knows what must not be handed out."""

    def __init__(self, secrets: Sequence[Secret]) -> None:
        self._by_start: defaultdict[tuple[str, ...], list[Secret]] = defaultdict(list)
        for secret in secrets:
            if secret.number is None:
                self._by_start[secret.words[:_FIRST]].append(secret)
        self._numbers = [(_notations(secret.number), secret) for secret in secrets if secret.number is not None]

    def leaks(self, files: Iterable[tuple[str, bytes]]) -> list[Leak]:
        """Return the first thing that each file must not have; what cannot be looked through is one."""
        return [leak for name, data in files if (leak := self._leak(name, data)) is not None]

    def _leak(self, name: str, data: bytes) -> Leak | None:
        try:
            if (found := self._found(name)) is not None:
                return Leak(name, f"has {found[1].of} in its name: {_shown(found[1])}")
            for view in views(data):
                packed = f", in {' in '.join(reversed(view.layers))}" if view.layers else ""
                if name.endswith(_OF_COMPILED) or _COMPILED.search(view.blob):
                    return Leak(name, f"is compiled Python{packed}: nobody can read what is in it")
                found = self._found(view.text)
                if found is not None:
                    number, secret = found
                    line = f" in line {number}" if not view.layers else packed
                    return Leak(name, f"has {secret.of}{line}: {_shown(secret)}")
        except SealedError as sealed:
            return Leak(name, str(sealed))
        return None

    def _found(self, text: str) -> tuple[int, Secret] | None:
        """Return a secret that a text has, and in which of its lines that begins."""
        starts, words = self._by_start, words_of(text)
        for at, three in enumerate(zip(words, words[1:], words[2:], strict=False)):
            if three in starts:
                for secret in starts[three]:
                    if tuple(words[at : at + len(secret.words)]) == secret.words:
                        return _line(text, at), secret
        for notations, secret in self._numbers:
            for spelling in (text, text.replace("_", "")):
                if number := notations.search(spelling):
                    return spelling.count("\n", 0, number.start()) + 1, secret
        return None


def _notations(number: int) -> re.Pattern[str]:
    """Return what finds a number in decimal or hexadecimal digits, unless it is part of a longer one."""
    return re.compile(rf"(?<!\d){number}(?!\d)|(?<![0-9a-f]){number:x}(?![0-9a-f])", re.IGNORECASE)


def _shown(secret: Secret) -> str:
    text = " ".join(secret.words)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _line(text: str, at: int) -> int:
    """Return the line of a text that has the word of a number."""
    for number, line in enumerate(text.splitlines(), 1):
        at -= len(words_of(line))
        if at < 0:
            return number
    return 1


def files_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file in a folder, its git history too, by its path; a link yields where it leads."""
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink():
            yield name, str(file.readlink()).encode()
        elif file.is_file():
            yield name, file.read_bytes()


def files_of(files: Mapping[str, bytes], folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a kit that is to be written, and of the git history that is there already."""
    yield from files.items()
    if (folder / ".git").is_dir():
        yield from ((f".git/{name}", data) for name, data in files_in(folder / ".git"))
