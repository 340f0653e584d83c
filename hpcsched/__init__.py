"""hpcsched: declare an HPC system, a workload and a dispatcher; replay; report how well it went.

`load_scenario` reads and validates a YAML file, `run` replays it and returns a `RunResult`, and
`open_run` returns that of a run directory that is there already. `replay` replays a scenario in
memory, without a run directory, over a workload that `read_workload` reads once, so that many
dispatchers can be compared in one process. The other names are for plugins: protocols, parameters
and errors. These names are the public interface, with `hpcsched.testing` and the modules that
docs/api.md lists; every other module may change in any release.
"""

# Each name is loaded when it is first used: importing the package takes no time.
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hpcsched.version import __version__ as __version__

if TYPE_CHECKING:
    from hpcsched.context import Context as Context
    from hpcsched.dispatching.additional import AdditionalData as AdditionalData
    from hpcsched.dispatching.allocator import Allocator as Allocator
    from hpcsched.dispatching.allocator import Room as Room
    from hpcsched.dispatching.allocator import fill as fill
    from hpcsched.dispatching.cp.cp_dispatchers import cp_dispatcher as cp_dispatcher
    from hpcsched.dispatching.cp.cp_params import CpParams as CpParams
    from hpcsched.dispatching.cp.formulation import Formulation as Formulation
    from hpcsched.dispatching.cp.formulation import ModelParts as ModelParts
    from hpcsched.dispatching.cp.formulations.hcp19 import hcp19 as hcp19
    from hpcsched.dispatching.cp.formulations.joint_now import joint_now as joint_now
    from hpcsched.dispatching.cp.formulations.pcp21 import pcp21 as pcp21
    from hpcsched.dispatching.decision import Decision as Decision
    from hpcsched.dispatching.decision import Start as Start
    from hpcsched.dispatching.decision_reasons import Reason as Reason
    from hpcsched.dispatching.dispatcher_protocol import Dispatcher as Dispatcher
    from hpcsched.dispatching.job_events import JobEventObserver as JobEventObserver
    from hpcsched.dispatching.problem import DispatchingProblem as DispatchingProblem
    from hpcsched.dispatching.problem import Objective as Objective
    from hpcsched.dispatching.problem import RunningJob as RunningJob
    from hpcsched.dispatching.problem import WaitingJob as WaitingJob
    from hpcsched.dispatching.rules.allocators import BestFit as BestFit
    from hpcsched.dispatching.rules.allocators import FirstFit as FirstFit
    from hpcsched.dispatching.rules.orders import KeyOrder as KeyOrder
    from hpcsched.dispatching.rules.orders import QueueOrder as QueueOrder
    from hpcsched.dispatching.rules.workspace import Workspace as Workspace
    from hpcsched.dispatching.rules.workspace import open_workspace as open_workspace
    from hpcsched.errors import DecisionError as DecisionError
    from hpcsched.errors import Finding as Finding
    from hpcsched.errors import HpcschedError as HpcschedError
    from hpcsched.errors import InputError as InputError
    from hpcsched.errors import Place as Place
    from hpcsched.errors import PluginError as PluginError
    from hpcsched.metrics.metric import Metric as Metric
    from hpcsched.metrics.metric import RunTables as RunTables
    from hpcsched.parameters import Amount as Amount
    from hpcsched.parameters import Duration as Duration
    from hpcsched.parameters import InputPath as InputPath
    from hpcsched.parameters import Listed as Listed
    from hpcsched.parameters import NotReproducible as NotReproducible
    from hpcsched.parameters import OutputPath as OutputPath
    from hpcsched.parameters import Params as Params
    from hpcsched.parameters import PositiveAmount as PositiveAmount
    from hpcsched.parameters import PositiveDuration as PositiveDuration
    from hpcsched.parameters import ResourceType as ResourceType
    from hpcsched.parameters import Selects as Selects
    from hpcsched.plugins.spec import hookimpl as hookimpl
    from hpcsched.prediction.corrections import Correction as Correction
    from hpcsched.prediction.predictor import Oracle as Oracle
    from hpcsched.prediction.predictor import Predictor as Predictor
    from hpcsched.prediction.predictor import capped as capped
    from hpcsched.registration import KEEPS_REQUESTS as KEEPS_REQUESTS
    from hpcsched.registration import KEEPS_WAITS as KEEPS_WAITS
    from hpcsched.registration import RECORDS_WAITS as RECORDS_WAITS
    from hpcsched.registration import SEES_RUN_TIME as SEES_RUN_TIME
    from hpcsched.registration import Caution as Caution
    from hpcsched.registration import Command as Command
    from hpcsched.registration import Plugin as Plugin
    from hpcsched.report.studying import StudyComparison as StudyComparison
    from hpcsched.report.studying import compare as compare
    from hpcsched.report.studying import plot as plot
    from hpcsched.report.studying import write_report as write_report
    from hpcsched.runs.replaying import Replay as Replay
    from hpcsched.runs.replaying import Workload as Workload
    from hpcsched.runs.replaying import read_workload as read_workload
    from hpcsched.runs.replaying import replay as replay
    from hpcsched.runs.runner import RunResult as RunResult
    from hpcsched.runs.runner import open_run as open_run
    from hpcsched.runs.runner import run as run
    from hpcsched.scenario import load_scenario as load_scenario
    from hpcsched.scenario.models import Scenario as Scenario
    from hpcsched.simulation.observer import Observer as Observer
    from hpcsched.simulation.records import Interruption as Interruption
    from hpcsched.simulation.records import JobRecord as JobRecord
    from hpcsched.simulation.records import RoundRecord as RoundRecord
    from hpcsched.studies.experiment.executors.executor import Executor as Executor
    from hpcsched.studies.experiment.running import ExperimentResult as ExperimentResult
    from hpcsched.studies.experiment.running import run_experiment as run_experiment
    from hpcsched.system.cluster import WorkloadManager as WorkloadManager
    from hpcsched.system.space import Allocation as Allocation
    from hpcsched.system.space import NodeAllocation as NodeAllocation
    from hpcsched.system.space import room_for as room_for
    from hpcsched.system.system import NodeGroup as NodeGroup
    from hpcsched.system.system import Request as Request
    from hpcsched.system.system import System as System
    from hpcsched.workload.job import Job as Job
    from hpcsched.workload.job import TracedJob as TracedJob
    from hpcsched.workload.trace_source import TraceAccount as TraceAccount
    from hpcsched.workload.trace_source import TraceAnswer as TraceAnswer
    from hpcsched.workload.trace_source import TraceSource as TraceSource
    from hpcsched.workload.transform import Transform as Transform
    from hpcsched.workload.transform import TransformAccount as TransformAccount

_EXPORTS = {
    "AdditionalData": "hpcsched.dispatching.additional",
    "Allocation": "hpcsched.system.space",
    "Allocator": "hpcsched.dispatching.allocator",
    "Amount": "hpcsched.parameters",
    "BestFit": "hpcsched.dispatching.rules.allocators",
    "Caution": "hpcsched.registration",
    "Command": "hpcsched.registration",
    "Context": "hpcsched.context",
    "Correction": "hpcsched.prediction.corrections",
    "CpParams": "hpcsched.dispatching.cp.cp_params",
    "Decision": "hpcsched.dispatching.decision",
    "DecisionError": "hpcsched.errors",
    "Dispatcher": "hpcsched.dispatching.dispatcher_protocol",
    "DispatchingProblem": "hpcsched.dispatching.problem",
    "Duration": "hpcsched.parameters",
    "Executor": "hpcsched.studies.experiment.executors.executor",
    "ExperimentResult": "hpcsched.studies.experiment.running",
    "Finding": "hpcsched.errors",
    "FirstFit": "hpcsched.dispatching.rules.allocators",
    "Formulation": "hpcsched.dispatching.cp.formulation",
    "HpcschedError": "hpcsched.errors",
    "InputError": "hpcsched.errors",
    "InputPath": "hpcsched.parameters",
    "Interruption": "hpcsched.simulation.records",
    "Job": "hpcsched.workload.job",
    "JobEventObserver": "hpcsched.dispatching.job_events",
    "JobRecord": "hpcsched.simulation.records",
    "KEEPS_REQUESTS": "hpcsched.registration",
    "KEEPS_WAITS": "hpcsched.registration",
    "KeyOrder": "hpcsched.dispatching.rules.orders",
    "Listed": "hpcsched.parameters",
    "Metric": "hpcsched.metrics.metric",
    "ModelParts": "hpcsched.dispatching.cp.formulation",
    "NodeAllocation": "hpcsched.system.space",
    "NodeGroup": "hpcsched.system.system",
    "NotReproducible": "hpcsched.parameters",
    "Objective": "hpcsched.dispatching.problem",
    "Observer": "hpcsched.simulation.observer",
    "Oracle": "hpcsched.prediction.predictor",
    "OutputPath": "hpcsched.parameters",
    "Params": "hpcsched.parameters",
    "Place": "hpcsched.errors",
    "Plugin": "hpcsched.registration",
    "PluginError": "hpcsched.errors",
    "PositiveAmount": "hpcsched.parameters",
    "PositiveDuration": "hpcsched.parameters",
    "Predictor": "hpcsched.prediction.predictor",
    "QueueOrder": "hpcsched.dispatching.rules.orders",
    "RECORDS_WAITS": "hpcsched.registration",
    "Reason": "hpcsched.dispatching.decision_reasons",
    "Replay": "hpcsched.runs.replaying",
    "Request": "hpcsched.system.system",
    "ResourceType": "hpcsched.parameters",
    "Room": "hpcsched.dispatching.allocator",
    "RoundRecord": "hpcsched.simulation.records",
    "RunResult": "hpcsched.runs.runner",
    "RunTables": "hpcsched.metrics.metric",
    "RunningJob": "hpcsched.dispatching.problem",
    "SEES_RUN_TIME": "hpcsched.registration",
    "Scenario": "hpcsched.scenario.models",
    "Selects": "hpcsched.parameters",
    "Start": "hpcsched.dispatching.decision",
    "StudyComparison": "hpcsched.report.studying",
    "System": "hpcsched.system.system",
    "TraceAccount": "hpcsched.workload.trace_source",
    "TraceAnswer": "hpcsched.workload.trace_source",
    "TraceSource": "hpcsched.workload.trace_source",
    "TracedJob": "hpcsched.workload.job",
    "Transform": "hpcsched.workload.transform",
    "TransformAccount": "hpcsched.workload.transform",
    "WaitingJob": "hpcsched.dispatching.problem",
    "Workload": "hpcsched.runs.replaying",
    "WorkloadManager": "hpcsched.system.cluster",
    "Workspace": "hpcsched.dispatching.rules.workspace",
    "capped": "hpcsched.prediction.predictor",
    "compare": "hpcsched.report.studying",
    "cp_dispatcher": "hpcsched.dispatching.cp.cp_dispatchers",
    "fill": "hpcsched.dispatching.allocator",
    "hcp19": "hpcsched.dispatching.cp.formulations.hcp19",
    "hookimpl": "hpcsched.plugins.spec",
    "joint_now": "hpcsched.dispatching.cp.formulations.joint_now",
    "load_scenario": "hpcsched.scenario",
    "open_run": "hpcsched.runs.runner",
    "open_workspace": "hpcsched.dispatching.rules.workspace",
    "pcp21": "hpcsched.dispatching.cp.formulations.pcp21",
    "plot": "hpcsched.report.studying",
    "read_workload": "hpcsched.runs.replaying",
    "replay": "hpcsched.runs.replaying",
    "room_for": "hpcsched.system.space",
    "run": "hpcsched.runs.runner",
    "run_experiment": "hpcsched.studies.experiment.running",
    "write_report": "hpcsched.report.studying",
}

__all__ = list(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'hpcsched' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
