"""Small runs made by hand, with scenarios that name their system and dispatcher."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import Study, open_study
from hpcsched.report.tables.report_table import Table
from tests.runs.hand_made import JOBS, SYSTEM, Placed, tamper_json, write_run

LATER = (*JOBS[:-1], JOBS[-1]._replace(start=150))
"""The jobs of another run: the last one starts 60 s later."""


def write_studied(
    folder: Path,
    jobs: Sequence[Placed] = JOBS,
    *,
    name: str = "easy",
    dispatcher: object = "easy",
    seed: int = 0,
    trace: str | None = None,
) -> Path:
    """Write a run, and return its directory; `trace` is the name of another trace than usual."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    path = write_run(folder, jobs, name=name).path
    groups = [
        {"name": group.name, "count": group.count, "resources": dict(group.resources)}
        for group in SYSTEM.groups
    ]
    scenario = {"name": name, "system": {"groups": groups}, "dispatcher": dispatcher}
    (path / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    tamper_json(path / "manifest.json", lambda content: content.update(seed=seed))
    if trace is not None:
        tamper_json(
            path / "manifest.json",
            lambda content: content["trace_files"][0].update(path=f"{trace}.swf.gz", sha256=trace),
        )
    return path


def pair(folder: Path) -> list[Path]:
    """Write two runs of one trace: in the second the last job starts 60 s later."""
    return [
        write_studied(folder / "easy"),
        write_studied(folder / "sjf", LATER, name="sjf", dispatcher={"name": "list"}),
    ]


def tables_of(paths: Sequence[Path], baseline: str | None = None) -> ComparedStudy:
    """Return what makes tables of runs."""
    return ComparedStudy(open_study(paths), baseline)


def write_experiment(folder: Path) -> Study:
    """Write an experiment's folder: two dispatchers on two traces under two seeds; one failed."""
    cells = []
    for dispatcher in ("easy", "sjf"):
        for trace in ("kth", "ctc"):
            for seed in (0, 1):
                run = f"runs/{dispatcher}-{trace}-{seed}"
                done = (dispatcher, trace, seed) != ("sjf", "ctc", 1)
                if done:
                    jobs = LATER if dispatcher == "sjf" else JOBS
                    write_studied(
                        folder / run, jobs, name=run, dispatcher=dispatcher, seed=seed, trace=trace
                    )
                cells.append(
                    {
                        "name": f"{dispatcher}.{trace}.{seed}",
                        "labels": {"dispatcher": dispatcher, "trace.path": trace},
                        "replica": seed,
                        "run": run,
                        "status": "complete" if done else "failed",
                    }
                )
    (folder / "experiment.json").write_text(json.dumps({"format": 1, "cells": cells}))
    return open_study([folder])


def table_rows(table: Table, **wanted: Any) -> list[dict[str, Any]]:
    """Return the rows of a table with some values, by column."""
    names = [name.partition(" [")[0] for name in table.header]
    found = [dict(zip(names, row, strict=True)) for row in table.rows]
    return [row for row in found if all(row[key] == value for key, value in wanted.items())]


def set_tau(folder: Path, tau: int) -> None:
    """Give the bounded slowdown of a run another bound."""

    def change(content: dict[str, Any]) -> None:
        content["definitions"]["mean_bounded_slowdown"]["parameters"]["tau"] = tau

    tamper_json(folder / "summary.json", change)
