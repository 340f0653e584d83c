"""A cluster in memory, with a clock of its own, for tests of the driver."""

from collections.abc import Sequence

from hpcsched.system.cluster import (
    ClusterJob,
    ClusterNode,
    ClusterState,
    RefusedError,
    UnavailableError,
)


class FakeCluster:
    """Nodes of 4 cores; jobs run for as long as is said, from a second after they are started.

    What is in `refuses` is not started; what is in `ignores` is said to be and is not. Reading and
    starting take `answers_in` seconds each. While `away`, nobody answers.
    """

    def __init__(self, nodes: Sequence[str] = ("a1", "a2")) -> None:
        self.time = 1_000_000.0
        self.nodes = dict.fromkeys(nodes, True)
        self.jobs: dict[str, ClusterJob] = {}
        self.run_times: dict[str, int] = {}
        self.calls: list[tuple[str, str, tuple[str, ...]]] = []
        self.refuses: set[str] = set()
        self.ignores: set[str] = set()
        self.away = False
        self.answers_in = 0.0
        self.warnings: tuple[str, ...] = ()
        self.shared: dict[str, int] = {}
        self.node_limits: dict[str, int] = {}

    def submit(
        self, number: int, cores: int, run_time: int, *, units: int = 1, held: bool = True
    ) -> None:
        """Submit a job of partition `main`."""
        key = str(number)
        self.run_times[key] = run_time
        self.jobs[key] = ClusterJob(
            key, number, "waiting", "main", int(self.time), 3600, units, {"core": cores},
            one_unit_per_node=units > 1, held=held,
        )  # fmt: skip

    def now(self) -> float:
        """Return the time."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """Let time pass, and have happen what does."""
        self.time += seconds
        for key, job in self.jobs.items():
            start = job.start_time
            if job.phase == "waiting" and not job.held and job.wanted and key not in self.ignores:
                placed = {node: dict(job.amounts) for node in job.wanted}
                self.jobs[key] = job._replace(
                    phase="running", start_time=int(self.time), placed=placed
                )
            elif start is not None and job.phase == "running":
                end = start + self.run_times[key]
                if end <= self.time:
                    self.jobs[key] = job._replace(phase="ended", end_time=end, ending="completed")

    def read(self) -> ClusterState:
        """Return the cluster."""
        if self.away:
            raise UnavailableError("nobody answers")
        self.time += self.answers_in
        nodes = [ClusterNode(name, {"core": 4}, usable) for name, usable in self.nodes.items()]
        jobs = tuple(self.jobs.values())
        return ClusterState(
            tuple(nodes), jobs, self.warnings, shared=self.shared, node_limits=self.node_limits
        )

    def start(self, job: ClusterJob, nodes: Sequence[str]) -> None:
        """Start a held job."""
        self._check()
        self.time += self.answers_in
        self.calls.append(("start", job.key, tuple(nodes)))
        if job.key in self.refuses or not self.jobs[job.key].held:
            raise RefusedError(f"job {job.key} has changed")
        self.jobs[job.key] = self.jobs[job.key]._replace(held=False, wanted=tuple(nodes))

    def hold(self, job: ClusterJob) -> None:
        """Take a job back."""
        self._check()
        self.calls.append(("hold", job.key, ()))
        self.jobs[job.key] = self.jobs[job.key]._replace(held=True, wanted=())

    def _check(self) -> None:
        if self.away:
            raise UnavailableError("nobody answers")
