"""Bearer tokens: shown once when they are made, kept as a digest."""

from __future__ import annotations

import hashlib
import logging
import secrets
from datetime import timedelta

from django.db import Error as DatabaseError
from django.db.models import Q
from django.utils import timezone

from webapp.database import without_waiting

from .models import Account, ApiToken

log = logging.getLogger("regroup.web")

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
    """Nobody waits for this: what could not be noted at once is noted with a later request."""
    now = timezone.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - _USE_NOTED_EVERY)
    if token.last_used_at is not None and token.last_used_at >= now - _USE_NOTED_EVERY:
        return
    try:
        with without_waiting():
            ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
    except DatabaseError as error:
        log.info("use of a token not noted token=%s error=%s", token.pk, error)
