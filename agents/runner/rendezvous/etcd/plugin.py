"""The entry point ``etcd-v3`` of the group ``torchrun.handlers``.

torch loads it while it is itself half imported, in every process. So nothing else is imported here before a
rendezvous is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def get_handler() -> Callable[[Any], Any]:
    """What torch asks the entry point for: a function from ``RendezvousParameters`` to a handler."""
    return create


def create(params: Any) -> Any:
    """See ``torchrun.create``."""
    from .torchrun import create

    return create(params)
