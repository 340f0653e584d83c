"""Published outcomes and ours, in percent of all GPUs, by workload and policy."""

import csv
import gzip
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from comparisons.finished import Finished, LabelledRun
from hpcsched.whole_files import file_error

AXES = ("trace.of.path", "dispatcher.allocator", "seed")
"""The axes of the experiment."""

POLICIES = {
    "random": "01-Random",
    "dot-product": "02-DotProd",
    "gpu-clustering": "03-GpuClustering",
    "gpu-packing": "04-GpuPacking",
    "gpu-best-fit": "05-BestFit",
    "fgd": "06-FGD",
}
"""What the published outcomes call each allocator."""

FILES = {"allocation_ratio": "allo", "fragmentation": "frag"}
"""The published file by metric."""

LAST = 130
"""Percent of all GPUs that are asked for at the end."""

Curve = Sequence[float]
"""Mean over seeds by percent of all GPUs asked for, from 0 to `LAST`."""


class Outcomes:
    """Runs by workload and policy, and the published curves.

    The folder of the published files is that of the workloads, `HPCSCHED_FGD`.
    """

    def __init__(self, finished: Finished) -> None:
        self.workloads, self.policies = finished.axes[AXES[0]], finished.axes[AXES[1]]
        self._finished = finished
        self._published = {name: _read(file) for name, file in FILES.items()}

    def runs(self, workload: str, policy: str) -> Sequence[LabelledRun]:
        """Return the runs of all seeds."""
        return self._finished.having(**{AXES[0]: workload, AXES[1]: policy})

    def published(self, metric: str, workload: str, policy: str) -> Curve | None:
        """Return the published curve; None where there is none."""
        return self._published[metric].get((workload, POLICIES[policy]))

    def mean(self, metric: str, workload: str, policy: str) -> float | None:
        """Return our mean over seeds once all tasks have arrived; None without runs."""
        found = [one.run.summary["metrics"][metric] for one in self.runs(workload, policy)]
        return 100 * sum(found) / len(found) if found else None


def _read(kind: str) -> Mapping[tuple[str, str], Curve]:
    """Return the means over seeds of a published file, by workload and policy.

    Raises InputError where the file is missing.
    """
    path = Path(os.environ.get("HPCSCHED_FGD", ""), f"published_{kind}_discrete.csv.gz")
    if not path.is_file():
        raise file_error("missing-file", path, "HPCSCHED_FGD names the folder of published files")
    curves: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = row["workload"].removeprefix("openb_pod_list_"), row["sc_policy"]
            curves[key].append([float(row[str(percent)]) for percent in range(LAST + 1)])
    return {
        key: [sum(column) / len(column) for column in zip(*of_seeds, strict=True)]
        for key, of_seeds in curves.items()
    }
