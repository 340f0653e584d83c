"""The hooks through which plugins register, built-in ones included.

A distribution names a module in the entry-point group `hpcsched`; functions in it, marked with
`hookimpl`, are called once. The factory of each plugin that they return makes an object of the
protocol named at the hook.
"""

from collections.abc import Iterable

import pluggy

from hpcsched.registration import Command, Plugin

PROJECT = "hpcsched"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def hpcsched_trace_sources() -> Iterable[Plugin]:
    """Return trace sources, selected by `trace: {source: NAME}`.

    A factory returns a `hpcsched.workload.trace_source.TraceSource`. One that can yield jobs as
    columns, too, is a `hpcsched.workload.job_batches.GivesColumns`. One that can tell how long jobs
    waited declares the capability `RECORDS_WAITS` and is a
    `hpcsched.workload.trace_source.RecordsWaits`. One that asks a program instead of reading files
    is a `hpcsched.workload.trace_source.ReadsAnswers`, so that a run records the answers.
    """


@hookspec
def hpcsched_transforms() -> Iterable[Plugin]:
    """Return transforms, listed under `trace: {transforms: [...]}`.

    A factory returns a `hpcsched.workload.transform.Transform`: given jobs by ascending submit time
    and a `hpcsched.workload.transform.TransformAccount`, it yields those that remain. One that
    never changes what job units ask for or where they may run declares the capability
    `KEEPS_REQUESTS`; one that only takes jobs away or moves the origin `KEEPS_WAITS` as well.
    """


@hookspec
def hpcsched_predictors() -> Iterable[Plugin]:
    """Return predictors, selected by `predictor: {name: NAME}`.

    A factory returns a `hpcsched.prediction.predictor.Predictor`. An oracle that is shown real run
    times declares the capability `SEES_RUN_TIME` and returns a
    `hpcsched.prediction.predictor.Oracle` instead. A predictor around another selects it by a field
    marked with `Selects`; around an oracle it may be one too. One that can name the rule behind a
    prediction is a `hpcsched.prediction.predictor.RulePredictor`.
    """


@hookspec
def hpcsched_corrections() -> Iterable[Plugin]:
    """Return corrections, selected by `correction: {name: NAME}`.

    A factory returns a `hpcsched.prediction.predictor.Correction`: what a running job is said to
    need when it has outlived its prediction.
    """


@hookspec
def hpcsched_dispatchers() -> Iterable[Plugin]:
    """Return dispatchers, selected by `dispatcher: {name: NAME}`.

    A factory returns a `hpcsched.dispatching.problem.Dispatcher`. Parameters that
    select an allocator or a queue order are fields marked with `Selects`, built with
    `Context.make`. One that starts jobs when a log says declares the capability
    `FOLLOWS_RECORD` and is a `hpcsched.dispatching.rules.recorded.FollowsRecord`.
    """


@hookspec
def hpcsched_queue_orders() -> Iterable[Plugin]:
    """Return queue orders, selected by dispatchers that sort their queue (`order: NAME`).

    A factory returns a `hpcsched.dispatching.rules.orders.QueueOrder`: the queue of a problem
    in the order in which to consider its jobs. One that also has the methods of
    `hpcsched.dispatching.problem.JobEventObserver` is told of starts and ends, as
    dispatchers and allocators are.
    """


@hookspec
def hpcsched_allocators() -> Iterable[Plugin]:
    """Return allocators, selected by dispatchers that place jobs (`allocator: NAME`).

    A factory returns a `hpcsched.dispatching.allocator.Allocator`: given how many units fit on each
    node, it says on which nodes a job's units go.
    """


@hookspec
def hpcsched_solvers() -> Iterable[Plugin]:
    """Return solvers of constraint programs, selected by CP dispatchers (`solver: NAME`).

    A factory returns a `hpcsched.dispatching.cp.backends.backend.Backend` or, for a solver that
    needs no CPMpy model, a `hpcsched.dispatching.cp.backends.backend.DataBackend`. Both can be
    pickled. A loaded model is a `hpcsched.dispatching.cp.backends.backend.Session`.
    """


@hookspec
def hpcsched_objectives() -> Iterable[Plugin]:
    """Return objectives, selected by `objective: {name: NAME}`.

    A factory returns a `hpcsched.dispatching.problem.Objective`, which measures finished runs. One
    that planners can minimise is a `hpcsched.dispatching.planned_cost.Plannable` or, for a ratio
    of sums, a `hpcsched.dispatching.planned_cost.PlannableRatio`.
    """


@hookspec
def hpcsched_metrics() -> Iterable[Plugin]:
    """Return metrics: every registered metric becomes one figure of `summary.json`.

    A factory returns a `hpcsched.metrics.metric.Metric`. Parameters are taken from the scenario's
    `metrics:` block, under the metric's name. One of nodes' devices declares the capability
    `NEEDS_DEVICES`, and is left out where there are none.
    """


@hookspec
def hpcsched_observers() -> Iterable[Plugin]:
    """Return observers, listed under `observers:` in a scenario.

    A factory returns a `hpcsched.simulation.observer.Observer`, which hears of every event and
    cannot change what happens. One that is a
    `hpcsched.dispatching.additional.DataProvider` as well tells dispatchers something.
    """


@hookspec
def hpcsched_workload_managers() -> Iterable[Plugin]:
    """Return workload managers, selected by `live: {workload_manager: NAME}`.

    A factory returns a `hpcsched.system.cluster.WorkloadManager`, which reads a real cluster and,
    for `hpcsched live drive`, places the jobs that it holds.
    """


@hookspec
def hpcsched_executors() -> Iterable[Plugin]:
    """Return executors, selected by `executor: {name: NAME}` in an experiment.

    A factory returns a `hpcsched.studies.executors.executor.Executor`. An executor
    belongs to no scenario: the second argument of the factory is the experiment's folder, a
    `pathlib.Path`.
    """


@hookspec
def hpcsched_commands() -> Iterable[Command]:
    """Return commands for the command line: a function or a group of typer, by its name.

    Each is a `hpcsched.registration.Command`. It is imported when somebody names the command or
    asks for `--help`, so that other commands start as quickly as before. A name of two words is a
    command of a group that is there already, such as `trace`.
    """
