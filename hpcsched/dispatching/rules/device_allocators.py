"""Allocators of units with devices, by scores of nodes, as published for GPUs that are shared.

The definitions are those of Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads
with Fragmentation Gradient Descent (USENIX ATC 2023), and of the simulator published with it. A
unit goes to the node with the highest score of those with room. Nodes with equal scores come in an
order that is drawn once. Scores are cut to whole numbers, so that many are equal. They look at all
resource types but memory, which only decides where a unit fits. A share of a device goes to the
fullest device with room, the first of several; whole devices are the first free ones.

The publication leaves some choices, which the outcomes published with it decide (means of ten runs
for each of 13 workloads, in points of allocation):

- Equal nodes: with an order drawn once, all agree; with the first one in the list, clustering and
  packing are 0.8 points lower; drawn at each decision, `fgd` is 2.8 lower and they are 3.3 lower.
- Scores that are not cut to whole numbers: `fgd` is 0.8 points lower, `dot-product` 0.7.
- A share on the emptiest device: `dot-product` is 1.4 points lower, `gpu-best-fit` 1.0. On the
  first one with room, all are within 0.1.
"""

from random import Random as Generator
from typing import Self

import numpy as np

from hpcsched import _core
from hpcsched.dispatching.allocator import Room
from hpcsched.dispatching.rules.allocators import CoreAllocator
from hpcsched.errors import Finding, InputError
from hpcsched.parameters import Params
from hpcsched.registration import Context, builtin
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NOT_SCORED, System

NO_SCORES = "an allocator by scores needs a replay that the core decides"


class ScoreAllocator(CoreAllocator):
    """Base of the allocators by scores.

    Parameters
    ----------
    seed
        Seed of the order of equal nodes, and of what `random` draws.
    """

    @classmethod
    def build(cls, _params: Params, context: Context) -> Self:
        """Create the allocator with the seed of the scenario."""
        return cls(context.seed % (1 << 62))

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Raise InputError: scores need a replay that the core decides."""
        del units, room
        raise InputError(Finding("no-devices", NO_SCORES, key="dispatcher"))

    def prepare(self, state: _core.State, system: System) -> None:
        """Tell a replay how nodes are compared."""
        order = np.arange(system.node_count).tolist()
        Generator(self._seed).shuffle(order)
        weighed = [name != NOT_SCORED for name in system.resource_types]
        parts = 1 if system.devices is None else system.devices.parts
        state.set_scores(order, weighed, self._seed, parts)


@builtin(
    "allocator",
    "fgd",
    Params,
    summary="nodes and devices where the free GPUs lose least of their use to the usual jobs",
)
class FragmentationGradientDescent(ScoreAllocator):
    """Fragmentation gradient descent (FGD).

    The fragmentation of a node is the amount of its free devices that a usual request cannot use,
    on average over these: all that is free if the request cannot run there or asks for no device,
    otherwise what is left on devices with too little. A node scores 100 / (1 + e^-d), where d is
    the fall of its fragmentation, in devices, if the unit goes there; a share is tried on every
    device.

    The usual requests are the most common ones of the jobs submitted so far that make up 95 % of
    these, learnt anew whenever their number has doubled. The publication takes those of the whole
    workload, which nobody knows before its end. Of 90 % instead of 95 %, it is up to 1.1 points
    off what was published; without the requests for no device, 0.4.
    """

    kind = _core.Allocator.FGD


@builtin("allocator", "gpu-packing", Params)
class GpuPacking(ScoreAllocator):
    """Allocator: GPUs in use first, then free ones of nodes in use, then unused nodes.

    A share goes to a device in use, the fullest first (scores 90 to 100).

    Then come free devices of nodes with devices in use (49 for a share, 50 less the number of
    devices asked, at least 33), then nodes without any, those with few devices first. All nodes are
    equal for a unit without devices.
    """

    kind = _core.Allocator.GPU_PACKING


@builtin("allocator", "gpu-clustering", Params)
class GpuClustering(ScoreAllocator):
    """Allocator: nodes that run units of the same number of GPUs, or shares, and no others.

    The size of a unit is a share, or its number of devices.

    Nodes that run units of this size alone score 75, with others too 50, nodes without units with
    devices 25, nodes that run others alone 0; and up to 25 more by the amount of devices in use,
    over the largest number of devices of a node, where those that a node lacks count as in use.
    All nodes are equal for a unit without devices. Units of the same job are no company.
    """

    kind = _core.Allocator.GPU_CLUSTERING


@builtin("allocator", "dot-product", Params)
class DotProduct(ScoreAllocator):
    """Allocator: nodes where the product of free and requested amounts is least.

    Dot product of the free and the requested amounts, each over the largest node's capacity.

    A node scores 100 × (1 − product / number of resource types), without memory. Over the node's
    own capacity it is up to 2.1 points off what was published.
    """

    kind = _core.Allocator.DOT_PRODUCT


@builtin("allocator", "gpu-best-fit", Params)
class GpuBestFit(ScoreAllocator):
    """Allocator: nodes where least stays free, over the largest node's capacity.

    What stays free is an average over resource types.

    A node scores 100 × (1 − this mean). With memory as a third type it is 0.8 points below what was
    published. `best-fit` compares with the node's own capacity instead,
    before the unit is placed, and does not cut scores.
    """

    kind = _core.Allocator.GPU_BEST_FIT


@builtin("allocator", "random", Params)
class RandomNode(ScoreAllocator):
    """Allocator: any node with room, and any such device.

    Each node with room is as likely as any other, and so is each device for a share.
    """

    kind = _core.Allocator.RANDOM
