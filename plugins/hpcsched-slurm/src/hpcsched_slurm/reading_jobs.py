"""Jobs of a cluster, as Slurm lists them in JSON.

Amounts become CPUs and bytes; every other resource is counted by its name. Jobs get whole cores.
"""

import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hpcsched.system.cluster import ClusterJob, Ending, Phase
from hpcsched.system.host_lists import expand
from hpcsched_slurm.arrays import first_array_number, task_ranges
from hpcsched_slurm.job_rules import NO_CLUSTER_RULES, Rules
from hpcsched_slurm.reading_nodes import MEBIBYTE, Node, resources_of
from hpcsched_slurm.syntax.constraints import Constraint, constraint_choices
from hpcsched_slurm.syntax.gres import Gres, offers, read_gres, resource_type, totals
from hpcsched_slurm.versions import FAULT, FAULTS, fault_in_words, whole

RUNNING = frozenset(
    [
        "RUNNING",
        "COMPLETING",
        "SUSPENDED",
        "CONFIGURING",
        "STAGE_OUT",
        "RESIZING",
        "SIGNALING",
        "STOPPED",
    ]
)
_PENDING = frozenset({"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT"})
_KILLED = frozenset({"TIMEOUT", "DEADLINE", "OUT_OF_MEMORY", "PREEMPTED"})
_TRES = ("tres_per_node", "tres_per_job", "tres_per_socket", "tres_per_task")
_SHARED_WITH_SOME = frozenset({"user", "mcs", "topo"})
"""Ways in which the jobs of some share nodes with each other, and with none else."""


class Terms(NamedTuple):
    """Terms of reading jobs: the mark of held jobs, and seconds for a job without a limit."""

    mark: str
    no_limit: int


def number_of(name: str) -> int:
    """Return a number that always stands for a name, such as a partition's."""
    return zlib.crc32(name.encode())


class JobReader:
    """Reads jobs of a cluster with certain nodes."""

    def __init__(
        self,
        nodes: tuple[Node, ...],
        terms: Terms,
        now: float,
        rules: Rules = NO_CLUSTER_RULES,
    ) -> None:
        self._rules = rules
        self._nodes = nodes
        self._terms = terms
        self._now = now
        self._threads = max([1, *(node.threads for node in nodes)])
        self._whole = {node.name: resources_of(node) for node in nodes}
        self.faults: dict[str, str] = {}
        self._most_cpus = max([1, *(node.cpus for node in nodes)])
        self._threads_of = {node.name: node.threads for node in nodes}
        # Of these, each node has as many for all jobs together as for one.
        self._shared = {
            resource_type(one.name) for node in nodes for one in node.gres if not one.consumed
        }
        self._usable: dict[tuple[object, ...], frozenset[str] | None] = {}
        self.most_tasks: dict[int, int] = {}

    def read(self, job: Mapping[str, Any]) -> list[ClusterJob]:
        """Return a job, or the tasks of an array that wait, each as a job of its own.

        One that is not understood is left to Slurm; while it runs, it holds its nodes. Of one
        whose number is not understood there is nothing. `faults` has the first of each kind.
        """
        try:
            if FAULT in job:
                raise ValueError(job[FAULT])
            return list(self._read(job))
        except FAULTS as error:
            fault = fault_in_words(error)
            self.faults.setdefault(fault, str(job.get("job_id", "without a number")))
            return list(self._not_understood(job, fault))

    def _not_understood(self, job: Mapping[str, Any], fault: str) -> Iterator[ClusterJob]:
        number, state = job.get("job_id"), str(job.get("job_state"))
        try:
            names = expand(str(job.get("nodes") or ""))
        except ValueError:
            names = ()
        # Without a state, the nodes of a job are taken to be in use.
        running = state in RUNNING or (job.get("job_state") is None and bool(names))
        placed = {n: self._whole[n] for n in names if n in self._whole}
        if not isinstance(number, int) or not (placed if running else state in _PENDING):
            return
        array, task = job.get("array_job_id"), job.get("array_task_id")
        array = array if isinstance(array, int) else None
        one = array and isinstance(task, int)
        yield ClusterJob(
            f"{array}_{task}" if one else str(array or number),
            number,
            "running" if running else "waiting",
            str(job.get("partition")),
            int(self._now),
            self._terms.no_limit,
            1,
            {},
            held=state in _PENDING
            and job.get("priority") == 0
            and job.get("admin_comment") == self._terms.mark,
            start_time=int(self._now) if running else None,
            placed=placed,
            unknown=f"something that is not understood: {fault}",
        )

    def _read(self, job: Mapping[str, Any]) -> Iterator[ClusterJob]:
        array, task = whole(job, "array_job_id"), job["array_task_id"]
        # Every task tells it: the record of those that wait together ends with the last of them.
        if array and job.get("array_max_tasks"):
            self.most_tasks[array] = whole(job, "array_max_tasks")
        if array and task is not None:
            yield self._job(
                job, f"{array}_{task}", first_array_number(array) + whole(job, "array_task_id")
            )
        elif array and job["array_task_string"]:
            tasks, most = task_ranges(str(job["array_task_string"]))
            if most is not None:
                self.most_tasks[array] = most
            model = self._job(job, str(array), 0)
            for number in tasks:
                yield model._replace(
                    key=f"{array}_{number}", job_id=first_array_number(array) + number
                )
        else:
            yield self._job(job, str(job["job_id"]), whole(job, "job_id"))

    def _job(self, job: Mapping[str, Any], key: str, number: int) -> ClusterJob:
        units, amounts, asked, whole_memory = self._request(job)
        phase, why = self._phase(job)
        admitting, refusal = self._rules.admitting(job, units, amounts)
        # One that was told to start holds its nodes, whatever the limits are now.
        released = bool(job["required_nodes"]) and not self._marked(job)
        if phase == "waiting" and not admitting and not released:
            phase, why = "blocked", refusal
        alone = job["shared"] == "none" or self._rules.exclusive(admitting)
        started = phase in {"running", "ended"} and bool(job["nodes"])
        if phase == "running" and not started:
            raise ValueError("field nodes: expected those of a running job, found none")
        limit = job["time_limit"]
        partitions = str(job["partition"]).split(",")
        allowed = self._allowed(job, asked, units, admitting or tuple(partitions))
        found = ClusterJob(
            key,
            number,
            phase,
            partitions[0],
            whole(job, "submit_time"),
            self._terms.no_limit if limit is None else max(1, whole(job, "time_limit") * 60),
            units,
            amounts,
            one_unit_per_node=units > 1,
            exclusive=alone or whole_memory,
            allowed=allowed,
            held=phase == "waiting" and self._marked(job),
            why=why,
            wanted=expand(str(job["required_nodes"] or "")),
            start_time=whole(job, "start_time") if started else None,
            end_time=whole(job, "end_time") if phase == "ended" else None,
            ending=_ending(job, started=started) if phase == "ended" else None,
            placed=_placed(job, amounts, self._threads_of) if started else {},
            user=whole(job, "user_id"),
            group=whole(job, "group_id"),
            application=number_of(str(job["name"])),
            partition_number=number_of(partitions[0]),
            name=str(job["name"]),
            unknown=self._unknown(job, units, amounts) if phase in {"waiting", "blocked"} else "",
            partitions=frozenset(partitions),
        )
        most = {"cpu": units * amounts["core"], "mem": units * (amounts["mem"] // MEBIBYTE)}
        most |= self._of_whole_nodes(allowed, units, cpus=alone, memory=whole_memory)
        return self._rules.apply(job, found, (admitting or tuple(partitions))[0], most)

    def _of_whole_nodes(
        self, allowed: frozenset[str] | None, units: int, *, cpus: bool, memory: bool
    ) -> dict[str, int]:
        """Return all CPUs, or all memory, of the largest nodes that a job may get."""
        nodes = [node for node in self._nodes if allowed is None or node.name in allowed]
        found = {"cpu": units * max((node.cpus for node in nodes), default=0)} if cpus else {}
        if memory:
            found["mem"] = units * max((node.memory // MEBIBYTE for node in nodes), default=0)
        return found

    def _marked(self, job: Mapping[str, Any]) -> bool:
        return not job["priority"] and job["admin_comment"] == self._terms.mark

    def _phase(self, job: Mapping[str, Any]) -> tuple[Phase, str]:
        state, reason = str(job["job_state"]), str(job["state_reason"])
        if state in RUNNING:
            return "running", ""
        if state not in _PENDING:
            return "ended", ""
        if job["dependency"]:
            return "blocked", f"waits for {job['dependency']}"
        if whole(job, "eligible_time") > self._now:
            return "blocked", "may not begin yet"
        if not job["priority"] and not self._marked(job):
            return "blocked", f"is held: {reason}"
        return "waiting", "held for hpcsched" if self._marked(job) else reason

    def _request(
        self, job: Mapping[str, Any]
    ) -> tuple[int, dict[str, int], tuple[Gres, ...], bool]:
        """Return units, the request of each, resources with types, and whether all memory is asked.

        A job has a unit on each of its nodes. Where it asks for more CPUs than a node has, it
        needs as many nodes as hold them.
        """
        cpus = whole(job, "cpus") or 1
        units = max(1, whole(job, "node_count"), -(-cpus // self._most_cpus))
        # Whole cores: Slurm gives no two jobs threads of one core.
        each = -(-cpus // (units * self._threads)) * self._threads
        asked = _gres_per_unit(job, units)
        per_core, per_node = whole(job, "memory_per_cpu"), whole(job, "memory_per_node")
        memory = 0
        if per_core:
            memory = per_core * each
        elif per_node:
            memory = per_node
        counted = {n: amount for n, amount in totals(asked).items() if n not in self._shared}
        amounts = {"core": each, "mem": memory * MEBIBYTE, **counted}
        return units, amounts, asked, not memory

    def _allowed(
        self,
        job: Mapping[str, Any],
        asked: tuple[Gres, ...],
        units: int,
        partitions: tuple[str, ...],
    ) -> frozenset[str] | None:
        """Return the nodes of some partitions that a job may use; None: all.

        All nodes of a job must be of one partition, and satisfy the same of several conditions in
        brackets: a job of several nodes uses the first of these sets that has enough of them.
        """
        excluded, features = str(job["excluded_nodes"] or ""), str(job["features"] or "")
        key = partitions, features, excluded, asked, units
        if key not in self._usable:
            out = set(expand(excluded))
            try:
                choices = constraint_choices(features, units)
            except ValueError:  # such a job is left to Slurm
                choices = (Constraint(),)
            sets = [
                frozenset(
                    node.name
                    for node in self._nodes
                    if partition in node.partitions
                    and node.name not in out
                    and choice.holds(node.features)
                    and offers(node.gres, asked)
                )
                for partition in partitions
                for choice in choices
            ]
            names = frozenset[str]().union(*sets)
            if units > 1:
                names = next((one for one in sets if len(one) >= units), sets[0])
            self._usable[key] = None if len(names) == len(self._nodes) else names
        return self._usable[key]

    def _unknown(self, job: Mapping[str, Any], units: int, amounts: Mapping[str, int]) -> str:
        """Return a demand of a job that is not supported here, in words; empty if there is none."""
        features = str(job["features"] or "")
        try:
            constraint_choices(features, units)
        except ValueError:
            return f"the constraint {features}"
        for field in _TRES:
            for item in read_gres(str(job[field] or "")).not_understood:
                return f"the generic resource {item}"
        if job["shared"] in _SHARED_WITH_SOME:
            return f"nodes that it shares by {job['shared']} alone"
        beyond = self._rules.not_expressed(job, units, amounts)
        if beyond:
            return beyond
        for field, what in (
            ("resv_name", "a reservation"),
            ("het_job_id", "being part of a heterogeneous job"),
            ("burst_buffer", "a burst buffer"),
            ("contiguous", "contiguous nodes"),
        ):
            if job.get(field):
                return what
        return ""


def _ending(job: Mapping[str, Any], *, started: bool) -> Ending:
    if not started:
        return "cancelled"
    return "killed" if str(job["job_state"]) in _KILLED else "completed"


def _gres_per_unit(job: Mapping[str, Any], units: int) -> tuple[Gres, ...]:
    """Return the generic resources that a job asks for on each of its nodes."""
    tasks = max(1, whole(job, "tasks"))
    found: list[Gres] = []
    shares = dict(zip(_TRES, (1.0, 1 / units, 1.0, tasks / units), strict=True))
    for field, share in shares.items():
        for one in read_gres(str(job[field] or "")).resources:
            found.append(one._replace(amount=-int(-one.amount * share // 1)))
    return tuple(found)


def _placed(
    job: Mapping[str, Any], amounts: Mapping[str, int], threads: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    """Return a job's amounts on each of its nodes: those that Slurm tells, else those requested."""
    names = expand(str(job["nodes"]))
    details = job.get("job_resources") or {}
    shares = {str(node["nodename"]): node for node in details.get("allocated_nodes", ())}
    gres = list(job["gres_detail"] or ())
    others = {name: amount for name, amount in amounts.items() if name not in {"core", "mem"}}
    placed: dict[str, dict[str, int]] = {}
    for k, name in enumerate(names):
        share = shares.get(name)
        held = dict(amounts)
        if share is not None:
            cpus = _cores(share) * threads.get(name, 1)
            held = {"core": cpus, "mem": whole(share, "memory_allocated") * MEBIBYTE}
            held |= totals(read_gres(str(gres[k])).resources) if len(gres) == len(names) else others
        # Slurm gives the CPUs of a suspended job to others; it keeps memory and devices.
        placed[name] = held | {"core": 0} if job["job_state"] == "SUSPENDED" else held
    return placed


def _cores(share: Mapping[str, Any]) -> int:
    """Return how many cores of a node a job holds."""
    return sum(
        str(state).startswith("allocated")
        for socket in share["sockets"].values()
        for state in socket["cores"].values()
    )
