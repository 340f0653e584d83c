"""What a run comes to, in a few lines."""

from collections.abc import Iterator, Mapping
from typing import Any


def account_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the account of a run's jobs, then its metrics with their units and parameters."""
    jobs = summary["jobs"]
    ended = ", ".join(
        f"{jobs[state]} {state}" for state in ("completed", "killed", "rejected") if jobs[state]
    )
    yield f"{jobs['read']} records read, {jobs['submitted']} jobs submitted: {ended or 'no end'}"
    for what in ("skipped", "clipped"):
        for reason, count in jobs[what].items():
            yield f"  {count} {what}: {reason}"
    for rule, count in jobs["rejected_by"].items():
        yield f"  {count} rejected: {rule}"
    width = max(map(len, summary["metrics"]))
    for name, value in summary["metrics"].items():
        definition = summary["definitions"][name]
        shown = "-" if value is None else f"{value:,.4f}"
        parameters = "".join(f"  ({k} = {v})" for k, v in definition["parameters"].items())
        yield f"  {name:{width}}  {shown:>18} {definition['unit']:<2}{parameters}".rstrip()
    if "offline" in summary:
        yield _offline_line(summary["objective"]["name"], summary["offline"])


def _offline_line(objective: str, offline: Mapping[str, Any]) -> str:
    """Return how far a trace that was planned at once may be from what is possible."""
    value, bound = offline["value"], offline["lower_bound"]
    if value is None or bound is None:
        return f"planned off-line for {objective}; no lower bound is known"
    best = "proved to be the best possible" if offline["proved"] else f"gap {offline['gap']:.2%}"
    return f"planned off-line for {objective}: {value:,.4f}, lower bound {bound:,.4f}, {best}"
