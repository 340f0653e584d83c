"""Shows the comparison: `python experiments/ahead_offline.py --help` says how."""

import argparse
import sys
from collections.abc import Sequence

from ahead import PAGE
from comparisons.command import Content, Drawing, Shown, carry_out, make_parser
from comparisons.finished import Finished
from hpcsched.report.tables.report_table import MISSING, Table

OFFLINE, ONLINE = "off-line", ("order-search", "hyper")

ALLOWED = 1.05
"""Up to which multiple of the plan's a mean response time should be."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser("ahead_offline", "Show order-search and hyper beside off-line plans.")
    return carry_out(parser, arguments, _choose)


def _choose(_: argparse.Namespace) -> Shown:
    return Shown("ahead_offline", ("system", "dispatcher"), PAGE, content_of)


def content_of(finished: Finished, _: Drawing) -> Content:
    """Return a table of mean response times, and in how many stretches they are near the plan's."""
    summaries = {
        (one.labels["system"], one.labels["dispatcher"]): one.run.summary for one in finished.runs
    }
    ratios: dict[str, list[float]] = {name: [] for name in ONLINE}
    header = ["stretch", "off-line plan", "lower bound"]
    header += [text for name in ONLINE for text in (name, f"{name} / plan")]
    rows = []
    for stretch in finished.axes["system"]:
        plan = summaries.get((stretch, OFFLINE))
        if plan is None:
            continue
        planned = plan["metrics"]["mean_response_time"]
        row = [stretch, f"{planned:,.0f}", f"{plan['offline']['lower_bound']:,.0f}"]
        for name in ONLINE:
            summary = summaries.get((stretch, name))
            if summary is None:
                row += [MISSING, MISSING]
                continue
            value = summary["metrics"]["mean_response_time"]
            ratios[name].append(value / planned)
            row += [f"{value:,.0f}", f"{value / planned:.3f}"]
        rows.append(row)
    sentences = [
        f"`{name}` is within {100 * (ALLOWED - 1):.0f} % of the plan in"
        f" {sum(one <= ALLOWED for one in of_name)} of {len(of_name)} stretches, and"
        f" {sum(of_name) / len(of_name):.3f} times the plan on average."
        for name, of_name in ratios.items()
        if of_name
    ]
    return [Table(header, rows, words=1).as_markdown(), *sentences]


if __name__ == "__main__":
    sys.exit(main())
