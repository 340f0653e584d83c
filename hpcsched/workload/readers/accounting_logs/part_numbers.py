"""Job numbers for parts of jobs, such as `123_4`: unique and independent of other records.

A job number stays as it is. The number of a part has the job's number in its last nine digits and
the part before them, so that people can read both.

Federated Slurm clusters give job numbers of ten digits: the number of the cluster is in their upper
bits. They and their parts have ranges of their own, with the job's number in the last ten digits.
All numbers are below 2^53, so that every program reads them exactly.
"""

from hpcsched._core import NumbersSeen

JOBS = 10**9
"""Upper bound of job numbers that stay as they are, excluded."""

FEDERATED_JOBS = 2**32
"""Upper bound of job numbers of federated clusters, excluded."""

TASKS = 4_000_001
"""Upper bound of array tasks, excluded; counted from 0, as in Slurm."""

_COMPONENTS_FROM = 5_000_000
COMPONENTS = 1_000_000
"""Upper bound of components of a heterogeneous job, excluded; counted from 0."""

_FEDERATED = 10**10
_FEDERATED_FROM = 600_000
FEDERATED_TASKS = 199_999
"""Upper bound of array tasks of jobs of ten digits, excluded."""

_REPEATS_FROM = 8_000_000 * JOBS
_RECYCLED_FROM = 8_010_000 * JOBS
_FEDERATED_COMPONENTS_FROM = 810_000
FEDERATED_COMPONENTS = 90_000
"""Upper bound of components of jobs of ten digits, excluded."""


def job_number(job: int) -> int:
    """Return the number of a whole job: itself, or 6000001234567890 for 1234567890.

    Raises
    ------
    ValueError
        If the job is out of range.

    Examples
    --------
    >>> job_number(123), job_number(1234567890)
    (123, 6000001234567890)
    """
    if not 0 <= job < FEDERATED_JOBS:
        raise ValueError(f"expected a job below {FEDERATED_JOBS}, found {job}")
    return job if job < JOBS else _FEDERATED_FROM * _FEDERATED + job


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
    if _is_federated(job, task, FEDERATED_TASKS, "task"):
        return (_FEDERATED_FROM + task + 1) * _FEDERATED + job
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
    if _is_federated(job, component, FEDERATED_COMPONENTS, "component"):
        return (_FEDERATED_COMPONENTS_FROM + component) * _FEDERATED + job
    if not (0 <= job < JOBS and 0 <= component < COMPONENTS):
        raise ValueError(f"expected a job below {JOBS} and a component below {COMPONENTS}")
    return (_COMPONENTS_FROM + component) * JOBS + job


def _is_federated(job: int, part: int, parts: int, what: str) -> bool:
    """Return whether a job has ten digits; raises ValueError if its part is out of range."""
    if not JOBS <= job < FEDERATED_JOBS:
        return False
    if not 0 <= part < parts:
        raise ValueError(f"expected a {what} below {parts} of a job of ten digits, found {part}")
    return True


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


_BLOCK = 64
_APART = 365 * 86_400


class RecycledNumbers:
    """Numbers of jobs of a workload manager that counted to its largest number, and began again.

    Jobs with neighbouring numbers are submitted at about the same time. Submissions more than a
    year apart are of several rounds of counting; a requeued job, or a record that overlapping logs
    have, is of the same round.
    """

    def __init__(self) -> None:
        self._spans: dict[int, list[tuple[int, int]]] = {}
        self._seen: list[tuple[NumbersSeen, NumbersSeen]] = []  # of whole jobs, of parts
        self._given: dict[tuple[int, int], int] = {}

    def number(self, number: int, submit_time: int) -> int:
        """Return the number of a job, or a new one if it was another job's in another round.

        The first new number is 8010000000000001.

        Parameters
        ----------
        number
            The number in the log.
        submit_time
            In seconds.

        Examples
        --------
        >>> numbers = RecycledNumbers()
        >>> [numbers.number(7, day * 86_400) for day in (0, 300, 600, 4000, 4001, 300)]
        [7, 7, 7, 8010000000000001, 8010000000000001, 7]
        """
        part, job = divmod(number, JOBS)
        current = self._round(job // _BLOCK, submit_time)
        # Tasks of an array, and jobs, mostly follow one another: so that they do here.
        key = job * JOBS + part if part else job
        others = (seen[part > 0] for k, seen in enumerate(self._seen) if k != current)
        if (current, number) not in self._given and any(key in seen for seen in others):
            self._given[current, number] = _RECYCLED_FROM + len(self._given) + 1
        if (current, number) in self._given:
            return self._given[current, number]
        self._seen[current][part > 0].add(key)
        return number

    def _round(self, block: int, submit_time: int) -> int:
        """Return which round of counting a submission belongs to, from 0."""
        spans = self._spans.setdefault(block, [])
        for k, (first, last) in enumerate(spans):
            if first - _APART <= submit_time <= last + _APART:
                spans[k] = min(first, submit_time), max(last, submit_time)
                return k
        spans.append((submit_time, submit_time))
        while len(self._seen) < len(spans):
            self._seen.append((NumbersSeen(), NumbersSeen()))
        return len(spans) - 1
