"""A scenario's replay, made ready for forecasts: its parts and all jobs as one batch of columns."""

from typing import NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.plugins import manager
from hpcsched.registration import FOLLOWS_RECORD
from hpcsched.runs.assembly import assemble
from hpcsched.runs.replaying import Workload, read_workload
from hpcsched.runs.runner import parts_of
from hpcsched.scenario import Scenario
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_admission import admitted
from hpcsched.studies.forecast.arrival_samples import ArrivalHistory
from hpcsched.studies.forecast.run_time_samples import RunTimeHistory
from hpcsched.studies.forecast.start_forecast import Past
from hpcsched.workload.job_batches import JobColumns, joined_columns
from hpcsched.workload.trace_calendar import Calendar, calendar_of


class PreparedReplay(NamedTuple):
    """Parts and jobs of a replay.

    Attributes
    ----------
    scenario
        The scenario.
    workload
        Its jobs.
    parts
        Parts of the simulation.
    columns
        The jobs as one batch; those that partitions refuse are marked.
    """

    scenario: Scenario
    workload: Workload
    parts: Parts
    columns: JobColumns

    @property
    def first_submit_time(self) -> int:
        """First submit time, in seconds."""
        return int(self.columns.submit_time[0])

    @property
    def calendar(self) -> Calendar:
        """Calendar of the trace."""
        return calendar_of(self.workload.comments, self.first_submit_time)

    def past(self) -> Past:
        """Return the knowledge before the first end of a job."""
        return Past(self.columns, RunTimeHistory(self.columns), ArrivalHistory(self.columns))


def prepare(scenario: Scenario) -> PreparedReplay:
    """Read a scenario's trace and build the parts of its simulation.

    Raises
    ------
    InputError
        If the trace cannot be read, has no jobs, or the scenario decides nothing in rounds.
    """
    if scenario.simulation.mode == "offline":
        message = "forecasts are about on-line dispatching; this scenario has 'mode: offline'"
        raise InputError(Finding("not-on-line", message, key="simulation.mode"))
    name = scenario.dispatcher.plugin_name
    if FOLLOWS_RECORD in manager.registry().get("dispatcher", name).plugin.capabilities:
        message = (
            f"the dispatcher {name} cannot be forecast: it repeats the log's own starts, which"
            " sampled jobs do not have"
        )
        raise InputError(Finding("not-forecast", message, key="dispatcher"))
    scenario = scenario.model_copy(update={"observers": ()})
    workload = read_workload(scenario)
    parts = parts_of(assemble(scenario).build_all(), ())
    columns = tuple(admitted(workload.columns, parts))
    if not columns:
        raise InputError(Finding("no-jobs", "the trace has no job to forecast", key="trace"))
    return PreparedReplay(scenario, workload, parts, joined_columns(columns))


def submitted_until(columns: JobColumns, time: int) -> int:
    """Return the number of jobs that are submitted up to a time, in seconds."""
    return int(np.searchsorted(columns.submit_time, time, side="right"))
