"""Figures of a run that followed the starts of its log, in words."""

from collections.abc import Mapping


def told(figures: Mapping[str, int]) -> str:
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
