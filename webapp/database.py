"""What the two databases do differently, and what trouble with them looks like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast
from zlib import crc32

from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    connection,
    connections,
)
from django.db.models import Field, Model

from .sqlite.base import DatabaseWrapper as Sqlite


def is_trouble(error: Exception) -> bool:
    """Whether the database is to blame, so that the same may go well later; else it is what it was given."""
    if isinstance(error, DataError | IntegrityError):
        return False
    return isinstance(error, DatabaseError | InterfaceError)


def take_turns(name: str) -> None:
    """Until this transaction ends, whoever else asks for that name waits.

    On SQLite there is only ever one transaction that writes.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [crc32(f"regroup {name}".encode())])


def let_others_first(limit_s: float) -> None:
    """Before a transaction: wait until nobody else waits for one, or for ``limit_s``. For SQLite alone."""
    here = connections[DEFAULT_DB_ALIAS]
    if isinstance(here, Sqlite):
        here.let_others_first(limit_s)


def update_rows(rows: Sequence[Model], fields: Sequence[str]) -> None:
    """Write these fields of rows of one table. Django's ``bulk_update`` puts a case for each field and row
    into words, which costs ingest more than all else that it writes.
    """
    if not rows:
        return
    table, pk = rows[0]._meta.db_table, rows[0]._meta.pk
    columns = [cast("Field[Any, Any]", rows[0]._meta.get_field(name)) for name in fields]
    quoted = connection.ops.quote_name
    sets = ", ".join(f"{quoted(str(field.column))} = %s" for field in columns)
    told = [[_stored(field, row) for field in (*columns, pk)] for row in rows]
    with connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {quoted(table)} SET {sets} WHERE {quoted(str(pk.column))} = %s", told)


def _stored(field: Field[Any, Any], row: Model) -> Any:
    return field.get_db_prep_save(getattr(row, field.attname), connection)


@contextmanager
def without_waiting() -> Iterator[None]:
    """What is written in here fails at once while another process writes to SQLite."""
    if connection.vendor != "sqlite":
        yield
        return
    wait_ms = int(connection.settings_dict["OPTIONS"]["timeout"] * 1000)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {wait_ms}")
