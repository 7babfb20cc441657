"""Sealing a job's secrets for one node: its node agent alone opens them, for the attempt they are for.

X25519 with a key pair of its own for each message, HKDF-SHA256, ChaCha20-Poly1305. ``cryptography`` is here
alone, and what runs a job never imports this.
"""

from __future__ import annotations

import base64
import binascii

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
_INFO = b"regroup: secrets of a job, 1"
_NONCE = bytes(12)
"""Each key seals one message, so that it need not be another one each time."""


class CannotOpen(ValueError):
    """What was sealed cannot be opened. The text says why, as the end of a sentence."""


def name_of(attempt: str, node: str) -> str:
    """What a seal is bound to: the same values open nowhere else."""
    return f"{attempt} on {node}"


def public_text(key: X25519PrivateKey) -> str:
    """The public half, as a node announces it."""
    return base64.b64encode(_raw(key.public_key())).decode()


def seal(text: str, public_key: str, name: str) -> str:
    """Raises:
    ValueError: that is no public key.
    """
    theirs = X25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
    mine = X25519PrivateKey.generate()
    cipher = _cipher(mine.exchange(theirs), _raw(mine.public_key()), _raw(theirs))
    return base64.b64encode(
        _raw(mine.public_key()) + cipher.encrypt(_NONCE, text.encode(), name.encode())
    ).decode()


def open_sealed(sealed: str, key: X25519PrivateKey, name: str) -> str:
    """Raises:
    CannotOpen: it was sealed for another node or attempt, or was changed.
    """
    try:
        data = base64.b64decode(sealed, validate=True)
        first, rest = data[:KEY_BYTES], data[KEY_BYTES:]
        shared = key.exchange(X25519PublicKey.from_public_bytes(first))
        return _cipher(shared, first, _raw(key.public_key())).decrypt(_NONCE, rest, name.encode()).decode()
    except InvalidTag:
        raise CannotOpen("they were sealed for another key, node or attempt, or were changed") from None
    except (binascii.Error, ValueError) as error:
        raise CannotOpen(f"they are no sealed message: {error}") from error


def _cipher(shared: bytes, mine: bytes, theirs: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(HKDF(SHA256(), KEY_BYTES, salt=None, info=_INFO + mine + theirs).derive(shared))


def _raw(key: X25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
