"""Every private part of torch that Regroup's runner stands on, and the check that they are all there.

What is imported here under its private name is used nowhere else by another way.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import torch
from torch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent

TESTED = ("2.13",)
"""The torch releases that the tests of this module are run against."""


class HookGone(ImportError):
    """This torch lacks something that the runner stands on. The text is for the operator."""

    def __init__(self, what: Iterable[str]) -> None:
        super().__init__(
            f"torch {torch.__version__} has no {', '.join(what)}, which Regroup's runner stands on. "
            f"Install a torch it is tested with ({', '.join(TESTED)}) for the job's interpreter."
        )


try:
    from torch._C._distributed_c10d import Store, TCPStore
    from torch.distributed.elastic.multiprocessing import api as multiprocessing_api
    from torch.distributed.elastic.multiprocessing.subprocess_handler.subprocess_handler import (
        SubprocessHandler,
    )
    from torch.distributed.elastic.rendezvous.dynamic_rendezvous import (
        DynamicRendezvousHandler,
        RendezvousBackend,
        RendezvousSettings,
        RendezvousTimeout,
        Token,
        _Action,
        _BackendRendezvousStateHolder,
        _DistributedRendezvousOpExecutor,
        _NodeDesc,
        _remove_participant_epilogue,
        _RendezvousContext,
        _RendezvousExitOp,
        _RendezvousJoinOp,
        _RendezvousState,
        _RendezvousStateHolder,
    )
    from torch.distributed.elastic.rendezvous.utils import _PeriodicTimer
except ImportError as error:
    raise HookGone([f"{error.name or 'module'} with {str(error).split(' (')[0]}"]) from error

__all__ = [
    "TESTED",
    "DynamicRendezvousHandler",
    "HookGone",
    "RendezvousBackend",
    "RendezvousSettings",
    "RendezvousTimeout",
    "Store",
    "SubprocessHandler",
    "TCPStore",
    "Token",
    "_Action",
    "_BackendRendezvousStateHolder",
    "_DistributedRendezvousOpExecutor",
    "_NodeDesc",
    "_PeriodicTimer",
    "_RendezvousContext",
    "_RendezvousExitOp",
    "_RendezvousJoinOp",
    "_RendezvousState",
    "_RendezvousStateHolder",
    "_remove_participant_epilogue",
    "multiprocessing_api",
    "require",
]

_METHODS: dict[type, dict[str, tuple[str, ...]]] = {
    LocalElasticAgent: {
        "_rendezvous": ("worker_group",),
        "_assign_worker_ranks": ("store", "group_rank", "group_world_size", "spec"),
        "_initialize_workers": ("worker_group",),
        "_start_workers": ("worker_group",),
        "_stop_workers": ("worker_group",),
        "_restart_workers": ("worker_group",),
        "_monitor_workers": ("worker_group",),
        "_shutdown": ("death_sig", "timeout"),
        "_exit_barrier": (),
        "_invoke_run": ("role",),
        "_check_uninterruptible_state_timeout": ("worker_group",),
    },
    DynamicRendezvousHandler: {
        "__init__": ("node", "settings", "backend_name", "store", "state_holder"),
        "_stop_heartbeats": (),
        "_get_store": (),
        "_get_deadline": ("timeout",),
        "_keep_alive_weak": ("weak_self",),
        "_close": (),
    },
    _BackendRendezvousStateHolder: {
        "__init__": ("backend", "settings", "cache_duration"),
        "sync": (),
        "_sanitize": (),
        "mark_dirty": (),
    },
    _DistributedRendezvousOpExecutor: {
        "__init__": ("node", "state_holder", "settings"),
        "run": ("state_handler", "deadline", "update_deadline"),
    },
    SubprocessHandler: {
        "__init__": ("entrypoint", "args", "env", "stdout", "stderr", "local_rank_id"),
        "_popen": ("args", "env"),
    },
}
"""What is overridden or called, with the parameters that are relied on."""


_ATTRIBUTES: dict[type, tuple[str, ...]] = {
    LocalElasticAgent: ("_pcontext", "_remaining_restarts", "_exit_barrier_timeout"),
    DynamicRendezvousHandler: (
        "_this_node",
        "_settings",
        "_store",
        "_state_holder",
        "_op_executor",
        "_heartbeat_lock",
        "_keep_alive_timer",
        "_shared_tcp_store_server",
    ),
    _BackendRendezvousStateHolder: ("_backend", "_state", "_settings", "_token", "_dirty", "_dead_nodes"),
    _DistributedRendezvousOpExecutor: ("_node", "_state_holder", "_settings"),
}
"""What is read or set on an object of torch's, each made in its ``__init__``."""


def missing(
    methods: dict[type, dict[str, tuple[str, ...]]], attributes: dict[type, tuple[str, ...]]
) -> list[str]:
    """Those that are gone, or do not take their parameters any more."""
    gone = [
        f"{owner.__name__}.{name}({', '.join(parameters)})"
        for owner, needed in methods.items()
        for name, parameters in needed.items()
        if not _takes(getattr(owner, name, None), parameters)
    ]
    return gone + [
        f"{owner.__name__}.{name}"
        for owner, names in attributes.items()
        for name in names
        if not _makes(owner, name)
    ]


def _makes(owner: type, name: str) -> bool:
    """Whether the ``__init__`` of the class, or of one that it comes from, speaks of that attribute."""
    inits = [vars(cls).get("__init__") for cls in owner.__mro__]
    return any(name in init.__code__.co_names for init in inits if inspect.isfunction(init))


def _takes(method: object, parameters: tuple[str, ...]) -> bool:
    if not callable(method):
        return False
    # torch measures some of its hooks by a wrapper that keeps the name alone.
    found = inspect.signature(inspect.unwrap(method)).parameters
    return set(parameters) <= set(found)


def require() -> None:
    """Raises ``HookGone`` naming all that has gone."""
    gone = missing(_METHODS, _ATTRIBUTES)
    if not hasattr(multiprocessing_api, "get_subprocess_handler"):
        gone.append("elastic.multiprocessing.api.get_subprocess_handler")
    if gone:
        raise HookGone(gone)


require()
