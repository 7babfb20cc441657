"""Why a round began, in words, from what is known of the round before it."""

from __future__ import annotations

from datetime import datetime

from agents.wire.lifecycle import Phase
from webapp.events.sentences import gone_gpus
from webapp.fleet.models import Command

from .folded import runner_of
from .models import Member, Round, Worker
from .words import count, ended, listed


def explain_round(row: Round) -> None:
    """Write the reason on the round; again whenever more is known."""
    why = _why(row)
    if why != row.why:
        row.why = why
        Round.objects.filter(pk=row.pk).update(why=why)


def _why(row: Round) -> str:
    if row.cause == "failure":
        return _with_fewer(row, failure_words(row.attempt_id, row.number - 1, row.charged))
    if row.cause == "membership":
        return _with_fewer(row, _membership_words(row))
    return ""


def _with_fewer(row: Round, why: str) -> str:
    """And which nodes have fewer workers from then on, as their GPUs are gone."""
    gone = {node: runner_of(member).gone_gpus for node, member in _members(row).items() if node in row.nodes}
    parts = [f"{node} goes on{gone_gpus(uuids)}" for node, uuids in gone.items() if uuids]
    return f"{why}; {listed(parts)}" if why and parts else why


def failure_words(attempt_id: str, round_number: int, charged: str = "") -> str:
    """The first cause among the workers of that round; empty while none is known."""
    failed = Worker.objects.filter(attempt_id=attempt_id, round=round_number)
    causes = failed.filter(role="cause")
    if charged and causes.filter(node=charged).exists():
        causes = causes.filter(node=charged)
    worker = causes.order_by("ended_at", "rank").first()
    # Of workers that ended with their fork server it is not known how each would have.
    for role in ("unknown", "peer_lost"):
        worker = worker or failed.filter(role=role).order_by("ended_at", "rank").first()
    if worker is None:
        return f"A worker failed on {charged}" if charged else ""
    return ended(worker.rank, worker.node, worker.said) + by_hand(worker)


def by_hand(worker: Worker) -> str:
    """Who killed that very process by the button, and with what reason."""
    command = kill_of(worker)
    return "" if command is None else _say_by(command)


def _say_by(command: Command) -> str:
    who = command.by.username if command.by else "Regroup"
    return f" by {who} ({command.why.rstrip('.')})" if command.why else f" by {who}"


def kill_of(worker: Worker) -> Command | None:
    return (
        Command.objects.filter(
            kind="kill_worker",
            attempt=worker.attempt_id,
            body__pid=worker.pid,
            body__start_time=worker.start_time,
        )
        .exclude(state__in=("refused", "undelivered"))
        .select_related("by")
        .order_by("-created_at")
        .first()
    )


# -- who came and who left -----------------------------------------------------------------


def _membership_words(row: Round) -> str:
    before = Round.objects.filter(attempt_id=row.attempt_id, number=row.number - 1).first()
    if before is None:
        return ""
    members = _members(row)
    left = [node for node in before.nodes if node not in row.nodes]
    again = [node for node in row.nodes if has_died_since(members.get(node), before.formed_at)]
    came = [node for node in row.nodes if node not in before.nodes and node not in again]
    parts = [_gone(node, members.get(node), row.absent.get(node, ""), before.formed_at) for node in left]
    parts += [_again(node, members[node], before.formed_at) for node in again]
    parts += [f"{listed(came)} joined"] if came else []
    return _begin(listed(parts)) or f"The same {count(len(row.nodes), 'node')} formed anew"


def coming_words(newest: Round) -> str:
    """Why the members of that round leave it, when none of its workers has failed."""
    members = _members(newest)
    going = [node for node in newest.nodes if _is_going(members.get(node))]
    coming = [node for node, member in members.items() if node not in newest.nodes and _is_coming(member)]
    parts = [_gone(node, members.get(node), "", newest.formed_at) for node in going]
    return _begin(listed(parts + ([f"{listed(coming)} joined"] if coming else [])))


def _members(row: Round) -> dict[str, Member]:
    return {member.node: member for member in Member.objects.filter(attempt=row.attempt_id).order_by("node")}


def _is_going(member: Member | None) -> bool:
    return member is not None and (member.leaves_at is not None or member.phase == Phase.ENDED.value)


def _is_coming(member: Member) -> bool:
    return member.leaves_at is None and member.phase == Phase.RENDEZVOUS.value


def has_died_since(member: Member | None, formed_at: datetime) -> bool:
    """Whether a runner of the node has, in whose place there is another one by now."""
    deaths = member.deaths if member else []
    return bool(deaths) and datetime.fromisoformat(deaths[-1]) >= formed_at


def _again(node: str, member: Member, since: datetime) -> str:
    return f"the runner on {node} died{_killed_by(member, since)} and has been started again"


def _killed_by(member: Member, since: datetime) -> str:
    """Who killed the node's runner by the button since then, and with what reason."""
    killed = Command.objects.filter(kind="kill_runner", attempt=member.attempt_id, node=member.node)
    killed = killed.filter(created_at__gte=since).exclude(state__in=("refused", "undelivered"))
    command = killed.select_related("by").order_by("-created_at").first()
    return "" if command is None else f", killed{_say_by(command)}"


def _gone(node: str, member: Member | None, absent: str, since: datetime) -> str:
    """Why a node is not in the round, as far as it is known: asked to leave, silent, or its runner ended."""
    if member is None:
        return f"{node} left"
    runner = runner_of(member)
    if runner.died and runner.reason:
        return _inside(runner.reason) + _killed_by(member, since)
    if has_died_since(member, since):
        return f"the runner on {node} died{_killed_by(member, since)}"
    if member.leaves_why and "lapsed" not in absent:
        return f"{node} left ({member.leaves_why.rstrip('.')})"
    if runner.has_left:
        return f"{node} left, as its runner was told to by something other than Regroup"
    return f"{node} left" if absent in ("", "it left") else f"{node} is gone: {absent}"


def _inside(reason: str) -> str:
    """A sentence as part of another one."""
    reason = reason.rstrip(".")
    return reason[:1].lower() + reason[1:] if reason.startswith("The ") else reason


def _begin(words: str) -> str:
    """As a sentence begins; the name of a node stays as it is."""
    return f"The{words[3:]}" if words.startswith("the ") else words
