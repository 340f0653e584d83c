"""Run directory of a live run: events of the cluster, rounds and reasons."""

from collections.abc import Sequence
from typing import Any

from hpcsched.dispatching.decision_reasons import Reason
from hpcsched.results.directory import RunDirectory, create
from hpcsched.results.files import SCENARIO
from hpcsched.results.manifest import ON_A_CLUSTER, Status, finish_manifest, start_manifest
from hpcsched.results.reasons import ReasonRecorder
from hpcsched.results.recorder import RunRecorder
from hpcsched.results.summary import Breakdown, ChosenObjective, Left, summarize, write_summary
from hpcsched.results.timing import write_timing
from hpcsched.runs.assembly import Assembly
from hpcsched.scenario import resolved_yaml
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import RoundRecord
from hpcsched.workload.trace_account import TraceAccount


class RunFolder:
    """Files of a live run, written as it goes; `finish` it in the end.

    Attributes
    ----------
    observers
        Observers to be notified of jobs.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """

    def __init__(self, assembly: Assembly, *, force: bool) -> None:
        scenario, folder = assembly.scenario, assembly.folder
        self._assembly = assembly
        self._metrics = assembly.metrics()
        self._lock = create(folder, force=force)
        self._manifest = start_manifest(
            folder,
            scenario=scenario.name,
            seed=scenario.seed,
            trace_files=[],
            plugins=assembly.distributions(),
            not_reproducible_because=[ON_A_CLUSTER],
        )
        (folder / SCENARIO).write_text(resolved_yaml(scenario), encoding="utf-8")
        own: list[Observer] = [RunRecorder(folder, assembly.system)]
        listed = assembly.observers()
        if not any(isinstance(observer, ReasonRecorder) for observer in listed):
            own.append(ReasonRecorder(folder))
        self.observers: Sequence[Observer] = [*own, *listed]

    def round_ended(self, record: RoundRecord, reasons: Sequence[Reason]) -> None:
        """Write a round and the reasons of its decision."""
        for observer in self.observers:
            observer.round_ended(record)
            observer.reasons_given(record, reasons)

    def finish(self, status: Status, account: TraceAccount, left: Left | None) -> RunDirectory:
        """Write the summary and the remaining files; return the run directory."""
        folder = self._assembly.folder
        for observer in self.observers:
            observer.close()
        write_summary(folder, self._summary(account, left))
        write_timing(folder)
        finish_manifest(folder, self._manifest, status, [], [ON_A_CLUSTER])
        self._lock.release()
        return RunDirectory.open(folder)

    def _summary(self, account: TraceAccount, left: Left | None) -> dict[str, Any]:
        scenario, system = self._assembly.scenario, self._assembly.system
        choice = scenario.objective
        parameters = choice.model_dump(exclude={choice.plugin_tag})
        return summarize(
            self._assembly.folder,
            capacity=dict(zip(system.resource_types, system.totals, strict=True)),
            account=account,
            metrics=self._metrics,
            objective=ChosenObjective(choice.plugin_name, self._assembly.objective, parameters),
            breakdown=Breakdown(scenario.metrics.percentiles, scenario.metrics.class_bounds),
            left=left,
        )
