"""Every character of an untrusted text can be seen."""

import sys
import unicodedata

import pytest

from autograder.protocol import visible
from autograder.protocol.programs import MOST_MARKS

INVISIBLE = "\u034f\u115f\u1160\u17b4\u180b\u180f\u2800\u3164\ufe00\uffa0\U000e0041\U000e0100"
STEERING = "\x00\x07\x1b\x7f\x85\x9b\u061c\u200b\u200e\u200f\u2028\u202a\u202e\u2060\u2066\u2069\ufeff\ud800\r\n\t"


@pytest.mark.parametrize("character", INVISIBLE + STEERING, ids=ascii)
def test_what_cannot_be_seen_is_an_escape(character: str) -> None:
    shown = visible(f"a{character}b")
    assert shown == f"a{character.encode('unicode_escape').decode()}b"
    assert shown.isascii()
    assert shown.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "x[/2] é √ 漢 →",
        "e\u0301 ệ",
        "नमस्ते",
        "שָׁלוֹם",
        "ภาษาไทย",
        "한국어",
        "❤\ufe0f 1\ufe0f\u20e3",
        "𝒳",
        "ex05_attention",
    ],
)
def test_the_letters_of_a_language_stay(text: str) -> None:
    assert visible(text) == text


def test_a_space_of_any_width_is_a_space() -> None:
    assert visible("a\u00a0b\u3000c") == "a b c"


def test_marks_piled_on_a_letter_are_cut() -> None:
    assert visible("a" + "\u0301" * 5000 + "b") == "a" + "\u0301" * MOST_MARKS + "…b"


def test_every_character_of_unicode_is_safe() -> None:
    for number in range(sys.maxunicode + 1):
        shown = visible(chr(number))
        assert shown.isprintable(), hex(number)
        assert unicodedata.category(shown[0]) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"), hex(number)
