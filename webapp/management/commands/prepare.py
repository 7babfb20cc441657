"""``manage.py prepare``: what must be in the database before the hub's programs start, in one process."""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


class Command(BaseCommand):
    help = "Bring the database up to date, and make a first operator where one is named."
    requires_system_checks: list[str] = []  # they read the whole API, and have passed before it was shipped

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--operator", default="", help="name of an account to make")
        parser.add_argument("--password-file", default=None, help="its password is in this file")

    def handle(self, *args: Any, operator: str, password_file: str | None, **options: Any) -> None:
        if not _is_up_to_date():
            call_command("migrate", interactive=False, skip_checks=True)
        if operator:
            call_command("make_user", operator, role="operator", password_file=password_file)


def _is_up_to_date() -> bool:
    """Found out without what ``migrate`` does besides, which takes a second even then."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
