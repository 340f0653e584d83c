"""What is published of Eurora and KIT, what is generated, and how far apart they may be."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from types import SimpleNamespace
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.synthetic.campaigns import Stratum
from hpcsched.workload.synthetic.stand_ins import (
    WindowParams,
    make_eurora_like,
    make_kit_like,
)
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource
from tests.workload.synthetic.data_driven import DataDriven

GB, HOUR, DAY = 10**9, 3600, 86400

EURORA = System(
    (
        NodeGroup("gpu", 32, {"core": 16, "mem": 16 * GB, "gpu": 2}),
        NodeGroup("mic", 32, {"core": 16, "mem": 16 * GB, "mic": 2}),
    )
)
KIT = System(
    (
        NodeGroup("thin", 1152, {"core": 20, "mem": 64 * GB}),
        NodeGroup("fat", 21, {"core": 48, "mem": 1000 * GB, "gpu": 4}),
    )
)


class Published(NamedTuple):
    """A published figure, how far from it a generated one may be, and how both are printed."""

    figure: float
    tolerance: float
    form: str = ".2f"
    words: str = ""

    def __str__(self) -> str:
        return self.words or format(self.figure, self.form)


EURORA_FIGURES = {
    "jobs": Published(404_866, 0, ",.0f"),
    "jobs on CPUs only": Published(99_431, 0, ",.0f"),
    "jobs with MICs": Published(2_810, 0, ",.0f"),
    "jobs with GPUs": Published(302_625, 0, ",.0f"),
    "months": Published(17, 0, ".0f"),
    "jobs in the 10 busiest months": Published(372_321, 0, ",.0f"),
    "users": Published(360, 0, ".0f"),
    "users with more than one job, %": Published(92, 0.5, ".1f"),
    "mean run time, s": Published(1083, 11, ",.0f"),
    "mean run time on CPUs only, s": Published(2959, 59, ",.0f"),
    "mean run time with MICs, s": Published(3342, 67, ",.0f"),
    "mean run time with GPUs, s": Published(446, 9, ",.0f"),
    "longest run time, h": Published(24, 0.05),
    "run time of all jobs, h": Published(121_885, 1200, ",.0f"),
    "jobs below 1 h, %": Published(93.14, 0.05),
    "jobs of 1 to 5 h, %": Published(6.10, 0.05),
    "jobs above 5 h, %": Published(0.75, 0.05),
    "run time of jobs below 1 h, %": Published(8.94, 1),
    "run time of jobs of 1 to 5 h, %": Published(70.43, 1),
    "run time of jobs above 5 h, %": Published(20.63, 1),
    "10 busiest months: jobs below 1 h, %": Published(93.15, 0.5),
    "10 busiest months: jobs of 1 to 12 h, %": Published(6.82, 0.5),
    "10 busiest months: jobs above 12 h, %": Published(0.03, 0.01),
    "10 busiest months: run time of jobs below 1 h, %": Published(10.77, 3),
    "10 busiest months: run time of jobs of 1 to 12 h, %": Published(87.63, 3),
    "10 busiest months: run time of jobs above 12 h, %": Published(1.6, 0.5),
    "requested time: mean absolute error, min": Published(225, 22, ".1f"),
    "requested time: under, %": Published(3.6, 0.1),
    "requested time: over, %": Published(96.3, 0.1),
    "requested time: exact, %": Published(0.1, 0.05),
    "requested time: within 25 %, %": Published(5, 5, ".2f", "below 10"),
    "last similar job: mean absolute error, min": Published(39.5, 10, ".1f"),
    "last similar job: under, %": Published(25.8, 6, ".1f"),
    "last similar job: over, %": Published(53.7, 6, ".1f"),
    "last similar job: exact, %": Published(20, 5, ".1f"),
    "last similar job: within 25 %, %": Published(50, 8, ".1f"),
}

KIT_FIGURES = {
    "jobs": Published(114_355, 0, ",.0f"),
    "days": Published(583, 0, ".0f"),
    "jobs below 1 h, %": Published(66.26, 0.05),
    "jobs of 1 to 5 h, %": Published(11.19, 0.05),
    "jobs above 5 h, %": Published(22.55, 0.05),
    "run time of all jobs, h": Published(562_772, 5600, ",.0f"),
    "run time of jobs below 1 h, %": Published(2.04, 0.2),
    "run time of jobs of 1 to 5 h, %": Published(5.88, 0.2),
    "run time of jobs above 5 h, %": Published(92.08, 0.4),
}


def eurora(seed: int = 0, **params: Any) -> SyntheticSource:
    """Return a source for a system like Eurora."""
    context = SimpleNamespace(system=EURORA, seed=seed)
    return make_eurora_like(WindowParams(**params), context)


def kit(seed: int = 0, **params: Any) -> SyntheticSource:
    """Return a source for a system like ForHLR II."""
    return make_kit_like(WindowParams(**params), SimpleNamespace(system=KIT, seed=seed))


def shares(
    prefix: str, run_times: Mapping[int, int], counts: Mapping[int, int]
) -> dict[str, float]:
    """Return shares of jobs and of run time for classes numbered 0, 1, 2 by length."""
    names = (
        ("below 1 h", "of 1 to 12 h", "above 12 h")
        if prefix
        else ("below 1 h", "of 1 to 5 h", "above 5 h")
    )
    found = {
        f"{prefix}jobs {n}, %": 100 * counts[k] / sum(counts.values()) for k, n in enumerate(names)
    }
    for k, name in enumerate(names):
        found[f"{prefix}run time of jobs {name}, %"] = 100 * run_times[k] / sum(run_times.values())
    return found


def length(run_time: int, medium: int) -> int:
    """Return whether a job is short, medium (from 1 h on) or long."""
    return 0 if run_time < HOUR else 1 if run_time < medium else 2


def mean_of(strata: Iterable[Stratum]) -> float:
    """Return the mean run time of a table in seconds, log-linear within each stratum."""
    jobs = seconds = 0.0
    for count, low, high, _, _ in strata:
        mean = low if low == high else (high - low) / math.log(high / low)
        jobs, seconds = jobs + count, seconds + count * mean
    return seconds / jobs


class Accuracy:
    """How good predictions are: a running account."""

    def __init__(self) -> None:
        self._error = self._jobs = 0
        self._counts: Counter[str] = Counter()

    def add(self, predicted: int, run_time: int) -> None:
        """Count a prediction."""
        self._jobs += 1
        self._error += abs(predicted - run_time)
        kind = "exact" if run_time == predicted else "under" if run_time > predicted else "over"
        self._counts[kind] += 1
        self._counts["within 25 %"] += 3 * predicted <= 4 * run_time <= 5 * predicted

    def figures(self, of: str) -> dict[str, float]:
        """Return the mean absolute error in minutes, and the shares in percent."""
        found = {
            f"{of}: {kind}, %": 100 * self._counts[kind] / self._jobs
            for kind in ("under", "over", "exact", "within 25 %")
        }
        return {f"{of}: mean absolute error, min": self._error / self._jobs / 60, **found}


def with_accelerator(traced: TracedJob) -> str:
    """Return how a job's class is called."""
    amounts = dict(zip(EURORA.resource_types, traced.job.unit_request, strict=True))
    return "with GPUs" if amounts["gpu"] else "with MICs" if amounts["mic"] else "on CPUs only"


def measure_eurora(source: SyntheticSource) -> dict[str, float]:
    """Return each figure of `EURORA_FIGURES` for the jobs of a source."""
    began = next(int(c.split()[1]) for c in source.comments if c.startswith("UnixStartTime"))
    zone = ZoneInfo("Europe/Rome")
    kinds: Counter[str] = Counter()
    ran: Counter[str] = Counter()
    users: Counter[int | None] = Counter()
    classes: Counter[int] = Counter()
    class_ran: Counter[int] = Counter()
    months: dict[int, tuple[Counter[int], Counter[int]]] = {}
    month_of_day: dict[int, int] = {}
    requested, data_driven = Accuracy(), Accuracy()
    predictor = DataDriven()
    longest = last = 0
    for traced in source.jobs():
        job, run_time = traced
        last = job.submit_time
        kind = with_accelerator(traced)
        kinds[kind] += 1
        ran[kind] += run_time
        users[job.user] += 1
        k = length(run_time, 5 * HOUR)
        classes[k] += 1
        class_ran[k] += run_time
        longest = max(longest, run_time)
        day = last // DAY
        if day not in month_of_day:  # clocks that change in between do not move noon to another day
            noon = datetime.fromtimestamp(began + day * DAY + DAY // 2, zone)
            month_of_day[day] = noon.year * 12 + noon.month
        of_month = months.setdefault(month_of_day[day], (Counter(), Counter()))
        k = length(run_time, 12 * HOUR)
        of_month[0][k] += 1
        of_month[1][k] += run_time
        requested.add(job.requested_time, run_time)
        data_driven.add(predictor.predict(job, run_time), run_time)
    busiest = sorted(months.values(), key=lambda m: -m[0].total())[:10]
    busy_jobs = sum((m[0] for m in busiest), Counter[int]())
    busy_ran = sum((m[1] for m in busiest), Counter[int]())
    jobs, run_times = kinds.total(), ran.total()
    return {
        "jobs": jobs,
        **{f"jobs {kind}": count for kind, count in kinds.items()},
        "months": months_between(began, last + 1, zone),
        "jobs in the 10 busiest months": busy_jobs.total(),
        "users": len(users),
        "users with more than one job, %": 100 * sum(n > 1 for n in users.values()) / len(users),
        "mean run time, s": run_times / jobs,
        **{f"mean run time {kind}, s": ran[kind] / count for kind, count in kinds.items()},
        "longest run time, h": longest / HOUR,
        "run time of all jobs, h": run_times / HOUR,
        **shares("", class_ran, classes),
        **shares("10 busiest months: ", busy_ran, busy_jobs),
        **requested.figures("requested time"),
        **data_driven.figures("last similar job"),
    }


def months_between(began: int, seconds: int, zone: ZoneInfo) -> int:
    """Return how many months days begun take up, from the day a trace began on."""
    first = datetime.fromtimestamp(began, zone)
    last_day = -(-seconds // DAY)
    end = datetime.fromtimestamp(began + last_day * DAY - DAY // 2, zone)  # noon of the last day
    # from a 31st of March to a 30th of August are 17 months, both days included
    return (end.year - first.year) * 12 + end.month - first.month - (end.day < first.day - 1)


def measure_kit(source: SyntheticSource) -> dict[str, float]:
    """Return each figure of `KIT_FIGURES` for the jobs of a source."""
    classes: Counter[int] = Counter()
    class_ran: Counter[int] = Counter()
    last = 0
    for job, run_time in source.jobs():
        last = job.submit_time
        classes[length(run_time, 5 * HOUR)] += 1
        class_ran[length(run_time, 5 * HOUR)] += run_time
    return {
        "jobs": classes.total(),
        "days": last // DAY + 1,
        "run time of all jobs, h": class_ran.total() / HOUR,
        **shares("", class_ran, classes),
    }


def far_off(
    found: Mapping[str, float], published: Mapping[str, Published], names: Iterable[str] = ()
) -> Iterator[str]:
    """Yield the figures that are further from the published ones than they may be."""
    for name in names or published:
        figure, tolerance, form, _ = published[name]
        if abs(found[name] - figure) > tolerance:
            yield f"{name}: {found[name]:{form}}, published {published[name]} ± {tolerance}"
