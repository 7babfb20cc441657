"""Passwords of tests need no protection, and the real number of rounds costs a third of a second each."""

from __future__ import annotations

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class QuickHasher(PBKDF2PasswordHasher):
    """What it makes, the hub's own processes can check: the number of rounds is part of it."""

    iterations = 1
