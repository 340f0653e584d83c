"""Job numbers for parts of jobs, such as `123_4`: unique and independent of other records.

A job number stays as it is. The number of a part has the job's number in its last nine digits and
the part before them, so that people can read both.
"""

JOBS = 10**9
"""Upper bound of job numbers, excluded."""

TASKS = 4_000_001
"""Upper bound of array tasks, excluded; counted from 0, as in Slurm."""

_COMPONENTS_FROM = 5_000_000
COMPONENTS = 1_000_000
"""Upper bound of components of a heterogeneous job, excluded; counted from 0."""

_REPEATS_FROM = 8_000_000 * JOBS


def task_number(job: int, task: int) -> int:
    """Return the number of an array task: `123_4` is 5000000123.

    Raises
    ------
    ValueError
        If the job or task is out of range.

    Examples
    --------
    >>> task_number(123, 4)
    5000000123
    """
    if not (0 <= job < JOBS and 0 <= task < TASKS):
        raise ValueError(f"expected a job below {JOBS} and a task below {TASKS}")
    return (task + 1) * JOBS + job


def component_number(job: int, component: int) -> int:
    """Return the number of a component of a heterogeneous job: `123+1` is 5000001000000123.

    Raises
    ------
    ValueError
        If the job or component is out of range.
    """
    if not (0 <= job < JOBS and 0 <= component < COMPONENTS):
        raise ValueError(f"expected a job below {JOBS} and a component below {COMPONENTS}")
    return (_COMPONENTS_FROM + component) * JOBS + job


def repeat_number(count: int) -> int:
    """Return the number of a repeated record of a job.

    Parameters
    ----------
    count
        Position among the repeated records of the log, from 1; the first gets 8000000000000001.
    """
    if not 1 <= count < JOBS:
        raise ValueError(f"expected a count from 1 on and below {JOBS}")
    return _REPEATS_FROM + count
