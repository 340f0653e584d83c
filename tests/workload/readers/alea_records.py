"""A reader of logs of the Alea simulator that reads one record after the other."""

from pathlib import Path

from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.readers.alea import (
    NO_NODES,
    AleaParams,
    AleaSource,
    is_list_of_nodes,
    numbers_of,
)
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.swf_lines import SwfLines, wait_time
from hpcsched.workload.readers.text_files import TextEncoding
from tests.workload.readers.record_reference import RecordSource


class AleaRecords(RecordSource):
    """Stream of the jobs of a log, each record by itself."""

    def __init__(self, params: AleaParams, system: System) -> None:
        encoding = TextEncoding(params.encoding, params.undecodable)
        super().__init__(params, system, SwfLines(Path(params.path), encoding), encoding)
        self._queues: dict[str, int] = {}
        # Requests are read one by one there as well.
        self._source = AleaSource(params, system)

    @property
    def comments(self) -> list[str]:
        """Queues seen so far, as header comments of the Standard Workload Format."""
        named = [f"Queue: {number} {name}" for name, number in self._queues.items()]
        return [*self.lines.comments, *named]

    def parse(self, line: bytes) -> TracedJob:
        """Return the job of a record.

        Raises
        ------
        UnusableError
            If the record gives no job; the reason names the policy.
        """
        numbers = numbers_of(line, self.seconds)
        *_, nodes, queue, text = (field.decode() for field in line.split())
        if not is_list_of_nodes(nodes.encode()):
            raise UnusableError("malformed", NO_NODES)
        (
            job_id, submit_time, run_time, processors, requested_time, memory,
            user, group, application, partition,
        ) = numbers  # fmt: skip
        self.check_submission(job_id, submit_time)
        self.check_run_time(run_time)
        requested_time = self.requested_time(requested_time, run_time)
        request, problem, changes = self._source.read_request(text.encode(), processors, memory)
        if problem is not None:
            raise problem
        job = Job(
            job_id,
            submit_time,
            request,
            requested_time,
            user if user >= 0 else None,
            group if group >= 0 else None,
            application if application >= 0 else None,
            self._queue_number(queue),
            partition if partition >= 0 else None,
        )
        self.changes += changes
        if self.keeps_waits:
            self.note_wait(job_id, wait_time(line))
        return TracedJob(job, self.clipped(run_time, requested_time))

    def _queue_number(self, queue: str) -> int:
        return self._queues.setdefault(queue, len(self._queues) + 1)
