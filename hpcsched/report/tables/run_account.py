"""The outcome of a run in a few lines."""

from collections.abc import Iterator, Mapping
from typing import Any

from hpcsched.runs.files import STATES
from hpcsched.runs.solver_rounds import in_words, solver_rounds

OBJECTIVE = "(objective)"
"""Mark of the metric that is the objective."""


def account_of_jobs(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the account of a run's jobs: each was completed, or skipped with a reason."""
    jobs = summary["jobs"]
    ended = ", ".join(f"{jobs[state]} {state}" for state in STATES if jobs.get(state))
    yield f"{jobs['read']} records read, {jobs['submitted']} jobs submitted: {ended or 'no end'}"
    for what in ("skipped", "clipped", "changed"):
        for reason, count in jobs.get(what, {}).items():
            yield f"  {count} {what}: {reason}"
    yield from (f"  malformed: {fault}" for fault in jobs.get("faults", ()))


def account_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the account of a run's jobs, then its metrics with their units and parameters."""
    yield from account_of_jobs(summary)
    yield from _lost_lines(summary)
    for rule, count in summary["jobs"]["rejected_by"].items():
        yield f"  {count} rejected: {rule}"
    # Metrics of plugins may have longer names than those built in.
    chosen = summary.get("objective")
    width = max(map(len, (*summary["metrics"], chosen["name"] if chosen else "")))
    for name, value in summary["metrics"].items():
        definition = summary["definitions"][name]
        line = _metric_line(name, width, value, definition)
        stated = chosen and (chosen["name"], chosen["parameters"])
        if stated == (name, definition["parameters"]):
            line, chosen = f"{line}  {OBJECTIVE}", None
        yield line
    if chosen:
        line = _metric_line(chosen["name"], width, chosen["value"], chosen)
        yield f"{line}  {OBJECTIVE}"
    for what, why in summary.get("not_measured", {}).items():
        yield f"  not measured: {what}: {why}"
    for what, why in summary.get("not_closed", {}).items():
        yield f"  not closed, and its files may lack something: {what}: {why}"
    for resource, drawn in summary.get("shared_resources", {}).items():
        yield _shared_resource_line(resource, drawn)
    called = solver_rounds(summary["rounds"]["solver"])
    if called.asked:
        yield f"  {in_words(called)}"
    if "recorded_starts" in summary:
        yield f"  {recorded_starts_text(summary['recorded_starts'])}"
    if "offline" in summary:
        yield _offline_line(summary["objective"]["name"], summary["offline"])


def _metric_line(name: str, width: int, value: float | None, about: Mapping[str, Any]) -> str:
    """Return the line of a metric or an objective, with its unit and parameters."""
    shown = "-" if value is None else f"{value:,.4f}"
    parameters = "".join(f"  ({k} = {v})" for k, v in about["parameters"].items())
    return f"  {name:{width}}  {shown:>18} {about.get('unit', ''):<2}{parameters}".rstrip()


def _lost_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the losses due to outages and preemption."""
    if "outages" in summary:
        outages = summary["outages"]
        hours = outages["lost_node_seconds"] / 3600
        yield (
            f"  lost to outages: {outages['interruptions']} attempts, of which"
            f" {outages['requeued']} were tried again, after {hours:,.1f} node-hours"
        )
    if "preemption" in summary:
        figures = summary["preemption"]
        how = (f"{figures[name]} {name}" for name in ("requeued", "cancelled", "suspended"))
        hours = figures["lost_node_seconds"] / 3600
        yield (
            f"  preempted: {figures['preemptions']} times ({', '.join(how)}), {hours:,.1f}"
            " node-hours lost"
        )
    if summary.get("goodput") is not None:
        yield f"  goodput: {summary['goodput']:.1%} of the node-hours that jobs ran"


def _shared_resource_line(resource: str, drawn: Mapping[str, Any]) -> str:
    """Return the use of a shared resource, in its own unit."""
    mean = 0.0 if drawn["mean"] is None else drawn["mean"]
    line = f"  drawn from {resource}: {mean:,.1f} in the mean, at most {drawn['peak']:,}"
    if drawn["over_cap_time"]:
        line += f"; more than it offered for {drawn['over_cap_time']:,} s"
    return line


def _offline_line(objective: str, offline: Mapping[str, Any]) -> str:
    """Return the objective of an off-line plan with its lower bound and gap."""
    value, bound = offline["value"], offline["lower_bound"]
    if value is None or bound is None:
        return f"planned off-line for {objective}; no lower bound is known"
    best = "proved to be the best possible" if offline["proved"] else f"gap {offline['gap']:.2%}"
    return f"planned off-line for {objective}: {value:,.4f}, lower bound {bound:,.4f}, {best}"


def recorded_starts_text(figures: Mapping[str, int]) -> str:
    """Return the figures `RecordedFigures` of a summary in words."""
    jobs, later = figures["jobs"], figures["later"]
    parts = [f"{jobs - later} of {jobs} jobs started when the log says"]
    if later:
        parts.append(
            f"{later} later for want of room, by {figures['later_time'] / later:,.0f} s on average"
            f" and at most {figures['latest']:,} s"
        )
    if figures["without_start"]:
        parts.append(f"{figures['without_start']} have no recorded start")
    return "; ".join(parts)
