"""Log-in and who am I."""

from __future__ import annotations

from typing import Literal

from ninja import Schema

RoleWord = Literal["viewer", "operator"]


class LogIn(Schema):
    username: str
    password: str


class Me(Schema):
    name: str
    role: RoleWord


class NewPassword(Schema):
    current: str
    new: str
