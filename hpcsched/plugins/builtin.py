"""The plugins that come with hpcsched, registered through the same hooks as everyone's.

What they are made of is imported inside the hooks, so that a kind costs nothing until it is asked
for.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.plugins.registry import (
    FOLLOWS_RECORD,
    KEEPS_REQUESTS,
    KEEPS_WAITS,
    PLANS_OFFLINE,
    RECORDS_WAITS,
    SEES_RUN_TIME,
    Caution,
    Context,
    Plugin,
)
from hpcsched.plugins.spec import hookimpl

if TYPE_CHECKING:
    from hpcsched.dispatching.cp.backends.installed import Package
    from hpcsched.dispatching.rules.orders import KeyOrder
    from hpcsched.experiment.executors.dask_params import DaskParams
    from hpcsched.system.system import System
    from hpcsched.workload.readers.swf import SwfParams
    from hpcsched.workload.readers.table.params import TableParams


@hookimpl
def hpcsched_trace_sources() -> Iterable[Plugin]:
    """Return those that read logs, and those that make jobs up.

    The first are `swf`, `alea`, `slurm-sacct`, `pbs-accounting`, `batsim`, `table` and `run`; the
    others `eurora-like`, `kit-like`, `lublin99` and `mimic`.
    """
    from hpcsched.workload.readers.alea import AleaParams, AleaSource
    from hpcsched.workload.readers.batch.pbs_accounting import (
        PbsAccountingParams,
        PbsAccountingSource,
    )
    from hpcsched.workload.readers.batch.slurm_sacct import SlurmSacctParams, SlurmSacctSource
    from hpcsched.workload.readers.batsim.source import BatsimParams, BatsimSource
    from hpcsched.workload.readers.run_source import RunSource, RunSourceParams
    from hpcsched.workload.readers.swf import SwfParams, SwfSource
    from hpcsched.workload.readers.table.params import TableParams
    from hpcsched.workload.synthetic.eurora_like import EuroraLikeParams, make_eurora_like
    from hpcsched.workload.synthetic.kit_like import KitLikeParams, make_kit_like
    from hpcsched.workload.synthetic.lublin99 import Lublin99Params, make_lublin99
    from hpcsched.workload.synthetic.mimic import MimicParams, make_mimic

    waits = frozenset({RECORDS_WAITS})
    yield Plugin(
        "swf",
        "Standard Workload Format logs, plain or gzip",
        lambda params, context: SwfSource(params, context.system),
        SwfParams,
        capabilities=waits,
        review=_review_swf,
    )
    yield Plugin(
        "alea",
        "logs of the Alea simulator: cores and memory, node properties, exclusive use",
        lambda params, context: AleaSource(params, context.system),
        AleaParams,
        waits,
    )
    yield Plugin(
        "slurm-sacct",
        "what Slurm's `sacct --parsable2` prints: cores, memory, GPUs, names",
        lambda params, context: SlurmSacctSource(params, context.system),
        SlurmSacctParams,
        waits,
    )
    yield Plugin(
        "pbs-accounting",
        "accounting logs of PBS Professional and TORQUE: chunks, memory, GPUs, names",
        lambda params, context: PbsAccountingSource(params, context.system),
        PbsAccountingParams,
        waits,
    )
    yield Plugin(
        "batsim",
        "workloads of the simulator Batsim, in JSON: jobs whose profiles are delays",
        lambda params, context: BatsimSource(params, context.system),
        BatsimParams,
    )
    yield Plugin(
        "table",
        "tables of jobs, CSV or Parquet, whose columns the scenario names",
        _make_table,
        TableParams,
        waits,
    )
    yield Plugin(
        "run",
        "the jobs of an earlier run, live or simulated, as they ran",
        lambda params, context: RunSource(params, context.system),
        RunSourceParams,
        waits,
    )
    yield Plugin(
        "eurora-like",
        "made up: stands in for the log of Eurora, with cores, memory, GPUs and MICs",
        make_eurora_like,
        EuroraLikeParams,
    )
    yield Plugin(
        "kit-like",
        "made up: stands in for the log of KIT's ForHLR II, most jobs on whole nodes",
        make_kit_like,
        KitLikeParams,
    )
    yield Plugin(
        "lublin99",
        "made up: the model of rigid jobs of Lublin and Feitelson, 2003",
        make_lublin99,
        Lublin99Params,
    )
    yield Plugin(
        "mimic",
        "made up: jobs like those of another trace, as many as are wanted",
        make_mimic,
        MimicParams,
    )


def _make_table(params: "TableParams", context: Context) -> object:
    """Build the source that reads tables; what reads Parquet files is imported only then."""
    from hpcsched.workload.readers.table.source import TableSource

    return TableSource(params, context.system)


def _review_swf(params: "SwfParams", system: "System") -> Iterable[Caution]:
    """Warn where no node could hold even one unit, so that every job would be skipped."""
    from hpcsched.system.space import room_for
    from hpcsched.workload.readers.swf import parted, types_in_records

    unit = None if params.unit is None else parted(params.unit, system)[0]
    if unit is None:
        known = {*system.resource_types, *(pool.name for pool in system.pools)}
        lacking = set(types_in_records(Path(params.path))) - known
        if lacking:
            names = ", ".join(sorted(lacking))
            message = f"its units ask for {names}, which no node group has; the run will be refused"
            yield Caution("unknown-resource-type", message, "path")
    elif set(unit) <= set(system.resource_types) and not room_for(system, system.request(unit)):
        yield Caution("no-node-holds-unit", "no node can hold a unit that asks for this", "unit")


@hookimpl
def hpcsched_transforms() -> Iterable[Plugin]:
    """Return `window`, `first`, `without-flurries`, `sample-users`, and what changes jobs.

    That is `scale-load`, `scale-sizes`, `shift`, `jitter` and `attach`.
    """
    from hpcsched.workload.transforms import (
        attaching,
        flurries,
        jittering,
        shifting,
        user_sampling,
    )
    from hpcsched.workload.transforms.first import First, FirstParams
    from hpcsched.workload.transforms.load_scaling import ScaleLoad, ScaleLoadParams
    from hpcsched.workload.transforms.size_scaling import ScaleSizes, ScaleSizesParams
    from hpcsched.workload.transforms.window import Window, WindowParams

    keeps, part = frozenset({KEEPS_REQUESTS}), frozenset({KEEPS_REQUESTS, KEEPS_WAITS})
    yield Plugin(
        "window",
        "the jobs submitted within a part of the trace",
        lambda params, _context: Window(params),
        WindowParams,
        part,
    )
    yield Plugin(
        "first",
        "so many jobs from the beginning",
        lambda params, _context: First(params),
        FirstParams,
        part,
    )
    yield Plugin(
        "without-flurries",
        "the jobs that belong to no burst of a single user's activity",
        lambda params, _context: flurries.WithoutFlurries(params),
        flurries.WithoutFlurriesParams,
        part,
    )
    yield Plugin(
        "sample-users",
        "the jobs of a share of the users",
        user_sampling.SampleUsers,
        user_sampling.SampleUsersParams,
        part,
    )
    yield Plugin(
        "scale-load",
        "more or less load, by the times between submissions",
        lambda params, _context: ScaleLoad(params),
        ScaleLoadParams,
        keeps,
    )
    yield Plugin(
        "scale-sizes",
        "more or less load, by the number of units of each job",
        ScaleSizes,
        ScaleSizesParams,
        keeps,
    )
    yield Plugin(
        "shift",
        "jobs submitted earlier or later, all of them or those of some users",
        lambda params, _context: shifting.Shift(params),
        shifting.ShiftParams,
        keeps,
    )
    yield Plugin(
        "jitter",
        "jobs submitted a little later, each by a draw of its own",
        jittering.Jitter,
        jittering.JitterParams,
        keeps,
    )
    yield Plugin(
        "attach",
        "a resource type that jobs ask for and the trace says nothing of",
        attaching.Attach,
        attaching.AttachParams,
    )


@hookimpl
def hpcsched_predictors() -> Iterable[Plugin]:
    """Return `requested-time` and `actual`, and those that learn or build on others.

    That is `last-two`, `profile`, `profile-confidence` and `inflated`.
    """
    from hpcsched.prediction.actual import Actual
    from hpcsched.prediction.inflated import InflatedParams, make_inflated
    from hpcsched.prediction.last_two import LastTwo, LastTwoParams
    from hpcsched.prediction.profile import Profile, ProfileParams
    from hpcsched.prediction.profile_confidence import ProfileConfidence, ProfileConfidenceParams
    from hpcsched.prediction.requested_time import RequestedTime

    yield Plugin(
        "requested-time",
        "the time that the user requested",
        lambda _params, _context: RequestedTime(),
    )
    yield Plugin(
        "actual",
        "the real run time, which no real system knows (an oracle)",
        lambda _params, _context: Actual(),
        capabilities=frozenset({SEES_RUN_TIME}),
    )
    yield Plugin(
        "last-two",
        "the mean run time of the user's last two jobs",
        lambda params, _context: LastTwo(params),
        LastTwoParams,
    )
    yield Plugin(
        "profile",
        "the run time of the user's last job of a similar profile, by six rules",
        lambda params, _context: Profile(params),
        ProfileParams,
    )
    yield Plugin(
        "profile-confidence",
        "the requested time of users who have been accurate, and otherwise as profile",
        lambda params, _context: ProfileConfidence(params),
        ProfileConfidenceParams,
    )
    yield Plugin(
        "inflated",
        "what another predictor says, multiplied",
        make_inflated,
        InflatedParams,
    )


@hookimpl
def hpcsched_corrections() -> Iterable[Plugin]:
    """Return `one-second`, `doubling` and `requested-time`."""
    from hpcsched.prediction import corrections

    yield Plugin(
        "one-second",
        "one more second, in every round anew",
        lambda _params, _context: corrections.OneSecond(),
    )
    yield Plugin(
        "doubling",
        "the prediction doubled as often as needed, up to the requested time",
        lambda _params, _context: corrections.Doubling(),
    )
    yield Plugin(
        "requested-time",
        "the requested time; when that has passed, one more second",
        lambda _params, _context: corrections.ToRequestedTime(),
    )


@hookimpl
def hpcsched_dispatchers() -> Iterable[Plugin]:
    """Return those that follow rules, `order-search`, `hyper`, and those that plan with a solver.

    The first are `reject`, `list`, `easy`, `prb`, `relaxed`, `slack`, `conservative` and
    `recorded`; the last
    `hcp19`, `pcp19`, `pcp4`, `pcp20`, `pcp21`, `node-time`, `joint-now`, `cp` and `best-of`.
    """
    from hpcsched.dispatching.cp.params import DISPATCHERS
    from hpcsched.dispatching.hyper.params import HyperParams
    from hpcsched.dispatching.rules.factories import RULES, make_recorded
    from hpcsched.dispatching.rules.params import RecordedParams
    from hpcsched.dispatching.search.params import OrderSearchParams

    for name, summary, make, rule_params in RULES:
        yield Plugin(name, summary, make, rule_params)
    yield Plugin(
        "recorded",
        "the log's own schedule: each job starts when the log says that it did",
        make_recorded,
        RecordedParams,
        frozenset({FOLLOWS_RECORD}),
    )
    yield Plugin(
        "order-search",
        "list scheduling in the order that costs least, found by compiled search",
        _make_order_search,
        OrderSearchParams,
        frozenset({PLANS_OFFLINE}),
    )
    yield Plugin(
        "hyper",
        "tunes itself: replays the past under others, and moves to what served best",
        _make_hyper,
        HyperParams,
    )
    for name, summary, params in DISPATCHERS:
        yield Plugin(name, summary, partial(_make_cp, name), params)


def _make_order_search(params: Any, context: Any) -> object:
    """Build the dispatcher that searches orders; what it takes is imported only then."""
    from hpcsched.dispatching.offline.dispatchers import OfflineToo
    from hpcsched.dispatching.search.factories import make_order_search

    online = make_order_search(params, context)
    return OfflineToo(online, online.allocator, params.budget, context.seed)


def _make_hyper(params: Any, context: Any) -> object:
    """Build the dispatcher that tunes itself, with what replays the past for it."""
    from hpcsched.dispatching.hyper.factory import make_hyper
    from hpcsched.simulation.rehearsal import Rehearsals

    return make_hyper(params, context, Rehearsals(context))


def _make_cp(name: str, params: Any, context: Any) -> object:
    """Build a CP dispatcher; what it takes is imported only then."""
    from hpcsched.dispatching.cp.factories import MAKERS

    return MAKERS[name](params, context)


@hookimpl
def hpcsched_queue_orders() -> Iterable[Plugin]:
    """Return orders by what jobs are, by how long they have waited, and by formulas of studies.

    The first are `fcfs`, `sjf`, `ljf`, `saf`, `laf` and `spf`; the second are `slowdown` and
    `expected_wait`. `sjf`, these two and `multifactor` have parameters. Those of studies are
    `wfp3`, `unicef`, `f1`, `f2`, `f3` and `f4`.
    """
    from hpcsched.dispatching.rules import orders, sized_orders
    from hpcsched.dispatching.rules.factories import (
        make_expected_wait,
        make_shortest_job,
        make_slowdown,
    )
    from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
    from hpcsched.dispatching.rules.params import (
        ExpectedWaitParams,
        ShortestJobParams,
        SlowdownParams,
    )

    yield Plugin(
        "fcfs", "first come, first served", lambda _params, _context: orders.ArrivalOrder()
    )
    yield Plugin(
        "slowdown",
        "largest slowdown first, if it started now",
        make_slowdown,
        SlowdownParams,
    )
    yield Plugin("sjf", "shortest job first", make_shortest_job, ShortestJobParams)
    keys = {
        "ljf": ("longest job first", orders.longest_job),
        "saf": ("smallest area first", orders.smallest_area),
        "laf": ("largest area first", orders.largest_area),
        "spf": ("smallest area × run time first", orders.smallest_product),
    }
    for name, (summary, key) in keys.items():
        yield Plugin(name, summary, partial(_make_key_order, key))
    of_system = {
        "wfp3": ("largest (wait / run time)³ × processors first", sized_orders.wfp3),
        "unicef": ("largest wait / (run time × log₂ processors) first", sized_orders.unicef),
        "f1": ("smallest log₁₀(run time) × processors + 870 × log₁₀(submit time)", sized_orders.f1),
        "f2": ("smallest √(run time) × processors + 25600 × log₁₀(submit time)", sized_orders.f2),
        "f3": ("smallest run time × processors + 6.86e6 × log₁₀(submit time)", sized_orders.f3),
        "f4": ("smallest run time × √processors + 5.3e5 × log₁₀(submit time)", sized_orders.f4),
    }
    for name, (summary, make) in of_system.items():
        yield Plugin(name, summary, partial(_make_sized_order, make))
    yield Plugin(
        "expected_wait",
        "largest wait time over the wait that is expected in its queue first",
        make_expected_wait,
        ExpectedWaitParams,
    )
    yield Plugin(
        "multifactor",
        "the highest priority first, by age, size, fair share, partition and quality of service",
        _make_multifactor,
        MultifactorParams,
    )


def _make_multifactor(params: Any, context: Context) -> object:
    from hpcsched.dispatching.rules.multifactor import MultifactorOrder

    return MultifactorOrder(params, context.system, context.partitions)


def _make_sized_order(make: Any, _params: Params, context: Context) -> object:
    return make(context.system)


def _make_key_order(key: Any, _params: Params, _context: Context) -> "KeyOrder":
    from hpcsched.dispatching.rules.orders import KeyOrder

    return KeyOrder(key)


@hookimpl
def hpcsched_allocators() -> Iterable[Plugin]:
    """Return `first_fit`, `best_fit`, `keep_scarce`, `balanced`, `weighted` and `hybrid`."""
    from hpcsched.dispatching.rules import allocators, critical, factories
    from hpcsched.dispatching.rules.params import CriticalParams

    yield Plugin(
        "first_fit",
        "the lowest-numbered nodes with room",
        lambda _params, _context: allocators.FirstFit(),
    )
    yield Plugin(
        "best_fit",
        "the fullest nodes with room",
        lambda _params, _context: allocators.BestFit(),
    )
    yield Plugin(
        "keep_scarce",
        "nodes that offer least of what the job does not need; the fullest among them",
        lambda _params, _context: allocators.KeepScarce(),
    )
    yield Plugin(
        "balanced",
        "nodes without critical resources, then by turns those that have some",
        factories.make_balanced,
        CriticalParams,
        review=_review_critical,
    )
    yield Plugin(
        "weighted",
        "nodes on which least would be left of what is in demand",
        lambda _params, _context: critical.Weighted(),
    )
    yield Plugin(
        "hybrid",
        "as balanced, by the weights of weighted among nodes of a kind",
        factories.make_hybrid,
        CriticalParams,
        review=_review_critical,
    )


def _review_critical(params: Any, system: "System") -> Iterable[Caution]:
    """Refuse critical resource types that no node group has."""
    for name in params.unknown(system):
        message = f"{name} cannot be critical: no node group has it"
        yield Caution("unknown-resource-type", message, "critical", "error")


@hookimpl
def hpcsched_solvers() -> Iterable[Plugin]:
    """Return `ortools`, `schedule-or-postpone`, `choco`, `pumpkin`, `z3`, `exact` and `cpo`."""
    from hpcsched.dispatching.cp.backends.plugins import SOLVERS

    for solver in SOLVERS:
        yield Plugin(
            solver.name,
            solver.summary,
            solver.factory,
            solver.params,
            review=partial(_review_solver, solver.package) if solver.package else None,
        )


def _review_solver(package: "Package", _params: Params, _system: "System") -> Iterable[Caution]:
    """Say what to install where the solver is not there."""
    try:
        package.require()
    except PluginError as error:
        yield Caution("not-installed", str(error), severity="error")


@hookimpl
def hpcsched_objectives() -> Iterable[Plugin]:
    """Return `slowdown`, `bounded_slowdown`, `af`, `wait_time`, `awf`, `psf` and `makespan`.

    And `weighted_sum`, of these and others.
    """
    from hpcsched.dispatching import objectives
    from hpcsched.metrics.figures import AlphaParams, TauParams

    yield Plugin("slowdown", "mean slowdown", objectives.make_slowdown)
    yield Plugin(
        "bounded_slowdown", "mean bounded slowdown", objectives.make_bounded_slowdown, TauParams
    )
    yield Plugin("af", "mean response time", objectives.make_af)
    yield Plugin("wait_time", "mean wait time", objectives.make_wait_time)
    yield Plugin("awf", "area-weighted mean response time", objectives.make_awf)
    yield Plugin(
        "psf", "priority-weighted specific response time", objectives.make_psf, AlphaParams
    )
    yield Plugin("makespan", "last end less first submission", objectives.make_makespan)
    yield Plugin(
        "weighted_sum",
        "objectives added up, each with its weight",
        objectives.make_weighted_sum,
        objectives.WeightedSumParams,
    )


@hookimpl
def hpcsched_metrics() -> Iterable[Plugin]:
    """Return the metrics of `summary.json`, in its order."""
    from hpcsched.metrics import figures

    yield Plugin(
        "mean_bounded_slowdown",
        "mean of max(1, response time / max(run time, tau))",
        figures.make_mean_bounded_slowdown,
        figures.TauParams,
    )
    yield Plugin("mean_slowdown", "mean of response time / run time", figures.make_mean_slowdown)
    yield Plugin("mean_wait_time", "mean wait time", figures.make_mean_wait_time)
    yield Plugin("mean_response_time", "mean response time (AF)", figures.make_mean_response_time)
    yield Plugin(
        "area_weighted_response_time",
        "mean response time weighted by area (AWF)",
        figures.make_area_weighted_response_time,
    )
    yield Plugin(
        "p2sf",
        "priority-weighted specific response time (PαSF)",
        figures.make_p2sf,
        figures.AlphaParams,
    )
    yield Plugin(
        "utilization", "share of the busiest resource type in use", figures.make_utilization
    )
    yield Plugin("makespan", "last end less first submission", figures.make_makespan)
    yield Plugin(
        "loss_of_capacity",
        "share of the busiest resource type that waiting jobs could have used",
        figures.make_loss_of_capacity,
    )


@hookimpl
def hpcsched_observers() -> Iterable[Plugin]:
    """Return `event-log`, `reasons` and `cpu-memory`."""
    from hpcsched.simulation.event_log import EventLog

    yield Plugin(
        "event-log",
        "writes every event to events.jsonl in the run directory",
        lambda _params, context: EventLog(context.folder),
    )
    yield Plugin(
        "reasons",
        "asks the dispatcher why jobs start or wait; writes reasons.parquet in the run directory",
        _make_reasons,
    )
    yield Plugin(
        "cpu-memory",
        "measures CPU time and memory of the simulation, round by round; writes usage.parquet",
        _make_usage,
    )


def _make_usage(_params: Params, context: Context) -> object:
    """Build the observer of CPU time; what writes Parquet files is imported only then."""
    from hpcsched.results.process_usage import ProcessUsage

    return ProcessUsage(context.folder)


def _make_reasons(_params: Params, context: Context) -> object:
    """Build the observer that records reasons; what writes Parquet files is imported only then."""
    from hpcsched.results.reasons import ReasonRecorder

    return ReasonRecorder(context.folder)


@hookimpl
def hpcsched_workload_managers() -> Iterable[Plugin]:
    """Return `state-file`."""
    from hpcsched.system.state_file import StateFile, StateFileParams

    yield Plugin(
        "state-file",
        "a cluster as some program has written it down; nothing can be placed on it",
        lambda params, _context: StateFile(params),
        StateFileParams,
    )


@hookimpl
def hpcsched_executors() -> Iterable[Plugin]:
    """Return `local` and `dask`."""
    from hpcsched.experiment.executors.dask_params import DaskParams
    from hpcsched.experiment.executors.local import LocalExecutor, LocalParams

    yield Plugin(
        "local",
        "processes of this machine",
        lambda params, _folder: LocalExecutor(params),
        LocalParams,
    )
    yield Plugin(
        "dask",
        "workers of a Dask cluster: here, at an address, or started by a batch system",
        _make_dask,
        DaskParams,
        review=_review_dask,
    )


def _make_dask(params: "DaskParams", _folder: object) -> object:
    """Build the executor; Dask is imported only then."""
    from hpcsched.experiment.executors.dask_params import what_to_install

    missing = what_to_install(params)
    if missing:
        raise PluginError(missing)
    from hpcsched.experiment.executors.dask_cluster import DaskExecutor

    return DaskExecutor(params)


def _review_dask(params: "DaskParams", _system: "System") -> Iterable[Caution]:
    """Say what to install where Dask is not there."""
    from hpcsched.experiment.executors.dask_params import what_to_install

    missing = what_to_install(params)
    if missing:
        yield Caution("not-installed", missing, severity="error")
