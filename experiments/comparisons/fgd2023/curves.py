"""Curves of allocation and fragmentation over arrivals, the published ones beside ours."""

from collections.abc import Iterator

import altair as alt
import numpy as np

from comparisons.command import Drawing, Picture
from comparisons.fgd2023.outcomes import LAST, Curve, Outcomes
from comparisons.fgd2023.tables import MEASURES
from comparisons.pictures import draw_picture
from hpcsched.metrics.device_use import COLUMNS, device_use
from hpcsched.report.figures.chart_parts import chart_of, rows
from hpcsched.runs.directory import RunDirectory
from hpcsched.scenario import load_scenario

WORKLOAD = "default"
"""The workload of which curves are drawn."""

_SHOWN = {"allocation_ratio": 60, "fragmentation": 0}
"""Percent of all GPUs asked for from which on each metric is drawn."""


def curves_of(run: RunDirectory) -> dict[str, Curve]:
    """Return the metrics of devices of a run, in percent, by percent of all GPUs asked for.

    Each is the mean over the arrivals after which that much is asked for, rounded; NaN without any.
    """
    system = load_scenario(run.scenario_path).system.build()
    assert system.devices is not None
    own = system.devices.resource_type
    jobs = run.all_jobs.read(*COLUMNS)
    use = device_use(jobs, system)
    asked = np.array([one[own] for one in jobs["unit_request"].to_pylist()])
    submit = jobs["submit_time"].to_numpy()
    order = np.argsort(submit)
    whole = system.totals[system.resource_types.index(own)]
    percent = np.rint(100 * np.cumsum(asked[order]) / whole).astype(int)
    at = np.searchsorted(use.instants, submit[order])
    count = np.bincount(percent, minlength=LAST + 1)
    return {
        name: (np.bincount(percent, 100 * levels[at], LAST + 1) / np.where(count, count, np.nan))
        .tolist()[: LAST + 1]
        for name, levels in (
            ("allocation_ratio", use.allocated),
            ("fragmentation", use.fragmented),
        )
    }  # fmt: skip


def draw_curves(outcomes: Outcomes, drawing: Drawing) -> Iterator[Picture]:
    """Draw the curves of the policies of which there are runs; raises InputError if it fails."""
    data: dict[str, list[dict[str, object]]] = {metric: [] for metric in MEASURES}
    for policy in outcomes.policies:
        found = [curves_of(one.run) for one in outcomes.runs(WORKLOAD, policy)]
        for metric, first in _SHOWN.items() if found else ():
            of_seeds = np.array([one[metric] for one in found])[:, first:]
            known = ~np.isnan(of_seeds).all(axis=0)
            asked = np.arange(first, LAST + 1)[known]
            ours = np.nanmean(of_seeds[:, known], axis=0)
            data[metric] += rows(policy=policy, whose="ours", asked=asked, value=ours)
            curve = outcomes.published(metric, WORKLOAD, policy)
            if curve is not None:
                value = np.array(curve)[asked]
                data[metric] += rows(policy=policy, whose="published", asked=asked, value=value)
    plots = [_plot(data[metric], title) for metric, title in MEASURES.items() if data[metric]]
    shows = f"Allocation and fragmentation over arrivals, workload {WORKLOAD}"
    drawn = draw_picture("curves", shows, plots, drawing)
    if drawn is not None:
        yield drawn


def _plot(data: list[dict[str, object]], title: str) -> alt.Chart:
    chart: alt.Chart = (
        chart_of(data)
        .mark_line(strokeWidth=1.2)
        .encode(
            x=alt.X("asked:Q", axis=alt.Axis(title="asked for, % of all GPUs")),
            y=alt.Y("value:Q", axis=alt.Axis(title=title), scale=alt.Scale(zero=False)),
            color=alt.Color("policy:N", sort=None, legend=alt.Legend(title=None, columns=3)),
            strokeDash=alt.StrokeDash("whose:N", sort=None, legend=alt.Legend(title=None)),
        )
    )
    return chart
