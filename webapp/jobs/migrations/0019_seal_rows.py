"""Secrets that rows held open are sealed, those of jobs and those of start commands."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from webapp.masking import mask, secrets_of
from webapp.sealing import seal, unseal


def close(apps: Any, editor: Any) -> None:
    has_secrets = False
    for row, spec in _rows(apps):
        secrets = secrets_of(spec)
        if secrets:
            _write(row, mask(spec), seal(secrets))
        has_secrets = has_secrets or bool(secrets or row.sealed)
    if has_secrets and editor.connection.vendor == "sqlite":
        _forget(editor.connection)


def reopen(apps: Any, editor: Any) -> None:
    for row, spec in _rows(apps):
        if row.sealed:
            secrets = unseal(row.sealed)
            _write(row, spec | {field: spec[field] | values for field, values in secrets.items()}, "")


def _rows(apps: Any) -> Any:
    for job in apps.get_model("jobs", "Job").objects.only("pk", "spec", "sealed").iterator():
        yield job, job.spec
    commands = apps.get_model("fleet", "Command").objects.filter(kind="start_runner")
    for command in commands.only("pk", "body", "sealed").iterator():
        yield command, command.body["message"]["spec"]


def _write(row: Any, spec: Any, sealed: str) -> None:
    rows, row_is_job = type(row).objects.filter(pk=row.pk), hasattr(row, "spec")
    if row_is_job:
        rows.update(spec=spec, sealed=sealed)
    else:
        rows.update(body=row.body | {"message": row.body["message"] | {"spec": spec}}, sealed=sealed)


def _forget(connection: Any) -> None:
    """What SQLite has freed stays in its file until it is written anew."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class Migration(migrations.Migration):
    atomic = False  # VACUUM runs outside of transactions; what is cut off in between, the next run does
    dependencies = [("jobs", "0018_job_sealed"), ("fleet", "0005_command_sealed")]

    operations = [migrations.RunPython(close, reopen)]
