"""``manage.py make_user NAME --role operator``: an account that can log in, or a new password for one."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from webapp.accounts.models import Account, FailedLogIn, Role


class Command(BaseCommand):
    help = "Make an account, or give one a new password. Prints the password if it was made up here."
    requires_system_checks: list[str] = []  # they read the whole API, and have passed before it was shipped

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", default="", help="viewer or operator; default: viewer, or as it is")
        parser.add_argument("--password-file", default=None, help="take the password from this file")

    def handle(self, *args: Any, name: str, role: str, password_file: str | None, **options: Any) -> None:
        """The password alone goes to the output; what was done is said beside it."""
        username, wanted = _checked_name(name), _checked_role(role)
        password = secrets.token_urlsafe(12) if password_file is None else _read(password_file)
        account, is_new = _save(username, wanted, password)
        self.stderr.write(_says(account, is_new), ending="\n", style_func=str)
        if password_file is None:
            self.stdout.write(password)


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise CommandError("A name is needed: make user NAME=anna, or make_user anna.")
    try:
        Account(username=name).clean_fields(exclude={"password"})
    except ValidationError as error:
        raise CommandError(
            f"{name!r} cannot be a name. Take letters, digits and @ . + - _, at most 150 of them."
        ) from error
    return name


def _checked_role(role: str) -> Role | None:
    if not role:
        return None
    if role not in Role.values:
        raise CommandError(
            f"There is no role {role!r}. Write viewer, who may look, or operator, who may act."
        )
    return Role(role)


@transaction.atomic
def _save(name: str, role: Role | None, password: str) -> tuple[Account, bool]:
    """Open sessions of the account end, for they hang on the password. Failed log-ins are forgotten."""
    account = Account.objects.filter(username=name).first() or Account(username=name)
    is_new = account.pk is None
    account.role = role or account.role
    account.is_active = True
    account.set_password(password)
    account.save()
    FailedLogIn.objects.filter(username=name).delete()
    return account, is_new


def _says(account: Account, is_new: bool) -> str:
    done = "is made" if is_new else "has a new password, and its sessions have ended"
    may = "look and act" if account.may_operate else "look"
    return f"The account {account.username} {done}. It is {_a(account.role)}: it may {may}."


def _a(role: str) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"


def _read(file: str) -> str:
    try:
        password = Path(file).read_text().strip()
    except OSError as error:
        raise CommandError(f"The password file {file} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"The password file {file} holds no text.") from error
    if not password:
        raise CommandError(f"The password file {file} is empty.")
    return password
