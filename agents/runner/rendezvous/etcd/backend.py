"""torch's rendezvous state in etcd: compare-and-set by revision, and looks that ask nobody."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone

from torch.distributed.elastic.rendezvous import RendezvousConnectionError, RendezvousError

from ...torch_hooks import RendezvousBackend, Token, _RendezvousState
from .client import Client
from .errors import EtcdError
from .folder import Entry, Folder
from .mirror import Mirror, Seen
from .summary import Facts, describe, facts_of, say_since

STATE, SUMMARY = "state", "summary"

Answer = tuple[bytes, Token]


class EtcdBackend(RendezvousBackend):
    """``decode`` reads a state for the summary; ``on_restored`` is called when all keys had vanished.

    ``patience_s``: how long an outage is waited out before it is an error.
    """

    def __init__(
        self,
        name: str,
        client: Client,
        folder: Folder,
        decode: Callable[[bytes], _RendezvousState],
        on_restored: Callable[[], None],
        patience_s: float = 0.0,
    ) -> None:
        self._name, self._folder = name, folder
        self._decode, self._on_restored, self._patience_s = decode, on_restored, patience_s
        self._summarised: tuple[Facts, str] | None = None
        self._mirror = Mirror(client, folder, STATE, self._restore, patience_s)
        self._mirror.start()

    @property
    def name(self) -> str:
        return self._name

    def get_state(self) -> Answer | None:
        """Raises ``RendezvousConnectionError`` when what is known may be old."""
        try:
            return _answer(self._mirror.look())
        except EtcdError as error:
            raise RendezvousConnectionError(str(error)) from error

    def set_state(self, state: bytes, token: Token | None = None) -> tuple[bytes, Token, bool] | None:
        """When an answer of etcd was lost, a change that was made may be told as one that lost the race."""
        try:
            entry, has_won = self._set(state, token)
        except EtcdError as error:
            raise RendezvousConnectionError(str(error)) from error
        return None if entry is None else (entry.value, entry.revision, has_won)

    def _set(self, state: bytes, token: Token | None) -> tuple[Entry | None, bool]:
        base = self._mirror.known
        values = {STATE: state, **self._summary_with(state, base)}
        won, there = self._folder.swap(STATE, int(token or 0), values, self._patience_s)
        if won is not None:
            there = Entry(state, won, base.created if base and base.revision == token else won)
        elif there is None and base is not None:
            self._restore(base)
            there, _ = self._folder.read(STATE, self._patience_s)
        if there is not None:
            self._mirror.take(Seen(there, there.revision))
        return there, won is not None

    def _summary_with(self, state: bytes, before: Entry | None) -> dict[str, bytes]:
        """The summary, where this state changes it."""
        facts = self._facts(state)
        if facts is None or (before is not None and self._facts(before.value) == facts):
            return {}
        self._summarised = facts, say_since(_now())
        return {SUMMARY: describe(*self._summarised).encode()}

    def _facts(self, state: bytes) -> Facts | None:
        try:
            return facts_of(self._decode(state))
        except RendezvousError:
            # Whoever uses the state is told; the summary keeps what it says.
            return None

    def _restore(self, state: Entry) -> None:
        """All keys are gone: their lease lapsed, or etcd lost its data. Who knows them writes them again."""
        self._folder.grant()
        self._folder.swap(STATE, 0, {STATE: state.value, **self._summary_again(state.value)})
        self._on_restored()

    def _summary_again(self, state: bytes) -> dict[str, bytes]:
        facts = self._facts(state)
        if facts is None:
            return {}
        known, since = self._summarised or (None, "")
        text = since if known == facts else f"{say_since(_now())} or earlier"
        return {SUMMARY: describe(facts, text).encode()}

    def tell_changes(self, announce: Callable[[], None]) -> None:
        """Call it, from another thread, whenever the state is another one. One listener at a time."""
        self._mirror.on_change = announce

    def close(self) -> None:
        self._mirror.close()


def _now() -> datetime:
    return datetime.now(timezone.utc)


def _answer(entry: Entry | None) -> Answer | None:
    return None if entry is None else (entry.value, entry.revision)
