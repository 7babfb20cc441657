"""Bearer tokens: shown once when they are made, kept as a digest."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from .models import Account, ApiToken

_USE_NOTED_EVERY = timedelta(minutes=1)


def _digest(token: str) -> str:
    # The token has 256 random bits, so that a plain digest cannot be guessed back.
    return hashlib.sha256(token.encode()).hexdigest()


def make_token(account: Account) -> str:
    """A new token of that account: ``rg_`` and 43 characters. It cannot be shown again."""
    token = f"rg_{secrets.token_urlsafe(32)}"
    ApiToken.objects.create(account=account, digest=_digest(token))
    return token


def find_account(token: str) -> Account | None:
    """Whose token it is; None when it is nobody's or the account is closed."""
    found = ApiToken.objects.select_related("account").filter(digest=_digest(token)).first()
    if found is None or not found.account.is_active:
        return None
    _note_use(found)
    return found.account


def _note_use(token: ApiToken) -> None:
    now = timezone.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - _USE_NOTED_EVERY)
    if token.last_used_at is None or token.last_used_at < now - _USE_NOTED_EVERY:
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
