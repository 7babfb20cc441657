"""``torchrun --rdzv-backend=etcd-v3``: torch's own rendezvous handler over etcd's v3 API.

Here the state is torch's own, a pickle.
"""

from __future__ import annotations

import atexit
import logging
import pickle
import time
from functools import partial

from torch.distributed.elastic.rendezvous import (
    RendezvousClosedError,
    RendezvousHandler,
    RendezvousParameters,
    RendezvousStateError,
)
from torch.distributed.elastic.rendezvous.dynamic_rendezvous import create_handler

from ....wire.rdzv import RdzvConf
from ...torch_hooks import _RendezvousState
from .client import Client
from .errors import EtcdError
from .folder import LEASE_S, Folder
from .presence import Presence, wait_for_earlier_run
from .session import OPEN_S, Session, claim_folder, enter
from .settings import Settings, read_settings

NAME = "etcd-v3"
READ_TIMEOUT_S = 60
"""torch's agent does not outlive an error of its backend, so an outage is waited out for this long."""

log = logging.getLogger(__name__)


def create(params: RendezvousParameters) -> RendezvousHandler:
    """Raises ``StoreError`` where etcd cannot be used, ``RendezvousClosedError`` where the id is in use."""
    settings = read_settings(params.endpoint, _conf_of(params))
    client = Client(settings)
    folder = Folder(client, settings.conf.etcd_prefix, params.run_id)
    presence = _join(settings, client, folder)
    timeout_s = settings.conf.read_timeout
    session = Session(NAME, client, folder, _decode, log.warning, timeout_s, patience_s=timeout_s)
    session.restore_too = presence.enter
    # However torchrun ends: it closes the rendezvous on some of its ways out only.
    atexit.register(partial(_leave, session, presence))
    return create_handler(session.store, session.backend, params)


def _conf_of(params: RendezvousParameters) -> dict[str, str]:
    """Without what torchrun puts in by itself; torch reads its own keys as it always does."""
    known = {*RdzvConf.__dataclass_fields__, "cacert", "cert", "key"} - {"is_host", "store_type"}
    given = {key: str(value) for key, value in params.config.items() if key in known}
    return {"read_timeout": str(READ_TIMEOUT_S), **given}


def _join(settings: Settings, client: Client, folder: Folder) -> Presence:
    presence = Presence(client, folder)

    def claim() -> None:
        # First of all: to claim the folder would be to keep what an earlier run has left there.
        if not wait_for_earlier_run(client, folder, _decode, log.warning):
            raise RendezvousClosedError(
                f"The rendezvous {folder.path} is closed, and processes of its run are still there after "
                f"{LEASE_S} s: see etcdctl get --prefix {folder.path}members/. End them, or give this run "
                "another --rdzv-id."
            )
        claim_folder(folder)
        presence.enter()

    enter(settings, client, claim, OPEN_S, time.sleep, log.warning)
    return presence


def _leave(session: Session, presence: Presence) -> None:
    try:
        session.backend.close()
        presence.leave()
    except EtcdError as error:
        log.warning("the keys of this run stay in etcd for up to %s s: %s", LEASE_S, error)
    session.close()


def _decode(state: bytes) -> _RendezvousState:
    try:
        decoded: _RendezvousState = pickle.loads(state)
    except Exception as error:
        raise RendezvousStateError(f"The rendezvous state in etcd cannot be read: {error!r}.") from error
    return decoded
