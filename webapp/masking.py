"""Hiding what looks like a secret before it is shown, by the rules that nodes hide by as well."""

from __future__ import annotations

from agents.wire.masking import MASK, holds_secrets, looks_secret, mask, mask_env, open_env, secrets_of

__all__ = ["MASK", "holds_secrets", "looks_secret", "mask", "mask_env", "open_env", "secrets_of"]
