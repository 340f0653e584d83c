"""`hpcsched longest-waits`: the jobs of a run that waited longest."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched import open_run


def longest_waits(
    run: Annotated[Path, typer.Argument(help="The run directory.")],
    count: Annotated[int, typer.Option(min=1, help="Number of jobs.")] = 5,
) -> None:
    """Show the jobs of a run that waited longest."""
    jobs = open_run(run).jobs.select(["job_id", "submit_time", "start_time"]).to_pylist()
    # Jobs that were refused have no start.
    waits = [(j["start_time"] - j["submit_time"], j["job_id"]) for j in jobs if j["start_time"]]
    for wait, job in sorted(waits, reverse=True)[:count]:
        typer.echo(f"job {job} waited {wait} s")
