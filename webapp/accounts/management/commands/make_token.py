"""``manage.py make_token NAME --role operator``: print a new API token and nothing else."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from webapp.accounts.models import Account, Role
from webapp.accounts.tokens import make_token


class Command(BaseCommand):
    help = "Print a new API token. An account is made if there is none of that name; it has no password."
    requires_system_checks: list[str] = []  # they read the whole API, and have passed before it was shipped

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", choices=Role.values, default=None)

    def handle(self, *args: Any, name: str, role: str | None, **options: Any) -> None:
        if not name.strip():
            raise CommandError("A name is needed: whose token is it? Write make_token NAME.")
        with transaction.atomic():
            account = _account(name.strip(), role)
            token = make_token(account)
        self.stdout.write(token)


def _account(name: str, role: str | None) -> Account:
    account, is_new = Account.objects.get_or_create(username=name, defaults={"role": role or Role.VIEWER})
    if is_new:
        account.set_unusable_password()
        account.save(update_fields=["password"])
    elif role is not None and account.role != role:
        raise CommandError(
            f"{name} is {_a(account.role)} already. A token has the role of its account: "
            f"leave --role out, choose another name, or change the role with make_user {name} --role {role}."
        )
    return account


def _a(role: str) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"
