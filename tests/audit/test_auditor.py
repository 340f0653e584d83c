"""The auditor finds nothing in a right run, and names the place of whatever is tampered with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runs.hand_made import (
    DECLARED,
    JOBS,
    REJECTED,
    Placed,
    audit_run,
    job,
    messages,
    seal,
    tamper_jobs,
    tamper_json,
    write_run,
)

Rows = list[dict[str, Any]]


def test_right_run(tmp_path: Path) -> None:
    """A right run passes every check, and every check has looked at something."""
    report = audit_run(write_run(tmp_path / "run"))
    assert report.ok, messages(report)
    assert all(check.looked_at for check in report.checks)


def test_rejected_job(tmp_path: Path) -> None:
    """A rejected job is accounted for; loss of capacity is then checked against bounds."""
    jobs = [*JOBS, REJECTED]
    run = write_run(tmp_path / "run", jobs)
    report = audit_run(run, [p.traced for p in jobs])
    assert report.ok, messages(report)
    assert any("bounds" in note for check in report.checks for note in check.notes)
    tamper_json(run.path / "summary.json", lambda s: s["metrics"].update(loss_of_capacity=0.9))
    assert "metrics.loss_of_capacity" in messages(audit_run(run, [p.traced for p in jobs]))


def test_partial_run(tmp_path: Path) -> None:
    """A run broken off is checked for what it holds; its account must still balance."""
    run = write_run(tmp_path / "run", status="interrupted", until=55)
    assert run.partial
    # Job 2 has ended, 1 and 5 run, 3 and 4 wait, and 6 and 7 come at 60.
    assert run.summary["jobs"]["not_yet_submitted"] == 2
    report = audit_run(run)
    assert report.ok, messages(report)
    tamper_json(run.path / "summary.json", lambda s: s["jobs"].update(waiting=3))
    assert "jobs submitted: expected 6, found 5" in messages(audit_run(run))


def test_kill_at_requested_time(tmp_path: Path) -> None:
    """Where jobs are killed at their requested time, one that runs on is a violation."""
    wanted = job(9, 0, 1, (1, 1, 0), 5)
    long = wanted._replace(run_time=wanted.job.requested_time + 3)
    run = write_run(tmp_path / "run", [Placed(long, 0, {0: 1})])
    assert audit_run(run, [long]).ok
    report = audit_run(run, [long], kill=True)
    assert "job 9: end_time: expected 11, found 14" in messages(report)
    assert "job 9: state: expected killed, found completed" in messages(report)


def _start_earlier(rows: Rows) -> None:
    rows[2]["start_time"] = 5


def _start_on_time_on_a_busy_node(rows: Rows) -> None:
    rows[2]["start_time"], rows[2]["end_time"] = 50, 3750


def _swap_node(rows: Rows) -> None:
    rows[3]["nodes"] = [0]


def _leave_group(rows: Rows) -> None:
    rows[3]["nodes"] = [3]


def _change_units(rows: Rows) -> None:
    rows[1]["units"] = 3


def _place_more_units(rows: Rows) -> None:
    rows[1]["node_units"] = [3]


def _place_twice(rows: Rows) -> None:
    rows[2]["nodes"] = [1, 1]


def _unknown_node(rows: Rows) -> None:
    rows[5]["nodes"] = [44]


def _no_units(rows: Rows) -> None:
    rows[2]["node_units"] = [4, 0]


def _too_large_for_node(rows: Rows) -> None:
    rows[0]["nodes"], rows[0]["node_units"] = [0, 1], [1, 2]


def _no_one_unit_per_node(rows: Rows) -> None:
    rows[0]["one_unit_per_node"] = False


def _drop(rows: Rows) -> None:
    del rows[4]


def _double(rows: Rows) -> None:
    rows.append(rows[6])


def _rename(rows: Rows) -> None:
    rows[6]["job_id"] = 70


def _state(rows: Rows) -> None:
    rows[0]["state"] = "rejected"


def _demand(rows: Rows) -> None:
    rows[0]["demand"] += 1


def _request(rows: Rows) -> None:
    rows[0]["unit_request"]["mem"] = 1


def _later_submission(rows: Rows) -> None:
    rows[3]["submit_time"] = 21


def _share_exclusive(rows: Rows) -> None:
    rows[5]["nodes"] = [3]
    rows[6]["start_time"], rows[6]["end_time"] = 89, 119


TAMPERED: list[tuple[Callable[[Rows], None], str]] = [
    (_start_earlier, "job 3: start_time: expected at least 10, its submission, found 5"),
    (_start_earlier, "job 3: end_time: expected 3705, found 3800"),
    (_start_on_time_on_a_busy_node, "node thin-0, second 50: core: expected at most 4"),
    (_start_on_time_on_a_busy_node, "found 8, held by jobs 1, 3"),
    (_swap_node, "node thin-0, second 100: core: expected at most 4, its capacity, found 5"),
    (_leave_group, "job 4: node: expected one of thin, found fat-0"),
    (_change_units, "job 2: units: expected 2, found 3"),
    (_place_more_units, "job 2: units placed: expected 2, found 3"),
    (_place_twice, "job 3: node 1: expected once, found again"),
    (_unknown_node, "job 6: node: expected a number from 0 to 3, found 44"),
    (_no_units, "job 3, node 1: units: expected at least 1, found 0"),
    (_too_large_for_node, "job 1, node thin-1: core: expected at most 4, its capacity, found 8"),
    (_too_large_for_node, "job 1, node thin-1: units: expected 1 on each, found 2"),
    (_no_one_unit_per_node, "job 1: one_unit_per_node: expected True, found False"),
    (_drop, "job 5: expected in the run, found only in the trace"),
    (_drop, "jobs completed: expected 6, found 7"),
    (_double, "job 7: expected once in the run, found 2 times"),
    (_rename, "job 70: expected to be in the trace, found only in the run"),
    (_state, "job 1: expected no start, end or places of a rejected job"),
    (_demand, "job 1: demand: expected"),
    (_request, "job 1: unit_request of mem: expected 2, found 1"),
    (_later_submission, "job 4: submit_time: expected 20, found 21"),
    (_share_exclusive, "node fat-0, second 89: core: expected at most 4"),
]


@pytest.mark.parametrize(("change", "expected"), TAMPERED)
def test_tampered_jobs(tmp_path: Path, change: Callable[[Rows], None], expected: str) -> None:
    """Each change of the jobs is found, and the message names job, node and instant."""
    run = write_run(tmp_path / "run")

    def change_by_number(rows: Rows) -> None:
        rows.sort(key=lambda row: row["job_id"])
        change(rows)

    tamper_jobs(run, change_by_number)
    report = audit_run(run)
    assert not report.ok
    assert expected in messages(report)


@pytest.mark.parametrize("name", list(write_run.__globals__["METRICS"]))
def test_tampered_metric(tmp_path: Path, name: str) -> None:
    """A metric that is off by a millionth is found, as is one that is missing."""
    run = write_run(tmp_path / "run")
    path = run.path / "summary.json"
    tamper_json(path, lambda s: s["metrics"].update({name: s["metrics"][name] * 1.000001}))
    assert f"metrics.{name}: expected" in messages(audit_run(run))
    tamper_json(path, lambda s: s["metrics"].pop(name))
    assert f"metrics.{name}: expected" in messages(audit_run(run))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda s: s["jobs"]["skipped"].update(zero_run_time=2), "skipped for zero_run_time"),
        (lambda s: s["jobs"]["clipped"].update(made_up=1), "clipped for made_up"),
        (lambda s: s["jobs"].update(read=7), "records read"),
        (lambda s: s["objective"].update(value=1.0), "objective.value"),
        (lambda s: s["objective"].update(name="af"), "objective.name"),
        (lambda s: s["utilization_by_resource"].update(gpu=1.0), "utilization_by_resource.gpu"),
        (lambda s: s["loss_of_capacity_by_resource"].update(mem=0.3), "by_resource.mem"),
        (lambda s: s["percentiles"]["wait_time"].update(p50=1), "percentiles.wait_time.p50"),
        (lambda s: s["classes"][1].update(mean_wait_time=1.0), "classes[1].mean_wait_time"),
        (lambda s: s["rounds"].update(count=99), "rounds: expected"),
        (lambda s: s["definitions"]["p2sf"]["parameters"].update(alpha=3), "definitions.p2sf"),
    ],
)
def test_tampered_summary(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], expected: str
) -> None:
    """Whatever else is changed in the summary is found."""
    run = write_run(tmp_path / "run")
    tamper_json(run.path / "summary.json", change)
    assert expected in messages(audit_run(run))


@pytest.mark.parametrize(
    ("name", "parameters", "note"),
    [
        ("energy", {}, "the objective energy is a plugin's and"),
        (
            "weighted_sum",
            {"terms": [{"objective": {"name": "energy"}, "weight": 1.0}]},
            "the objective weighted_sum adds up energy, a plugin's, and",
        ),
    ],
)
def test_an_objective_of_a_plugin_is_noted(
    tmp_path: Path, name: str, parameters: dict[str, Any], note: str
) -> None:
    """Only the plugin can say what its objective is worth; that it was not checked is told."""
    run = write_run(tmp_path / "run")
    stated = {"name": name, "parameters": parameters, "value": 1.0}
    tamper_json(run.path / "summary.json", lambda s: s.update(objective=stated))
    declared = DECLARED._replace(objective=name, objective_parameters=parameters)
    report = audit_run(run, declared=declared)
    assert report.ok
    notes = [text for check in report.checks for text in check.notes]
    assert f"{note} was not worked out again" in notes


def test_tampered_timing(tmp_path: Path) -> None:
    """Times that do not follow from the rounds are found."""
    run = write_run(tmp_path / "run")
    tamper_json(run.path / "timing.json", lambda t: t["rounds"].update(decision_time_p99=2.5))
    assert "decision_time_p99: expected" in messages(audit_run(run))


def test_changed_trace(tmp_path: Path) -> None:
    """A trace that has changed since the run is found by its hash."""
    run = write_run(tmp_path / "run")
    (tmp_path / "trace.txt").write_text("another trace")
    assert "SHA-256 of" in messages(audit_run(run))


def test_many_violations_are_counted(tmp_path: Path) -> None:
    """A check spells out a few violations and counts the rest."""
    jobs = [Placed(job(k, 0, 1, (1, 1, 0), 5), 0, {0: 1}) for k in range(40)]
    report = audit_run(write_run(tmp_path / "run", jobs), [p.traced for p in jobs[:15]])
    presence = report.checks[1]
    assert presence.count == 25
    assert len(presence.violations) == 10
    assert "  … and 15 more" in list(report.lines())


def test_a_changed_file(tmp_path: Path) -> None:
    """A file that was changed, taken away or slipped in is found by its hash, or the lack of it."""
    run = write_run(tmp_path / "run")
    (run.path / "notes.txt").write_text("mine")
    report = audit_run(run)
    assert report.ok, messages(report)
    assert report.checks[-1].notes == ["notes.txt was put there after the run"]
    (run.path / "scenario.yaml").write_text("name: another\n")
    (run.path / "events.jsonl").write_text("{}\n")
    assert "SHA-256 of scenario.yaml: expected" in messages(audit_run(run))
    assert "events.jsonl has its SHA-256 in the manifest: expected True, found False" in messages(
        audit_run(run)
    )
    seal(run.path)
    said = messages(audit_run(run))
    assert "events.jsonl is there: expected False, found True" in said
    assert "SHA-256" not in said
    (run.path / "events.jsonl").unlink()
    assert "events.jsonl is in the directory: expected True, found False" in messages(
        audit_run(run)
    )
