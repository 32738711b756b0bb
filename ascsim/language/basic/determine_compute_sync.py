"""Blocks that take turns in the order of their numbers, for sums that must always come out alike.

A block may go on when the slots of all blocks before it hold the number of the round and the rest hold 0; the last
block of a round clears them all. The round stands in the block of 32 bytes behind the slots of `ub_workspace`, where
the author puts 1 before the first call; the workspace in global memory is zero before the launch (the vendor's
InitDetermineComputeWorkspace has no Python name). Pages: WaitPreBlock, NotifyNextBlock.
"""

from __future__ import annotations

from typing import Any

from ...hw.core import Core
from ...hw.findings import Site, author, place
from ...hw.turns import pass_turn, wait_turn
from ..core.place import running
from ..operand import BLOCK
from ..workspace import WORDS, Workspace, workspace


def wait_pre_block(gm_workspace: Any, ub_workspace: Any) -> None:
    """Wait until every block before this one has called notify_next_block in this round.

    `gm_workspace`: int32, 32 bytes a block, zero before the launch; `ub_workspace`: int32, 32 bytes a block and 32
    more, the first of which hold the round. Vector cores only. Faults: SYNC_WORKSPACE, DEADLOCK. Page: WaitPreBlock.
    """
    core, room, key, members = _turn("wait_pre_block", gm_workspace, ub_workspace, author(1))
    if room is None:
        return
    blocks, mine = core.device.blocks, core.index
    core.barrier_all(room.site)
    turn = room.word(blocks * WORDS)
    held = [room.slot(number) for number in range(blocks)]
    if key not in core.device.cross.boxes and any(held):
        room.fault(f"the slots hold {held} before the first call; rule: zero before the launch")

    def ready() -> bool:
        return all(room.slot(number) == (turn if number < mine else 0) for number in members)

    def why() -> str:
        now = [room.slot(number) for number in range(blocks)]
        return (
            f"{core.name} waits in wait_pre_block ({place(room.site)}) for {turn} in the slots before its own and 0 "
            f"in the others; they hold {now}"
        )

    wait_turn(key, core, ready, why, room.site, "wait_pre_block")
    room.load(0, blocks)


def notify_next_block(gm_workspace: Any, ub_workspace: Any) -> None:
    """End this block's turn: all its work so far comes before what the next block does after its wait_pre_block.

    Arguments as wait_pre_block; each block calls both equally often, in turns. Page: NotifyNextBlock.
    """
    core, room, key, members = _turn("notify_next_block", gm_workspace, ub_workspace, author(1))
    if room is None:
        return
    blocks, mine = core.device.blocks, core.index
    core.barrier_all(room.site)
    turn = room.word(blocks * WORDS)
    if mine == members[-1]:
        room.fill(0, blocks * WORDS, 0)
        room.store(0, blocks)
    else:
        room.fill(mine * WORDS, WORDS, turn)
        room.store(mine, 1, mine)
    room.fill(blocks * WORDS, 1, turn + 1)
    pass_turn(key, core)  # the next block finds the word: its polls follow this store


def _turn(operation: str, gm: Any, ub: Any, site: Site) -> tuple[Core, Workspace | None, Any, list[int]]:
    """The core, the workspace, the key of its turns, and the blocks that take part: all that are simulated."""
    core = running(operation)
    blocks = core.device.blocks
    room = workspace(core, gm, ub, blocks * BLOCK, (blocks + 1) * BLOCK, operation, site)
    if room is None:
        return core, None, None, []
    if core.index >= blocks:
        room.fault(f"{core.name} has no slot, there are {blocks}; rule: one vector core a block")
        return core, None, None, []
    members = sorted(place.index for place in core.device.places if place.kind == "aiv" and place.index < blocks)
    return core, room, ("turn", room.array, room.start), members


__all__ = ["notify_next_block", "wait_pre_block"]
