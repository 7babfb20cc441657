"""What the fork server of a test's job imports: what its script has a use for, and no more.

The import of torch takes seconds, and that of its optimizers, which follows it, as long.
"""

from __future__ import annotations

from pathlib import Path


def preload_of(script: str | None) -> dict[str, tuple[str, ...]]:
    """The field of the spec; none where its default is right, or nobody can tell."""
    try:
        text = "" if script is None else Path(script).read_text()
    except OSError:
        return {}
    if script is None or "torch._dynamo" in text:
        return {}
    return {"preload": ("torch.distributed",) if "torch" in text else ()}
