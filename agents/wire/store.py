"""Who keeps the store that an attempt's runners meet in. Pure."""

from __future__ import annotations

from .rdzv import ConfError, family, read_rdzv_conf
from .spec import StartMessage


def keeps_store(message: StartMessage) -> bool:
    """Whether a store keeper is to run on the message's node.

    Not with etcd, which is a server of its own, nor with ``is_host=false``: then it is somebody else's.
    """
    spec = message.spec
    if not message.hosts_store or family(spec.rdzv_backend) == "etcd":
        return False
    try:
        return read_rdzv_conf(spec.rdzv_conf, spec.rdzv_backend).is_host is not False
    except ConfError:  # the runner says what is wrong with it
        return False
