"""The files of a round's streams on this node, found and opened; or in words why there are none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..bundle import Bundle, find_bundles
from ..logs.source import STREAMS, FileSource, Stream, open_log


@dataclass(frozen=True)
class Wanted:
    """Which streams. None: all that there are."""

    attempt: str
    round: int
    rank: int | None
    stream: Stream | None


class NoLog(Exception):
    """Nothing is there to read; the text says why. ``is_final``: nor will there be."""

    def __init__(self, text: str, is_final: bool = True) -> None:
        super().__init__(text)
        self.is_final = is_final


def bundle_with(wanted: Wanted, data: Path, node: str) -> Bundle:
    """Of the runners that the node has had in the attempt, the one of that round. Raises ``NoLog``."""
    bundles = find_bundles(data, wanted.attempt)
    if not bundles:
        raise NoLog(f"{node} knows no attempt {wanted.attempt!r}.")
    return next((one for one in bundles if one.round_folder(wanted.round).exists()), bundles[0])


@contextmanager
def open_streams(wanted: Wanted, data: Path, node: str) -> Iterator[list[FileSource]]:
    """At least one, in the order of ranks. Raises ``NoLog``."""
    bundle = bundle_with(wanted, data, node)
    ranks = ranks_of(bundle, wanted.round) if wanted.rank is None else [wanted.rank]
    streams = STREAMS if wanted.stream is None else (wanted.stream,)
    with ExitStack() as stack:
        sources = []
        for rank in ranks:
            for stream in streams:
                with suppress(FileNotFoundError):
                    path = bundle.log(wanted.round, rank, stream)
                    sources.append(stack.enter_context(_opened(path, rank, stream, node)))
        if not sources:
            raise why_missing(bundle, wanted, node)
        yield sources


@contextmanager
def _opened(path: Path, rank: int, stream: Stream, node: str) -> Iterator[FileSource]:
    try:
        opened = open_log(path, rank, stream)
        with opened as source:
            yield source
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NoLog(f"The log on {node} cannot be read: {error.strerror}.", is_final=False) from error


def ranks_of(bundle: Bundle, round_number: int) -> list[int]:
    folders = bundle.round_folder(round_number).glob("rank-*")
    names = (path.name.removeprefix("rank-") for path in folders)
    return sorted(int(name) for name in names if name.isdecimal())


def why_missing(bundle: Bundle, wanted: Wanted, node: str) -> NoLog:
    ranks = ranks_of(bundle, wanted.round)
    is_over = bundle.is_settled()
    if not ranks:
        return NoLog(f"No worker of round {wanted.round} has run on {node}.", is_over)
    if wanted.rank is not None and wanted.rank not in ranks:
        return NoLog(
            f"Round {wanted.round} on {node} has the ranks {', '.join(map(str, ranks))}, "
            f"and no rank {wanted.rank}."
        )
    who = f"Rank {wanted.rank}" if wanted.rank is not None else "No rank"
    has = "has no" if wanted.rank is not None else "has any"
    return NoLog(f"{who} of round {wanted.round} on {node} {has} {wanted.stream or 'output'} yet.", is_over)
