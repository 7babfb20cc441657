"""What is sealed for a node is opened by that node for that attempt, and by nothing else."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from agents.wire.sealing import CannotOpen, name_of, open_sealed, public_text, seal

TEXT = '{"env": {"API_TOKEN": "wörd-4711"}}'
KEY, NAME = X25519PrivateKey.generate(), name_of("j1-a1-0f", "node-1")


def test_the_node_reads_what_was_sealed_for_it() -> None:
    sealed = seal(TEXT, public_text(KEY), NAME)
    assert "4711" not in sealed
    assert b"4711" not in base64.b64decode(sealed)
    assert open_sealed(sealed, KEY, NAME) == TEXT


def test_the_same_text_is_sealed_differently_each_time() -> None:
    assert seal(TEXT, public_text(KEY), NAME) != seal(TEXT, public_text(KEY), NAME)


def test_another_nodes_key_does_not_open_it() -> None:
    with pytest.raises(CannotOpen, match="another key, node or attempt"):
        open_sealed(seal(TEXT, public_text(KEY), NAME), X25519PrivateKey.generate(), NAME)


@pytest.mark.parametrize("name", [name_of("j1-a2-0f", "node-1"), name_of("j1-a1-0f", "node-2")])
def test_it_opens_for_no_other_attempt_or_node(name: str) -> None:
    with pytest.raises(CannotOpen, match="another key, node or attempt"):
        open_sealed(seal(TEXT, public_text(KEY), NAME), KEY, name)


@pytest.mark.parametrize("at", [0, 31, 32, -1])
def test_a_changed_byte_is_noticed(at: int) -> None:
    data = bytearray(base64.b64decode(seal(TEXT, public_text(KEY), NAME)))
    data[at] ^= 1
    with pytest.raises(CannotOpen):
        open_sealed(base64.b64encode(data).decode(), KEY, NAME)


@pytest.mark.parametrize("text", ["", "no base64 é", "c2hvcnQ="])
def test_what_was_never_sealed_is_refused(text: str) -> None:
    with pytest.raises(CannotOpen):
        open_sealed(text, KEY, NAME)


@pytest.mark.parametrize("key", ["", "c2hvcnQ=", "not base64"])
def test_nothing_is_sealed_for_what_is_no_key(key: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        seal(TEXT, key, NAME)
