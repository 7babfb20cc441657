"""Why a node gets no jobs, and how far its draining has come: sentences, from what is known of it."""

from __future__ import annotations

from collections.abc import Sequence

from .models import Node


def say_drained_by(node: Node) -> str:
    """``drained by anna: a new disk``: why whatever leaves it does so."""
    by = f" by {node.drained_by.username}" if node.drained_by else ""
    reason = node.drain_reason.strip().rstrip(".")
    return f"drained{by}: {reason}" if reason else f"drained{by}"


def say_takes_no_jobs(node: Node, jobs: Sequence[int], keeps: Sequence[int]) -> str:
    """Empty when it takes jobs. ``jobs`` hold slots there; of ``keeps`` no more than the store is left."""
    if node.draining_since is None:
        return say_set_aside(node)
    by = say_drained_by(node).removeprefix("drained")
    if not jobs and not keeps:
        return f"Drained{by}. Nothing of any job is left."
    left = [f"{_named(jobs)} not left it yet"] if jobs else []
    left += [f"the store of {_jobs(keeps)} is still kept here"] if keeps else []
    return f"Draining{by}. {_capital('; '.join(left))}."


def say_set_aside(node: Node) -> str:
    if node.set_aside_at is None:
        return ""
    return (
        f"Set aside at {node.set_aside_at:%H:%M:%S} UTC, as it came back to a job {len(node.comings)} times "
        "within ten minutes. It gets no jobs until somebody says that it may be used again."
    )


def _named(jobs: Sequence[int]) -> str:
    return f"{_jobs(jobs)} {'has' if len(set(jobs)) == 1 else 'have'}"


def _jobs(jobs: Sequence[int]) -> str:
    words = [str(job) for job in sorted(set(jobs))]
    if len(words) == 1:
        return f"job {words[0]}"
    return f"jobs {', '.join(words[:-1])} and {words[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
