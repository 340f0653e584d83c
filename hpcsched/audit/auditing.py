"""Audits of run directories against their scenario, system and trace."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hpcsched.audit.auditor import audit
from hpcsched.audit.declared import Charge, Declared, Definition
from hpcsched.audit.replay_comparison import compare_replay, why_not_replayed
from hpcsched.audit.violations import AuditReport
from hpcsched.dispatching.hyper.cp_portfolio import CpPortfolio
from hpcsched.dispatching.hyper.hyper_dispatcher import Hyper
from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.runs.assembly import assemble_again
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.manifest import ON_A_CLUSTER, keeps_answers
from hpcsched.runs.runner import replay_into_folder
from hpcsched.runs.watching import Watching
from hpcsched.scenario import Scenario
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.key_path import blocks
from hpcsched.scenario.review import not_reproducible
from hpcsched.whole_files import problem


def audit_directory(run: RunDirectory) -> AuditReport:
    """Audit a run.

    Raises
    ------
    InputError
        The run was made on a real cluster, its scenario is not valid here, or its trace cannot be
        read.
    """
    if ON_A_CLUSTER in run.manifest.not_reproducible_because:
        message = "it was made on a real cluster: there is no trace to check it against"
        raise problem("live-run", run.path, message)
    parts = assemble_again(run)
    scenario = parts.scenario
    objective, metrics = scenario.objective, parts.metrics()
    latency = scenario.simulation.latency
    chooser = parts.dispatcher if isinstance(parts.dispatcher, Hyper | CpPortfolio) else None
    deciding = [block for _, block in blocks(scenario.dispatcher) if isinstance(block, Choice)]
    own_predictor = set(parts.distributions(scenario.predictor)) == {"hpcsched"}
    third_party = set(parts.distributions(*deciding)) != {"hpcsched"}
    chosen = scenario.dispatcher
    slurm_within = any(block.plugin_name == "slurm-backfill" for block in deciding)
    interval = chosen.bf_interval if isinstance(chosen, SlurmBackfillParams) else None
    declared = Declared(
        name=scenario.name,
        seed=scenario.seed,
        metric_parameters={
            name: scenario.metrics.parameters(name).model_dump(mode="json") for name in metrics
        },
        definitions={
            name: Definition(chosen.metric.unit, chosen.metric.population)
            for name, chosen in metrics.items()
        },
        objective=objective.plugin_name,
        objective_parameters=objective.model_dump(mode="json", exclude={"name"}),
        percentiles=scenario.metrics.percentiles,
        class_bounds=scenario.metrics.class_bounds,
        distributions=frozenset(parts.distributions()),
        charge=None if latency is None else Charge(*latency),
        not_reproducible=[why for _, why in not_reproducible(scenario)],
        offline=scenario.simulation.mode == "offline",
        follows_record=parts.recorded is not None,
        portfolio=() if chooser is None else chooser.labels,
        observers=frozenset(observer.plugin_name for observer in scenario.observers),
        predictor=scenario.predictor.plugin_name if own_predictor else "",
        third_party_dispatcher=third_party,
        calls_again=third_party or slurm_within,
        backfill_interval=interval,
    )
    return audit(
        run,
        parts.system,
        parts.source,
        declared,
        kill_at_requested_time=scenario.simulation.kill_at_requested_time,
        partitions=parts.partitions,
        outages=parts.outages,
    )


def replay_directory(run: RunDirectory) -> AuditReport | str:
    """Run the scenario of a run again, and compare the two runs.

    Returns
    -------
    AuditReport or str
        The comparison; or the reason why it is impossible.

    Raises
    ------
    InputError
        The scenario is not valid here, or its trace cannot be read.
    """
    # A run of its own: the one under test must stay as it was written.
    with TemporaryDirectory() as folder:
        assembly = assemble_again(run, Path(folder) / "run")
        why = why_not_replayed(run, assembly.distributions(), _settled(run, assembly.scenario))
        if why is not None:
            return why
        watching = Watching(assembly.build_all(), progress=False, watch=False, page=None)
        again = replay_into_folder(assembly, watching, force=False)
        if again.manifest.status == "interrupted":
            raise KeyboardInterrupt
        return compare_replay(run, again)


def _settled(run: RunDirectory, scenario: Scenario) -> frozenset[str]:
    """Return the reasons of the trace that count no longer, as the run kept the answers."""
    if not keeps_answers(run.path):
        return frozenset()
    return frozenset(why for path, why in not_reproducible(scenario) if path[0] == "trace")
