"""Numbers for jobs whose logs call them by texts, such as `123_4`: one number each, for ever.

A job number stays what it is. The number of a part of a job has the job's in its last nine digits,
and before them which part it is, so that people can tell one from the other.
"""

JOBS = 10**9
"""Job numbers are below this."""

TASKS = 4_000_001
"""Array tasks are counted from 0 and below this, as in Slurm."""

_COMPONENTS_FROM = 5_000_000
COMPONENTS = 1_000_000
"""Components of a heterogeneous job are counted from 0 and below this."""

_REPEATS_FROM = 8_000_000 * JOBS


def task_number(job: int, task: int) -> int:
    """Return the number of an array task: `123_4` is 5000000123."""
    if not (0 <= job < JOBS and 0 <= task < TASKS):
        raise ValueError(f"expected a job below {JOBS} and a task below {TASKS}")
    return (task + 1) * JOBS + job


def component_number(job: int, component: int) -> int:
    """Return the number of a component of a heterogeneous job: `123+1` is 5000001000000123."""
    if not (0 <= job < JOBS and 0 <= component < COMPONENTS):
        raise ValueError(f"expected a job below {JOBS} and a component below {COMPONENTS}")
    return (_COMPONENTS_FROM + component) * JOBS + job


def repeat_number(count: int) -> int:
    """Return the number of the log's so-manieth record of a job that it had a record of before.

    The first of them, of whatever job, has 8000000000000001.
    """
    if not 1 <= count < JOBS:
        raise ValueError(f"expected a count from 1 on and below {JOBS}")
    return _REPEATS_FROM + count
