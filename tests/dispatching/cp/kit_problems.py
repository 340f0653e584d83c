"""Dispatching problems of a system like KIT ForHLR II, of any size: 98 % thin nodes, 2 % fat ones.

Jobs are the same whatever the size, but running jobs are as large as the system.
"""

from random import Random

from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem

THIN = {"core": 20, "mem": 64, "gpu": 0}
FAT = {"core": 48, "mem": 1024, "gpu": 4}


def kit_problem(
    seed: int, queued: int, nodes: int, *, busy: bool, largest: int = 32
) -> DispatchingProblem:
    """Return a problem with queued jobs on nodes that are idle, or of which nine in ten are busy.

    Jobs have up to `largest` units. Ten running jobs have whole nodes, side by side; six have parts
    of nodes.
    """
    random = Random(f"{seed} {queued}")
    fat = max(2, nodes // 56)
    system = System((NodeGroup("thin", nodes - fat, THIN), NodeGroup("fat", fat, FAT)))
    lines = ["job_id submit_time units core mem gpu requested_time start_time"]
    for job_id in range(16):
        begun, length = random.randint(0, 3000), random.randint(4000, 20000)
        units, core, mem = (nodes * 9) // 100, 20, 64
        if job_id >= 10:
            units, core, mem = random.randint(1, 3), random.randint(4, 12), random.randint(8, 32)
        if busy:
            lines.append(f"{job_id} {begun} {units} {core} {mem} 0 {length} {begun}")
    for job_id in range(100, 100 + queued):
        units = min(random.choice((1, 1, 1, 2, 2, 4, 8, 16, 32)), largest)
        core, mem, gpu = random.choice((1, 2, 4, 10, 20, 20)), random.choice((1, 4, 16, 60)), 0
        if random.random() < 0.15:
            units, gpu = min(units, 2), random.randint(1, 4)
        submitted, length = random.randint(0, 3000), random.randint(60, 7200)
        lines.append(f"{job_id} {submitted} {units} {core} {mem} {gpu} {length} -")
    return make_problem(system, "\n".join(lines), now=3000)
