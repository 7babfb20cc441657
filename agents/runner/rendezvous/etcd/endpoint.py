"""``rdzv_endpoint`` of etcd: one server or the members of a cluster. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ....wire.endpoint import ETCD_PORT, Endpoint, parse_endpoint

PROTOCOLS = ("http", "https")


@dataclass(frozen=True)
class Endpoints:
    members: tuple[Endpoint, ...]
    protocol: str | None
    """``http`` or ``https`` where the text says so."""

    def __str__(self) -> str:
        return ", ".join(map(str, self.members))


def parse_endpoints(text: str) -> Endpoints:
    """Read ``HOST[:PORT][,HOST[:PORT]…]``, each with ``http://`` or ``https://`` before it if one likes.

    Raises:
        ValueError: an entry is no endpoint, or they differ in their protocol; says what to write instead.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ValueError(
            f"{text!r} names no etcd server. Write HOST or HOST:PORT, such as etcd-a:{ETCD_PORT}."
        )
    read = [_split_protocol(part) for part in parts]
    protocols = {protocol for protocol, _ in read}
    if len(protocols) > 1:
        raise ValueError(f"{text!r} mixes protocols. Write http:// or https:// before all of them, or none.")
    members = dict.fromkeys(parse_endpoint(place, ETCD_PORT) for _, place in read)
    return Endpoints(tuple(members), protocols.pop())


def _split_protocol(part: str) -> tuple[str | None, str]:
    protocol, mark, place = part.partition("://")
    if not mark:
        return None, part
    if protocol.lower() not in PROTOCOLS:
        raise ValueError(f"{part!r} begins with {protocol}://. Write http:// or https://, or neither.")
    return protocol.lower(), place.rstrip("/")
