"""Limits of a cluster on the jobs of a group: jobs beyond them are held back."""

from collections.abc import Mapping

from hpcsched.system.cluster import ClusterJob, ClusterLimit
from hpcsched_slurm.live.group_usage import GroupUsage

TWO_JOBS = ClusterLimit("ann", "jobs", 2, "QOS small: MaxJobsPerUser=2")
SIX_CPUS = ClusterLimit("ann", "cpu", 6, "QOS small: MaxTRESPerUser cpu=6")
THREE_NODES = ClusterLimit("physics", "node", 3, "account physics: GrpTRES node=3")


def job(number: int, limits: tuple[ClusterLimit, ...], **usage: int) -> ClusterJob:
    """Return a waiting job of all groups."""
    return ClusterJob(
        str(number), number, "waiting", "main", 0, 60, 1, {"core": 1},
        groups=("ann", "physics"), limits=limits, usage={"jobs": 1, **usage},
    )  # fmt: skip


def held(
    running: Mapping[int, tuple[str, ...]], jobs: list[ClusterJob], **usage: int
) -> dict[str, str]:
    """Return the jobs that are held back while some run on nodes, each with such a usage."""
    holding = [(job(number, (), **usage), nodes) for number, nodes in running.items()]
    return GroupUsage(holding).held_back(jobs)


def test_in_order_of_arrival() -> None:
    """Of 6 CPUs 2 are in use: job 1 takes 3, job 2 (2 CPUs) is beyond it, and so is job 3 (1)."""
    jobs = [job(n, (SIX_CPUS,), cpu=cpu) for n, cpu in ((1, 3), (2, 2), (3, 1))]
    assert held({9: ("a",)}, jobs, cpu=2) == {"2": SIX_CPUS.name, "3": SIX_CPUS.name}


def test_a_job_that_never_fits_holds_back_no_other() -> None:
    """Job 1 asks for 7 of 6 CPUs; job 2 may start. Job 3 needs none of them."""
    jobs = [job(n, (SIX_CPUS,), cpu=cpu) for n, cpu in ((1, 7), (2, 6), (3, 0))]
    assert held({}, jobs) == {"1": SIX_CPUS.name}


def test_what_is_taken_already() -> None:
    """Of 6 CPUs 4 are taken by jobs that no usage shows, and 1 by job 9: job 1 may take the last.

    Job 2 asks for 7, which it never gets; job 3 (2 CPUs) waits, and holds back job 4 (1).
    """
    limit = SIX_CPUS._replace(used=4)
    asked = ((1, 1), (2, 7), (3, 2), (4, 1))
    jobs = [job(n, (limit,), cpu=cpu) for n, cpu in asked]
    assert held({9: ("a",)}, jobs, cpu=1) == dict.fromkeys("234", SIX_CPUS.name)


def test_several_limits() -> None:
    """The third job is beyond the number of jobs though there are CPUs for it."""
    jobs = [job(n, (SIX_CPUS, TWO_JOBS), cpu=1) for n in (1, 2, 3)]
    assert held({}, jobs) == {"3": TWO_JOBS.name}


def test_nodes_count_once() -> None:
    """Running jobs on a, a and b hold 2 nodes of 3: one more node may be taken."""
    running = {8: ("a",), 9: ("a", "b")}
    jobs = [job(n, (THREE_NODES,), node=1) for n in (1, 2)]
    assert held(running, jobs, node=1) == {"2": THREE_NODES.name}


def test_jobs_of_others_count_without_limits() -> None:
    """A job that need not keep to a limit itself still counts for those that must."""
    jobs = [job(1, (), cpu=5), job(2, (SIX_CPUS,), cpu=2)]
    assert held({}, jobs) == {"2": SIX_CPUS.name}
