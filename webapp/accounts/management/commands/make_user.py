"""``manage.py make_user NAME --role operator``: an account that can log in, or a new password for one."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.accounts.models import Account, Role


class Command(BaseCommand):
    help = "Make an account, or give one a new password. Prints the password if it was made up here."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", choices=Role.values, default=None, help="default: viewer, or as it is")
        parser.add_argument("--password-file", default=None, help="take the password from this file")

    def handle(
        self, *args: Any, name: str, role: str | None, password_file: str | None, **options: Any
    ) -> None:
        if not name.strip():
            raise CommandError("A name is needed. Write make_user NAME.")
        password = secrets.token_urlsafe(12) if password_file is None else _read(password_file)
        account = Account.objects.filter(username=name.strip()).first() or Account(username=name.strip())
        account.role = role or account.role
        account.is_active = True
        account.set_password(password)
        account.save()
        if password_file is None:
            self.stdout.write(password)


def _read(file: str) -> str:
    try:
        password = Path(file).read_text().strip()
    except OSError as error:
        raise CommandError(f"The password file {file} cannot be read ({error.strerror}).") from error
    if not password:
        raise CommandError(f"The password file {file} is empty.")
    return password
