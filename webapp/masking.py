"""Hiding what looks like a secret before it is shown, by the rules that nodes hide by as well."""

from __future__ import annotations

from agents.wire.masking import MASK, looks_secret, mask, mask_env

__all__ = ["MASK", "looks_secret", "mask", "mask_env"]
