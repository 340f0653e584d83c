"""The blocks `preempt` and `checkpoint`, and the rules of preemption that follow."""

from collections.abc import Iterator, Mapping, Sequence

from hpcsched.parameters import Duration, Params, PositiveDuration
from hpcsched.scenario.policy_declarations import QosDeclaration
from hpcsched.scenario.system import PartitionDeclaration, build_partitions
from hpcsched.workload.preemption import (
    Checkpoints,
    PreemptBy,
    PreemptClass,
    Preemption,
    PreemptMode,
    by_tiers,
)

_LARGEST_PRIORITY = 2**16 - 1
"""Priority of a QOS from which on Slurm's preempt/qos takes all for equal."""


class PreemptDeclaration(Params):
    """Preemption of running jobs by waiting ones."""

    by: PreemptBy
    """What decides who preempts whom: 'preempts' of a qos, the tier of a partition, or priority:
    jobs preempt those that come later in the dispatcher's order."""
    mode: PreemptMode = "requeue"
    """What is done to a preempted job, unless its partition or qos says otherwise."""
    exempt: Duration = 0
    """Run time before which no job is preempted: seconds, or with a unit (30min)."""
    grace: Duration = 0
    """Time from the preemption of a job to its end: seconds, or with a unit; none before a
    suspension."""
    youngest_first: bool = False
    """Preempt the jobs that started last first (Slurm's preempt_youngest_first), and not those of
    the lowest priority and the fewest nodes."""
    requeue_delay: Duration = 0
    """Time from the end of a job that is requeued until it may start again: seconds, or with a unit
    (Slurm: 1 s more than cred_expire of AuthInfo)."""


class CheckpointDeclaration(Params):
    """Checkpoints of jobs, from which they go on after a failure or preemption."""

    every: PositiveDuration
    """Work between two checkpoints: seconds, or with a unit (1h)."""
    cost: Duration = 0
    """Time to write a checkpoint: seconds, or with a unit."""
    restart: Duration = 0
    """Time to read a checkpoint: seconds, or with a unit."""

    def build(self) -> Checkpoints:
        """Return the checkpoints that are declared."""
        return Checkpoints(self.every, self.cost, self.restart)


def build_preemption(
    declared: PreemptDeclaration | None,
    partitions: Sequence[PartitionDeclaration],
    qos: Mapping[int | str, QosDeclaration],
) -> Preemption | None:
    """Return the rules of preemption; None without any, and without tiers."""
    built = build_partitions(partitions)
    if declared is None:
        ranked = len({partition.tier for partition in partitions}) > 1
        return Preemption("priority", (), built) if ranked else None
    shared = declared.mode, declared.exempt, declared.grace
    classes = [PreemptClass("", *shared, 0)]
    if declared.by == "partition":
        below = by_tiers({one.name: one.tier for one in partitions})
        classes = [
            PreemptClass(
                one.name,
                one.preempt_mode or declared.mode,
                declared.exempt,
                declared.grace if one.grace is None else one.grace,
                one.tier,
                below[one.name],
            )
            for one in partitions
        ]
    if declared.by == "qos":
        classes = [
            PreemptClass(
                str(name),
                one.mode or declared.mode,
                declared.exempt if one.exempt is None else one.exempt,
                declared.grace if one.grace is None else one.grace,
                int(min(one.priority, _LARGEST_PRIORITY)),
                frozenset(map(str, one.preempts)),
            )
            for name, one in qos.items()
        ]
    numbers = declared.youngest_first, declared.requeue_delay
    return Preemption(declared.by, tuple(classes), built, *numbers)


def preemption_faults(
    declared: PreemptDeclaration,
    partitions: Sequence[PartitionDeclaration],
    qos: Mapping[int | str, QosDeclaration],
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the keys that do not let jobs preempt one another as declared, and what is wrong."""
    if declared.by == "partition" and not partitions:
        yield ("preempt", "by"), "there are no partitions; expected some, with a 'tier'"
    if declared.by != "qos":
        return
    if not any(one.preempts for one in qos.values()):
        yield ("preempt", "by"), "no qos preempts another; expected some with 'preempts'"
    above: dict[str, set[str]] = {str(name): set(map(str, qos[name].preempts)) for name in qos}
    for name, named in above.items():
        unknown = sorted(named - above.keys())
        if unknown:
            yield ("qos", name, "preempts"), f"there is no qos {unknown[0]!r}"
        below: set[str] = set()
        while new := {more for one in below | {name} for more in above.get(one, ())} - below:
            below |= new
        if name in below:
            yield ("qos", name, "preempts"), "expected no qos that preempts itself, or in a circle"
