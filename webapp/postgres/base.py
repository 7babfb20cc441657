"""Django's PostgreSQL, with a limit on how long an answer may take, whatever has become of the server.

The server's own ``statement_timeout`` ends what waits for a lock or takes long. It cannot help when the
server itself stands still or its machine is gone: then the client has to give up.
"""

from __future__ import annotations

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg import errors

ON_THE_WAY_S = 1.0
"""So much later than the server gives up the client does: the server's answer says more."""


class LimitedConnection(psycopg.Connection[Any]):
    limit_s: float | None = None
    """None: as long as it takes."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Every exchange with the server goes through here."""
        if timeout is not None or self.limit_s is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.limit_s)
        except errors._WaitTimeout:
            # Nobody knows what the server makes of it; what was not committed is undone with the connection.
            self.pgconn.finish()
            raise psycopg.OperationalError(f"no answer within {self.limit_s:g} s") from None


class DatabaseWrapper(base.DatabaseWrapper):
    limit_s: float | None = None

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        self.limit_s = params.pop("wait_s") + ON_THE_WAY_S
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> LimitedConnection:
        self.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        connection = LimitedConnection.connect(**conn_params)
        connection.limit_s = self.limit_s
        return connection

    def schema_editor(self, *args: Any, **kwargs: Any) -> Any:
        """A migration takes as long as it takes."""
        with self.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
        self.connection.limit_s = None
        return super().schema_editor(*args, **kwargs)
