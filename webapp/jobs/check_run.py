"""One run of the checks, as it is kept in Redis while it goes on: whom it asks, and what they answered."""

from __future__ import annotations

from datetime import datetime

from ninja import Schema
from pydantic import Field

from agents.wire.checks import CheckNode, CheckNodeAnswer, Step

LOOK_S, MEET_S = 17.0, 6.0
"""What each step may take: a little more than what the nodes allow themselves."""


class CheckRun(Schema):
    id: str
    began_at: datetime
    asked_at: float
    """When the step that goes on began, in seconds since the epoch."""
    step: Step = "look"
    """clear: all answers are in."""
    nodes: list[str]
    addresses: dict[str, str]
    clocks: dict[str, float | None]
    """How far each node's clock is ahead of the hub's."""
    host: str = ""
    """Who would keep the store. Empty: none of them."""
    endpoint: str = ""
    """Where the store would be; of one that the host picks, once it is picked."""
    is_one_machine: bool = False
    checkpoint_dir: str | None = None
    workdir: str | None = None
    looked: dict[str, CheckNodeAnswer] = Field(default_factory=dict)
    met: dict[str, CheckNodeAnswer] = Field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.step == "clear"

    @property
    def asked(self) -> list[str]:
        """Who answers in this step: nobody who was silent in the first is asked again."""
        return self.nodes if self.step == "look" else sorted(self.looked)

    @property
    def answers(self) -> dict[str, CheckNodeAnswer]:
        """Of the step that goes on."""
        return self.looked if self.step == "look" else self.met

    def has_all(self, now: float) -> bool:
        limit = LOOK_S if self.step == "look" else MEET_S
        return len(self.answers) >= len(self.asked) or now - self.asked_at > limit

    def go_on(self, now: float) -> None:
        """The next step; of the first it is known then where the host listens."""
        if self.step == "look" and self.host:
            host = self.looked.get(self.host)
            self.endpoint = host.endpoint if host else ""
        self.step, self.asked_at = ("meet" if self.step == "look" else "clear"), now

    def wrote(self) -> tuple[str, ...]:
        """Those that left a file in the checkpoint folder."""
        failed = {
            node
            for node, answer in self.looked.items()
            if any(found.check == "checkpoints" and found.verdict == "fail" for found in answer.findings)
        }
        return tuple(sorted(set(self.looked) - failed))

    def later_request(self, node: str) -> CheckNode:
        """For all steps but the first, which needs what the job asks for."""
        return CheckNode(
            id=self.request_id(node),
            run=self.id,
            step=self.step,
            workdir=self.workdir,
            checkpoint_dir=self.checkpoint_dir,
            nodes=self.wrote(),
            local_addr=self.addresses[node],
            endpoint=self.endpoint,
        )

    def request_id(self, node: str) -> str:
        return f"check-{self.id}-{self.step}-{node}"
