"""Hiding what looks like a secret before it is shown or kept: in environments, addresses and texts.

Standard library only: runners and node agents hide the same as the hub.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

MASK = "••••••"

_PART = re.compile(r"[^A-Za-z0-9]+")
_ENDS = (
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "DSN",
)
_WORDS = frozenset({"PRIVATE", "AUTH", "AUTHORIZATION", "COOKIE", "PASS"})
_PASSWORD_IN_URL = re.compile(r"(?<=://)([^:/@\s]*):([^/@\s]+)@")
_FOLDERS = frozenset({"PWD", "OLDPWD"})
"""What shells call the folder they are in."""

SHORTEST = 6
"""A secret that is shorter would be found in texts where it is none."""


def looks_secret(name: str) -> bool:
    """Whether a variable of that name holds a secret, by the words it is made of."""
    parts = [part for part in _PART.split(name.upper()) if part]
    return any(part.endswith(_ENDS) or part in _WORDS for part in parts)


def mask_env(env: Mapping[str, Any], marked: Collection[str] = ()) -> dict[str, Any]:
    """The same names; values of those marked or looking secret hidden, and passwords in addresses."""
    return {
        name: MASK if (name in marked or looks_secret(name)) and value != "" else mask_addresses(value)
        for name, value in env.items()
    }


def mask_addresses(value: Any) -> Any:
    """A text with the passwords in its addresses hidden; anything else as it is."""
    return _PASSWORD_IN_URL.sub(rf"\1:{MASK}@", value) if isinstance(value, str) else value


def mask(value: Any) -> Any:
    """A copy of plain JSON values in which ``env``, ``rdzv_conf`` and ``code`` are masked, at any depth.

    Beside an ``env``, ``secret_env`` names variables that are secret too.
    """
    if isinstance(value, list):
        return [mask(item) for item in value]
    if not isinstance(value, dict):
        return value
    masks = {**_MASKS, "env": _env_mask(value.get("secret_env"))}
    return {key: masks.get(key, mask)(item) for key, item in value.items()}


def _env_mask(marked: Any) -> Callable[[Any], Any]:
    names = marked if isinstance(marked, list | tuple) else ()
    return lambda env: mask_env(env, names) if isinstance(env, dict) else mask(env)


def _mask_conf(conf: Any) -> Any:
    """Of ``rdzv_conf`` the password alone: its other keys are paths and times."""
    hidden = {"password": MASK} if isinstance(conf, dict) and conf.get("password") else {}
    return {**conf, **hidden} if isinstance(conf, dict) else mask(conf)


def _mask_source(code: Any) -> Any:
    """Of where code is fetched the ticket alone; in a spec it is a digest."""
    hidden = {"ticket": MASK} if isinstance(code, dict) and code.get("ticket") else {}
    return {**code, **hidden} if isinstance(code, dict) else mask(code)


_MASKS: dict[str, Callable[[Any], Any]] = {
    "rdzv_conf": _mask_conf,
    "code": _mask_source,
}


SEALED = ("env", "rdzv_conf")
"""Fields of a spec that hold secrets."""


def secrets_of(spec: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """What ``mask`` would change in these fields of a spec, as it is; fields without any are left out."""
    shown = mask(dict(spec))
    found = {
        field: {name: value for name, value in spec.get(field, {}).items() if shown[field][name] != value}
        for field in SEALED
    }
    return {field: values for field, values in found.items() if values}


def holds_secrets(spec: Mapping[str, Any]) -> bool:
    """Whether there are any, also where they are masked already."""
    shown = mask(dict(spec))
    return any(MASK in str(value) for field in SEALED for value in shown.get(field, {}).values())


def open_env(spec: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a spec that hold no secret."""
    shown = mask(dict(spec))["env"]
    return {name: value for name, value in spec["env"].items() if MASK not in shown[name]}


def secrets_in(*environments: Mapping[str, str], marked: Collection[str] = ()) -> tuple[str, ...]:
    """The values that ``mask_env`` hides, those long enough to be looked for in texts; the longest first."""
    found = {
        value
        for env in environments
        for name, value in env.items()
        if (name in marked or looks_secret(name)) and name not in _FOLDERS and len(value) >= SHORTEST
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def hide(text: str, secrets: tuple[str, ...]) -> str:
    """The text without these, and without the passwords of addresses."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return str(mask_addresses(text))
