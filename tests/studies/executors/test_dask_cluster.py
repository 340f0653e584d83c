"""The executor `dask`: two worker processes, workers that are killed, jobs that end."""

import os
import signal
from dataclasses import replace
from pathlib import Path
from threading import Timer
from time import monotonic, sleep
from typing import Any

import pytest

from hpcsched.errors import PluginError
from hpcsched.studies.execution import run_cells
from hpcsched.studies.executors.executor import DaskParams, JobQueue, Task
from hpcsched.studies.experiment_folder import ExperimentFolder
from tests.studies.experiment_samples import EXPERIMENT, expected_summaries, read_sample, summaries

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dask_cluster = pytest.importorskip("hpcsched.studies.executors.dask_cluster")

# Dask has sockets and loops of its own, which it closes when it likes.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore:.*:pytest.PytestUnraisableExceptionWarning"
)


def make(**parameters: Any) -> Any:
    """Return an executor."""
    return dask_cluster.DaskExecutor(DaskParams(**parameters))


@pytest.mark.slow
def test_two_workers_give_the_same_bytes(tmp_path: Path) -> None:
    """One cell fails without stopping the others."""
    (tmp_path / "bad.swf").write_text("1 2 3\n")
    text = EXPERIMENT.replace("trace.jobs: [5, 9]", "trace.path: [log.swf, bad.swf]")
    experiment = read_sample(tmp_path, text)
    out = tmp_path / "out"
    folder = ExperimentFolder(out)
    with folder.locked():
        begun: list[Task] = []
        running = run_cells(experiment.cells, folder, make(workers=2), started=begun.append)
        first = next(running)
        assert len(begun) <= 3  # one and a half for each thread
        found = {outcome.cell.name: outcome for outcome in (first, *running)}
    failed = {name for name, outcome in found.items() if outcome.status == "failed"}
    assert failed == {"none_bad", "sjf_bad"}
    assert "bad.swf:1" in found["sjf_bad"].message
    assert len(list((out / "logs").iterdir())) == 2
    good = replace(experiment, cells=experiment.cells[::2])
    assert summaries(good, out) == expected_summaries(good, tmp_path)
    for cell in good.cells:
        run = folder.run_of(cell)
        assert run is not None
        assert [file.path for file in run.manifest.trace_files] == [str(tmp_path / "log.swf")]


@pytest.mark.slow
def test_a_killed_worker_costs_no_result(tmp_path: Path) -> None:
    """Its cell is repeated, on a scheduler that was there already; no other cell is."""
    experiment = read_sample(tmp_path)
    out = tmp_path / "out"
    folder = ExperimentFolder(out)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit=0, dashboard_address="127.0.0.1:0"
        ) as cluster,
        folder.locked(),
    ):
        (pid,) = [nanny.pid for nanny in cluster.workers.values()]
        begun: list[str] = []
        killers: list[Timer] = []

        def kill_soon(cell: Any) -> None:
            begun.append(cell.name)
            if len(begun) == 1:
                killers.append(Timer(0.7, os.kill, (pid, signal.SIGKILL)))
                killers[0].start()

        executor = make(address=cluster.scheduler_address)
        found = list(run_cells(experiment.cells, folder, executor, started=kill_soon))
        assert [nanny.pid for nanny in cluster.workers.values()] != [pid]
    assert [outcome.status for outcome in found] == ["done"] * 4
    assert summaries(experiment, out) == expected_summaries(experiment, tmp_path)


@pytest.mark.slow
def test_jobs_that_end_are_replaced(tmp_path: Path) -> None:
    """One by one, as no more than one may wait in the queue; then cells run in them."""
    experiment = read_sample(tmp_path)
    out = tmp_path / "out"
    folder = ExperimentFolder(out)
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "100ms"}),
        distributed.LocalCluster(
            n_workers=0, threads_per_worker=1, memory_limit=0, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
        folder.locked(),
    ):
        queue = JobQueue(cluster="slurm", jobs=2, least_jobs=2, most_queued=1)
        dask_cluster.adapt(cluster, queue)
        client.wait_for_workers(2, timeout=60)
        asked = [what["n"] for _, what in cluster._adaptive.log if what["status"] == "up"]
        assert asked == [1, 2]
        before = set(client.nthreads())
        client.retire_workers(list(before))  # as a worker does at the end of its lifetime
        until = monotonic() + 60
        while len(set(client.nthreads()) - before) < 2 and monotonic() < until:
            sleep(0.1)
        executor = make(address=cluster.scheduler_address)
        found = list(run_cells(experiment.cells, folder, executor))
        assert not before & set(client.nthreads())
    assert [outcome.status for outcome in found] == ["done"] * 4
    assert summaries(experiment, out) == expected_summaries(experiment, tmp_path)


@pytest.mark.filterwarnings("ignore:OAR Job memory:UserWarning")
def test_the_script_for_a_batch_system() -> None:
    """A few lines become the job script that dask-jobqueue would submit."""
    pytest.importorskip("dask_jobqueue")
    with dask_cluster.make_jobqueue(
        JobQueue(
            cluster="slurm",
            jobs=2,
            cores=4,
            options={
                "memory": "16GiB",
                "walltime": "01:30:00",
                "queue": "fast",
                "account": "us",
                "job_extra_directives": ["--exclusive"],
            },
        )
    ) as cluster:
        script = cluster.job_script().splitlines()
    for line in (
        "-p fast",
        "-A us",
        "--cpus-per-task=4",
        "--mem=16G",
        "-t 01:30:00",
        "--exclusive",
    ):
        assert f"#SBATCH {line}" in script
    assert "--nthreads 4 " in script[-1] and "--nworkers" not in script[-1]
    assert "--lifetime 4860s --lifetime-stagger 324s" in script[-1]
    for kind in ("pbs", "sge", "lsf", "oar"):
        limits = {"memory": "1GiB", "walltime": "00:01" if kind == "lsf" else "00:01:00"}
        with dask_cluster.make_jobqueue(JobQueue(cluster=kind, options=limits)) as cluster:
            assert "--nthreads 1 " in cluster.job_script()
            assert "--lifetime 54s --lifetime-stagger 4s" in cluster.job_script()
    with pytest.raises(PluginError, match="dask-jobqueue refuses 'jobqueue'"):
        dask_cluster.make_jobqueue(
            JobQueue(cluster="pbs", options={"memory": "1GiB", "no_such_argument": 1})
        )
