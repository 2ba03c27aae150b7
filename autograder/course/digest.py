"""A digest of several pieces of data."""

import hashlib
from collections.abc import Iterable


def digest_of_parts(parts: Iterable[bytes]) -> str:
    """Return the SHA-256 in hexadecimal digits of some parts, each preceded by its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
