"""Decode the bytes of a Python file, in one way for every part that compiles, parses or shows it."""

import ast
import re
from codecs import BOM_UTF8
from io import BytesIO
from tokenize import detect_encoding
from types import CodeType

_DECLARED = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"[ \t\f]*(?:#.*)?")
_CHARSET = re.compile(r"(?:iso-?8859-?|latin-?|cp125|windows-?125|koi8-?)\w{1,2}", re.IGNORECASE)
"""Encodings that map one byte to one character. The judge decodes no others, since some codecs take quadratic time."""

_REMEDY = "save the file as UTF-8 and delete the declaration"

_CONFLICT = re.compile(rb"^(?:<{7}|>{7}|\|{7})(?: [^\r\n]*)?$", re.MULTILINE)

CONFLICT = "line {} has a merge conflict marker of git; keep one version, and delete the lines with markers"
"""What to say of a file that cannot be read, and that has such a line."""


def first_conflict(source: bytes) -> int:
    """Return the first line with a marker that git writes into a file which it cannot merge; 0 if there is none."""
    match = _CONFLICT.search(source.replace(b"\r\n", b"\n"))
    return _line(source.replace(b"\r\n", b"\n"), match.start()) if match else 0


def code_of(source: bytes, file: str) -> CodeType:
    """Compile a file, which may `await` anywhere, as the cells of a notebook may. Raises whatever `compile` raises.

    The error of a file with markers of a merge conflict says so.
    """
    text = text_of(source, file)
    try:
        code: CodeType = compile(text, file, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        return code
    except SyntaxError:
        if line := first_conflict(source):
            raise _refused(CONFLICT.format(line), file, line) from None
        raise


def text_of(source: bytes, file: str = "") -> str:
    """Return the text of a Python file as `python FILE` reads it.

    Raises SyntaxError, with the line, where Python refuses to run the file: for bytes that do not fit the declared
    encoding (UTF-8 by default), null bytes, and unknown encodings. This is stricter than `compile` of bytes and than an
    import, which let wrong bytes in comments pass.
    """
    if source[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _refused("it is saved as UTF-16, expected UTF-8; save the file as UTF-8", file, 1)
    try:
        encoding, _ = detect_encoding(BytesIO(source).readline)
        text = source.decode(encoding)
        text.encode("utf-8")  # some codecs produce lone surrogates, which no source may hold
        if (_declared(source) or "") not in text[:4096]:
            raise ValueError("a declaration has to be readable in the encoding that it names")
    except UnicodeDecodeError as error:
        raise _undecodable(source, error, file) from None
    except Exception as error:  # the file chooses the codec, and a codec may raise anything
        raise _undetected(source, file) from error
    if "\0" in text:
        line = _line(source, source.find(b"\0"))
        raise _refused(f"line {line} has a null byte; delete it, or save the file as UTF-8", file, line)
    return text


def lines_of(source: bytes) -> list[str]:
    """Return the lines of a file for display, whether or not Python can read it; undecodable bytes become `�`."""
    encoding = _declared(source)
    if encoding is None or not _CHARSET.fullmatch(encoding):
        encoding = "utf-8"
    lines = source.removeprefix(BOM_UTF8).splitlines()
    try:
        return [line.decode(encoding, "replace") for line in lines]
    except LookupError:
        return [line.decode("utf-8", "replace") for line in lines]


def _declared(source: bytes) -> str | None:
    """Return the encoding that one of the first two lines declares (PEP 263), or None."""
    for line in source[:4096].removeprefix(BOM_UTF8).splitlines()[:2]:
        if match := _DECLARED.match(line):
            return match[1].decode("ascii")[:20]
        if not _BLANK.fullmatch(line):
            return None
    return None


def _undetected(source: bytes, file: str) -> SyntaxError:
    """Return the error for a declaration Python cannot follow, or for bytes before it that are not UTF-8."""
    declared = _declared(source)
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        if declared is None:
            return _undecodable(source, error, file)
    return _refused(f"it declares the encoding {declared}, which Python cannot read; {_REMEDY}", file, 1)


def _undecodable(source: bytes, error: UnicodeDecodeError, file: str) -> SyntaxError:
    line, declared = _line(source, error.start), _declared(source)
    byte = f"line {line} has the byte 0x{source[error.start]:02x}"
    if declared is None:
        return _refused(f"{byte}, which is not UTF-8; save the file as UTF-8", file, line)
    return _refused(f"{byte}, which is not in the declared encoding {declared}; {_REMEDY}", file, line)


def _refused(message: str, file: str, line: int) -> SyntaxError:
    return SyntaxError(message, (file, line, None, None))


def _line(source: bytes, offset: int) -> int:
    """Return the line of a byte, as Python counts lines; 1 for an offset of -1 (a character only decoding made)."""
    before = source[: max(offset, 0)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return before.count(b"\n") + 1
