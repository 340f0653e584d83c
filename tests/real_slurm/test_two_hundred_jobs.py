"""200 jobs of all kinds are driven to their ends, and round trips are measured."""

from collections.abc import Callable
from pathlib import Path
from statistics import median

from tests.real_slurm.cluster import SlurmCluster
from tests.real_slurm.driving import (
    check_all_ran,
    finish,
    journalled,
    live,
    round_trips,
    write_scenario,
)
from tests.real_slurm.workload import SleepArray, short_arrays, short_jobs

SINGLE = 140


def submit_array(slurm: SlurmCluster, array: SleepArray) -> list[str]:
    """Submit an array, and return the names of its tasks."""
    limit = f"%{array.limit}" if array.limit else ""
    seconds, options = array.task
    number = slurm.submit(seconds, f"--array=1-{array.tasks}{limit}", *options)
    return [f"{number}_{task}" for task in range(1, array.tasks + 1)]


def most_at_a_time(slurm: SlurmCluster, keys: list[str]) -> int:
    """Return the largest number of jobs that ran at the same time."""
    jobs = slurm.jobs_by_key()
    times = [(jobs[key]["start_time"], jobs[key]["end_time"]) for key in keys]
    return max(sum(start <= at < end for start, end in times) for at, _ in times)


def test_two_hundred_jobs(
    slurm_with_gpu_types: SlurmCluster,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    """Each runs where it was decided and not before; how long round trips take is shown."""
    slurm = slurm_with_gpu_types
    single = [slurm.submit(job.seconds, *job.options) for job in short_jobs(SINGLE, 7)]
    arrays = [(array, submit_array(slurm, array)) for array in short_arrays()]
    keys = [*single, *(key for _, tasks in arrays for key in tasks)]
    assert len(keys) == 200
    scenario = write_scenario(slurm, tmp_path)
    printed = finish(live(slurm, scenario, "drive", "--until-idle", "--out", str(tmp_path / "run")))
    check_all_ran(slurm, scenario, keys)
    # None was bound to nodes where it had to wait, and none was left to Slurm.
    assert "taken back" not in printed
    assert "could not be started" not in printed
    jobs, starts = slurm.jobs_by_key(), journalled(scenario)
    typed = [key for key in keys if "2080ti" in str(jobs[key]["tres_per_node"])]
    assert len(typed) >= 20
    assert {jobs[key]["nodes"] for key in typed} == {"t1"}
    for array, tasks in arrays:
        assert most_at_a_time(slurm, tasks) <= (array.limit or array.tasks)
    trips = round_trips(scenario)
    # Slurm tells whole seconds.
    delays = [jobs[key]["start_time"] - int(starts[key]["time"]) for key in keys]
    record_property(
        "measured",
        f"Slurm {'.'.join(f'{part:02}' for part in slurm.version())}, {len(keys)} jobs: round trip"
        f" {median(trips):.2f} s (median), {max(trips):.2f} s (maximum); from the decision to the"
        f" start {median(delays):g} s, {max(delays)} s",
    )
    # Not a measure of speed, which a busy machine would fail: nothing waits for what never comes.
    assert median(trips) <= 10
