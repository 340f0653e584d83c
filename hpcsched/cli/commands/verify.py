"""`hpcsched verify`: an audit of a run by code that shares nothing with the simulator."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsched.cli.options import OneRun, with_option_groups
from hpcsched.cli.output import DataFormat, DataOutput, json_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hpcsched.audit.violations import AuditReport

PANEL = "Look"


@with_option_groups
def verify(
    directory: OneRun,
    *,
    replay: Annotated[
        bool, typer.Option("--replay", help="Run the scenario again, and compare every start.")
    ] = False,
    output: DataOutput,
) -> None:
    """Audit a run against its trace, system and records.

    Prints each check with the violations found. Exits with 1 if there is a violation, or if
    --replay cannot replay the run.
    """
    from hpcsched.audit.auditing import audit_directory, replay_directory
    from hpcsched.report.run_choice import one_run_folder
    from hpcsched.runs.directory import RunDirectory

    run = RunDirectory.open(one_run_folder(directory))
    report = audit_directory(run)
    # After the audit, which may already show why a replay would differ.
    again = replay_directory(run) if replay else None
    ok = report.ok and (again is None or (not isinstance(again, str) and again.ok))
    if output.format_ is DataFormat.JSON:
        content: dict[str, Any] = {
            "run": run.manifest.scenario,
            "status": run.manifest.status,
            "ok": ok,
            "checks": _checks(report),
        }
        if isinstance(again, str):
            content["replay"] = {"not_replayed": again}
        elif again is not None:
            content["replay"] = {"checks": _checks(again)}
        output.write(json_text(content))
    else:
        lines = [*report.lines(), *_replay_lines(again), "ok" if ok else "not ok"]
        if run.partial:
            lines.insert(0, f"partial: the run was {run.manifest.status}; its records are checked")
        output.write("\n".join(lines))
    if not ok:
        raise typer.Exit(1)


def _checks(report: "AuditReport") -> list[dict[str, Any]]:
    from dataclasses import asdict

    return [asdict(check) for check in report.checks]


def _replay_lines(again: "AuditReport | str | None") -> "Iterator[str]":
    """Yield the checks of a replay, then its outcome; `again` is the reason if it was not made."""
    if again is None:
        yield "checked against its own records, its trace and its scenario; not replayed"
    elif isinstance(again, str):
        yield f"not replayed: {again}"
    else:
        yield from again.lines()
        starts = again.checks[0]
        yield f"replayed: {starts.looked_at - starts.count} of {starts.looked_at} starts equal"
