"""Nodes and commands over HTTP."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router

from webapp.errors import ERRORS, not_found

from .answers import command_out
from .outbox import find_command
from .schemas import CommandOut

router = Router(tags=["nodes"])


@router.get("/commands/{id}", response={200: CommandOut, **ERRORS})
def look_at_command(request: HttpRequest, id: str) -> CommandOut:
    """How far a command has come, and what the node said."""
    command = find_command(id).select_related("by").first()
    if command is None:
        raise not_found(f"There is no command {id}.")
    return command_out(command)
