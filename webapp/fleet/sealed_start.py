"""A command as its node gets it: secrets, which no row holds open, are sealed for that node as it is sent."""

from __future__ import annotations

import json
from typing import Any

from agents.wire.sealing import name_of, seal
from webapp.sealing import KeyTrouble, Secrets, unseal

from .models import Command, Node


def body_for_node(command: Command) -> dict[str, Any]:
    """What is sent.

    Raises:
        KeyTrouble: the secrets cannot be opened here, or not be sealed for the node.
    """
    if not command.sealed:
        return dict(command.body)
    secrets, message = unseal(command.sealed), command.body["message"]
    name = name_of(message["attempt"], message["node"])
    hidden = {"spec": _without(message["spec"], secrets), "sealed": _seal(secrets, command.node, name)}
    return {**command.body, "message": message | hidden}


def _seal(secrets: Secrets, node: str, name: str) -> str:
    facts = Node.objects.filter(name=node).values_list("facts", flat=True).first() or {}
    try:
        return seal(json.dumps(secrets), facts.get("secrets_key") or "", name)
    except ValueError as error:
        raise KeyTrouble(
            f"{node} has announced no key to seal secret variables with. "
            "Bring its node agent to the hub's release."
        ) from error


def _without(spec: dict[str, Any], secrets: Secrets) -> dict[str, Any]:
    left = {
        field: {name: value for name, value in spec[field].items() if name not in values}
        for field, values in secrets.items()
    }
    return spec | left
