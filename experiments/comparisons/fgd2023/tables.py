"""Tables of published means beside ours, as Markdown."""

from comparisons.fgd2023.outcomes import FILES, LAST, Outcomes
from hpcsched.report.tables.report_table import MISSING, Table

MEASURES = {"allocation_ratio": "GPUs allocated, %", "fragmentation": "Fragmentation, %"}
"""Titles of the tables by metric."""

NEAR = 0.5
"""Points within which two means agree."""


def means_table(outcomes: Outcomes, metric: str) -> str:
    """Return published means and ours, by workload and policy; ours alone where none is known."""
    lines = []
    for workload in outcomes.workloads:
        line = [workload]
        for policy in outcomes.policies:
            curve = outcomes.published(metric, workload, policy)
            mean = outcomes.mean(metric, workload, policy)
            ours = MISSING if mean is None else f"{mean:.2f}"
            line.append(f"{MISSING if curve is None else f'{curve[LAST]:.2f}'} / {ours}")
        lines.append(line)
    return Table(["published / ours", *outcomes.policies], lines, words=1).as_markdown()


def summary_table(outcomes: Outcomes) -> str:
    """Return how far our means are from the published ones, by metric and policy."""
    lines = []
    for metric in FILES:
        for policy in outcomes.policies:
            found = []
            for workload in outcomes.workloads:
                curve = outcomes.published(metric, workload, policy)
                mean = outcomes.mean(metric, workload, policy)
                if curve is not None and mean is not None:
                    found.append((mean - curve[LAST], workload))
            if found:
                within = sum(abs(one) <= NEAR for one, _ in found)
                largest, where = max(found, key=lambda one: abs(one[0]))
                mean = sum(one for one, _ in found) / len(found)
                line = [MEASURES[metric], policy, str(len(found)), str(within)]
                lines.append([*line, f"{mean:+.2f}", f"{largest:+.2f}", where])
    header = ["figure", "policy", "means", f"within {NEAR}", "difference", "largest", "of"]
    return Table(header, lines, words=2).as_markdown()
