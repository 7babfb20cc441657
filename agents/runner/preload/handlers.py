"""Makes torch's agent start its workers our way: forked, or executed and tied to the runner.

All else about a worker stays torch's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..command import tied
from ..torch_hooks import SubprocessHandler, multiprocessing_api
from .server import ForkServer

HOOK = "get_subprocess_handler"
"""What torch's agent calls for each worker, by this name in that module."""


@contextlib.contextmanager
def starting(server: ForkServer | None) -> Iterator[None]:
    """Workers that torch starts in here are forked. None: they are executed.

    When that is cut short, those that were forked already are ended.
    """
    usual = getattr(multiprocessing_api, HOOK)
    setattr(multiprocessing_api, HOOK, lambda **facts: _Handler(server, facts))
    try:
        yield
    except BaseException:
        if server is not None:
            server.end()
        raise
    finally:
        setattr(multiprocessing_api, HOOK, usual)


class _Handler(SubprocessHandler):
    """torch's own opens the log files and puts the environment together."""

    def __init__(self, server: ForkServer | None, facts: dict[str, Any]) -> None:
        self._server, self._logs = server, (facts["stdout"], facts["stderr"])
        super().__init__(**facts)

    def _popen(self, args: tuple[str, ...], env: dict[str, str]) -> Any:
        if self._server is None:
            return super()._popen(tied(args), env)
        return self._server.fork(args, env, *self._logs)
