"""MIG: the slices into which GPUs can be divided, and where on a GPU each may lie.

The profiles and their placements are those of the NVIDIA Multi-Instance GPU User Guide (RN-08625,
Supported MIG Profiles; `nvidia-smi mig -lgip` and `-lgipp`). A GPU has 7 compute and 8 memory
slices. Placements tell all: no set of disjoint ones needs more than 7 compute slices. Profiles with
media extensions (`+me`) are left out.
"""

from typing import NamedTuple

MEMORY_SLICES = 8
_COMPUTE_SLICES = 7

MIG_SHARES = 2 * MEMORY_SLICES * _COMPUTE_SLICES
"""Shares of a GPU that is sliced: the amounts of all profiles are whole numbers of them."""


class MigProfile(NamedTuple):
    """Slice of a GPU.

    Attributes
    ----------
    amount
        Shares of the GPU: the mean of its parts of compute and of memory. It differs from that of
        any other profile.
    placements
        Sets of memory slices that it may take, as bits. They are disjoint, and those come first
        that leave room for large slices, which begin at the front.
    """

    name: str
    amount: int
    placements: tuple[int, ...]


_SLICES = (
    (1, 1, (6, 5, 4, 3, 2, 1, 0)),
    (1, 2, (6, 4, 2, 0)),
    (2, 2, (4, 2, 0)),
    (3, 4, (4, 0)),
    (4, 4, (0,)),
    (7, 8, (0,)),
)
"""Compute slices and memory slices of each profile, and its first memory slice."""


def _profiles(gigabytes: int) -> tuple[MigProfile, ...]:
    return tuple(
        MigProfile(
            f"{compute}g.{memory * gigabytes // MEMORY_SLICES}gb",
            memory * _COMPUTE_SLICES + compute * MEMORY_SLICES,
            tuple(((1 << memory) - 1) << start for start in starts),
        )
        for compute, memory, starts in _SLICES
    )


MIG_PROFILES = {"a100-40gb": _profiles(40), "a100-80gb": _profiles(80), "h100-80gb": _profiles(80)}
"""Profiles of each model of GPU."""
