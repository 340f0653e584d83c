"""Audits of run directories against their scenario, system and trace, and against a replay."""

from collections.abc import Container, Iterator
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from hpcsched.audit.auditor import audit
from hpcsched.audit.columns import Declared, open_run
from hpcsched.audit.violations import AuditReport, Check
from hpcsched.dispatching.hyper.hyper_dispatcher import Hyper
from hpcsched.dispatching.rules.core_rules import CoreRule
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.runs.assembly import assemble_again
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import (
    EVENTS,
    INTERRUPTIONS,
    JOBS,
    OUTAGES,
    REASONS,
    ROUNDS,
    SHARED_RESOURCES,
)
from hpcsched.runs.manifest import ON_A_CLUSTER, keeps_answers, package_versions
from hpcsched.runs.runner import replay_into_folder
from hpcsched.runs.tables import ParquetTable
from hpcsched.scenario import Scenario
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.key_path import blocks
from hpcsched.scenario.review import not_reproducible
from hpcsched.whole_files import file_error

_MEASURED = ("decision_time", "build_time", "transform_time", "solve_time")
"""What a clock measured, in rounds and in the solver's account of them."""

_OPTIONAL_TABLES = {REASONS: "round", OUTAGES: "", INTERRUPTIONS: "job_id", SHARED_RESOURCES: ""}
"""Tables that not all runs have, with the column that names a row, if one does."""


def why_not_replayed(
    run: RunDirectory, plugins: dict[str, str], settled: Container[str] = ()
) -> str | None:
    """Return why a replay of a run need not give equal results; None if it must.

    Parameters
    ----------
    run
        The run.
    plugins
        Present versions of the distributions that its scenario uses.
    settled
        Reasons of the manifest that do not matter, as the run kept what it read.
    """
    manifest = run.manifest
    because = [why for why in manifest.not_reproducible_because if why not in settled]
    if because:
        return "; ".join(because)
    # An error need not come again, or not at the same job.
    if manifest.status == "failed":
        return "the run failed"
    now = {**package_versions(), **plugins}
    for name, version in {**manifest.versions, **manifest.plugins}.items():
        if now.get(name) != version:
            return f"it was made with {name} {version}, and here is {now.get(name, 'none')}"
    return None


def compare_replay(run: RunDirectory, again: RunDirectory) -> AuditReport:
    """Compare a run with a replay of it.

    Jobs and rounds of an interrupted run are compared as far as it came.
    """
    checks = [
        _check_starts(run, again),
        _check_rows(run, again, JOBS, "job_id"),
        _check_rows(run, again, ROUNDS, "round"),
    ]
    if not run.partial:
        for name, key in _OPTIONAL_TABLES.items():
            if any((one.path / name).is_file() for one in (run, again)):
                checks.append(_check_rows(run, again, name, key))
        checks.append(_check_summary(run, again))
        if (run.path / EVENTS).is_file() or (again.path / EVENTS).is_file():
            checks.append(_check_events(run, again))
    return AuditReport(tuple(checks))


def _check_starts(run: RunDirectory, again: RunDirectory) -> Check:
    """Check that each job starts as in the replay."""
    check = Check("replayed: each job starts when it did")
    starts: list[dict[int, int]] = []
    for one in (again, run):
        table = one.jobs.whole()
        ids, times = table["job_id"].to_pylist(), table["start_time"].to_pylist()
        starts.append(dict(zip(ids, times, strict=True)))
    expected, found = starts
    for job_id, start in found.items():
        check.expect(f"job {job_id}: start_time", expected.get(job_id), start)
    if not run.partial:
        for job_id in sorted(set(expected) - set(found)):
            check.expect(f"job {job_id}: start_time", expected[job_id], None)
    return check


def _check_rows(run: RunDirectory, again: RunDirectory, name: str, key: str) -> Check:
    """Check that a table has the rows of the replay's, without times by the clock."""
    check = Check(f"replayed: {name} has the same rows, but for measured times")
    tables = [
        ParquetTable(path).whole() if path.is_file() else None
        for path in (again.path / name, run.path / name)
    ]
    expected, found = (None if table is None else _without_times(table) for table in tables)
    if expected is None or found is None:
        check.expect(f"{name} is there", expected is not None, found is not None)
        return check
    check.expect("columns", expected.column_names, found.column_names)
    if run.partial:
        # An interrupted run stops between two instants, so its rows are the first ones of the
        # replay.
        expected = expected.slice(0, found.num_rows)
    check.looked_at += found.num_rows
    # Arrow compares the columns at once; rows become Python objects only to name the difference.
    if expected.equals(found):
        return check
    nothing: dict[str, Any] = {}
    for number, (wanted, there) in enumerate(
        zip_longest(expected.to_pylist(), found.to_pylist(), fillvalue=nothing), 1
    ):
        if wanted != there:
            row = {**wanted, **there}
            where = f"{key} {row[key]}" if key in row else f"row {number}"
            for column in row:
                if wanted.get(column) != there.get(column):
                    check.found(
                        f"{where}: {column}: expected {wanted.get(column)},"
                        f" found {there.get(column)}"
                    )
    return check


def _without_times(table: pa.Table) -> pa.Table:
    """Return a table without times by the clock."""
    table = table.select([name for name in table.column_names if name not in _MEASURED])
    if "solver" not in table.column_names:
        return table
    calls = [
        None if call is None else {key: call[key] for key in call if key not in _MEASURED}
        for call in table["solver"].to_pylist()
    ]
    kind = pa.struct(
        [field for field in table.schema.field("solver").type if field.name not in _MEASURED]
    )
    # At its old place, since the order of columns is compared as well.
    where = table.column_names.index("solver")
    return table.set_column(where, "solver", pa.array(calls, kind))


def _check_summary(run: RunDirectory, again: RunDirectory) -> Check:
    check = Check("replayed: the summary is the same")
    expected, found = dict(_leaves(again.summary)), dict(_leaves(run.summary))
    for key in {**expected, **found}:
        check.expect(key, expected.get(key), found.get(key))
    return check


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of a summary with its key path."""
    if isinstance(value, dict) and value:
        for key, inside in value.items():
            yield from _leaves(inside, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for k, inside in enumerate(value):
            yield from _leaves(inside, f"{path}[{k}]")
    else:
        yield path, value


def _check_events(run: RunDirectory, again: RunDirectory) -> Check:
    check = Check(f"replayed: {EVENTS} has the same lines")
    lines = []
    for one in (again, run):
        path = one.path / EVENTS
        lines.append(path.read_text(encoding="utf-8").splitlines() if path.is_file() else [])
    for number, (expected, found) in enumerate(zip_longest(*lines), 1):
        check.expect(f"line {number}", expected, found)
    return check


def audit_directory(run: RunDirectory) -> AuditReport:
    """Audit a run."""
    if ON_A_CLUSTER in run.manifest.not_reproducible_because:
        message = "it was made on a real cluster: there is no trace to check it against"
        raise file_error("live-run", run.path, message)
    parts = assemble_again(run)
    scenario, chosen = parts.scenario, parts.scenario.dispatcher
    objective, predictor = scenario.objective, scenario.predictor
    chooser = parts.dispatcher if isinstance(parts.dispatcher, Hyper) else None
    deciding = [block for _, block in blocks(chosen) if isinstance(block, Choice)]
    third_party = set(parts.distributions(*deciding)) != {"hpcsched"}
    own_predictor = set(parts.distributions(predictor)) == {"hpcsched"}
    slurm_within = any(block.plugin_name == "slurm-backfill" for block in deciding)
    interval = chosen.bf_interval if isinstance(chosen, SlurmBackfillParams) else None
    checkpoint, rule = scenario.checkpoint, parts.dispatcher
    declared = Declared(
        name=scenario.name,
        seed=scenario.seed,
        definitions={
            name: {
                "unit": metric.metric.unit,
                "population": metric.metric.population,
                "parameters": scenario.metrics.parameters(name).model_dump(mode="json"),
            }
            for name, metric in parts.metrics().items()
        },
        objective=objective.plugin_name,
        objective_parameters=objective.model_dump(mode="json", exclude={"name"}),
        percentiles=scenario.metrics.percentiles,
        class_bounds=scenario.metrics.class_bounds,
        distributions=frozenset(parts.distributions()),
        charge=scenario.simulation.latency,
        not_reproducible=[why for _, why in not_reproducible(scenario)],
        offline=scenario.simulation.mode == "offline",
        follows_record=parts.recorded is not None,
        portfolio=() if chooser is None else chooser.labels,
        observers=frozenset(observer.plugin_name for observer in scenario.observers),
        third_party_dispatcher=third_party,
        calls_again=third_party or slurm_within or scenario.preempt is not None,
        backfill_interval=interval if scenario.preempt is None else None,
        by_arrival=not isinstance(rule, CoreRule) or isinstance(rule.order, ArrivalOrder),
    )
    at = open_run(
        run,
        parts.system,
        parts.source,
        declared,
        partitions=parts.partitions,
        policies=parts.policies,
        outages=parts.outages,
        preemption=parts.preemption,
        checkpoints=None if checkpoint is None else checkpoint.build(),
        kill_at_requested_time=scenario.simulation.kill_at_requested_time,
        predictor=predictor.plugin_name if own_predictor else "",
    )
    return audit(at)


def replay_directory(run: RunDirectory) -> AuditReport | str:
    """Run the scenario of a run again, and compare the two runs."""
    # A run of its own: the one under test must stay as it was written.
    with TemporaryDirectory() as folder:
        assembly = assemble_again(run, Path(folder) / "run")
        why = why_not_replayed(run, assembly.distributions(), _settled(run, assembly.scenario))
        if why is not None:
            return why
        again = replay_into_folder(assembly.build_all())
        if again.manifest.status == "interrupted":
            raise KeyboardInterrupt
        return compare_replay(run, again)


def _settled(run: RunDirectory, scenario: Scenario) -> frozenset[str]:
    """Return the reasons of the trace that count no longer, as the run kept the answers."""
    if not keeps_answers(run.path):
        return frozenset()
    return frozenset(why for path, why in not_reproducible(scenario) if path[0] == "trace")
