"""Observer `event-log`: every event as a line of JSON."""

import json
from pathlib import Path

from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.registration import builtin
from hpcsched.runs.files import EVENTS
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import Interruption, JobRecord, RoundRecord
from hpcsched.whole_files import cannot_write


@builtin("observer", "event-log", summary="writes every event to events.jsonl in the run directory")
class EventLog(Observer):
    """Observer that writes `events.jsonl` into the run directory, in order of simulated events."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / EVENTS
        self._file = self._path.open("w", encoding="utf-8")

    def job_submitted(self, job: WaitingJob) -> None:
        """Write a submission, with the predicted run time."""
        details = {name: getattr(job, name) for name in ("job_id", "units", "predicted_run_time")}
        self._write("submitted", job.submit_time, **details)

    def job_started(self, job: RunningJob) -> None:
        """Write a start, with the places."""
        nodes, units = job.allocation.nodes, job.allocation.units
        self._write("started", job.start_time, job_id=job.job_id, nodes=nodes, node_units=units)

    def job_interrupted(self, interruption: Interruption) -> None:
        """Write the loss of a node, and whether the job waits again."""
        job_id, requeued = interruption.job.job_id, interruption.requeued
        self._write("interrupted", interruption.end_time, job_id=job_id, requeued=requeued)

    def job_ended(self, record: JobRecord) -> None:
        """Write how a job left the system; a rejected job has the time of its submission."""
        time = record.job.submit_time if record.end_time is None else record.end_time
        self._write(record.state, time, job_id=record.job.job_id)

    def round_ended(self, record: RoundRecord) -> None:
        """Write a dispatching round, at the instant at which its decision takes effect."""
        details = {
            name: getattr(record, name) for name in ("round", "queued", "started", "waiting")
        }
        self._write("round", record.now + record.latency, **details)

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def _write(self, event: str, time: int, **details: object) -> None:
        try:
            print(json.dumps({"time": time, "event": event, **details}), file=self._file)
        except OSError as error:
            raise cannot_write(self._path, error) from error
