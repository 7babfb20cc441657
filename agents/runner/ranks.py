"""Which ranks a node's workers get. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from torch.distributed.elastic.agent.server.api import Worker


def make_workers(local_world_sizes: Sequence[int], group_rank: int) -> list[Worker]:
    """Those of the node of that group rank, given how many workers each node has, in order of group rank.

    All have one role, so ranks and sizes within the role are those within the world.
    """
    first, world_size = sum(local_world_sizes[:group_rank]), sum(local_world_sizes)
    return [
        Worker(
            local_rank=local_rank,
            global_rank=first + local_rank,
            role_rank=first + local_rank,
            world_size=world_size,
            role_world_size=world_size,
        )
        for local_rank in range(local_world_sizes[group_rank])
    ]
