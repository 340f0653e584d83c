"""Trace source `slurm-sacct`: output of Slurm's `sacct --parsable2`.

The first line names the columns, in any order; unknown columns are ignored. Needed are `JobID`,
`Submit`, `Start`, `End`, a number of CPUs (`NCPUS`, `AllocCPUS`, `ReqCPUS`, or in `AllocTRES` or
`ReqTRES`), and, unless units are made without nodes, a number of nodes (`NNodes`, `AllocNodes`,
`ReqNodes`, or in the same). Used where they are there: `Timelimit` or `TimelimitRaw`, `ReqMem`,
`Partition`, `User`, `Account`, `QOS`, `JobName`, `State`, `Eligible`.

Source: the manual page `sacct` of SchedMD; a `core` here is a CPU in Slurm's terms.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.system.system import Request, System
from hpcsched.workload.readers.accounting_log import (
    AccountingLogSource,
)
from hpcsched.workload.readers.log_source import Block, Record
from hpcsched.workload.readers.policies import SetAsideError, UnusableError
from hpcsched.workload.trace_calendar import ZONE_NAME, time_zone
from hpcsched.workload.trace_source import SiteBlocks
from hpcsched_slurm.logs.local_clock import LocalClock, NoZoneError
from hpcsched_slurm.logs.sacct_rows import Row, SacctRows, parse_job_id, what_it_is
from hpcsched_slurm.params import SlurmSacctParams
from hpcsched_slurm.syntax.gres import (
    GRES,
    SHARED,
    counted_in_total,
    mig_profile,
    parse_gres,
    parse_tres,
    renamed,
    resource_type,
)
from hpcsched_slurm.syntax.values import (
    NOT_GIVEN,
    parse_requested_memory,
    parse_scaled_count,
    parse_time_limit,
)

_COLUMNS = {
    "cpu": (("alloccpus", "ncpus"), ("reqcpus",)),
    "node": (("allocnodes", "nnodes"), ("reqnodes",)),
}
"""Columns with the numbers of CPUs and nodes: allocated ones first, then requested ones."""
_NEEDED = ("JobID", "Submit", "Start", "End")


class SlurmSacctSource(AccountingLogSource):
    """Stream of the jobs of a dump.

    Reasons for skipping a record, in the order in which they apply: `malformed`,
    `job_step`, `pending_array`, `never_started`, `still_running`, `fractional_seconds`,
    `duplicate`, `unsorted`, `zero_run_time`, `missing_requested_time`, `missing_memory`,
    `uneven_nodes`, `larger_than_system`.

    Users, accounts, qualities of service and partitions are numbered from 1 as they appear, as
    `user`, `group`, `queue` and `partition` of a job; `comments` name them.
    """

    def __init__(self, params: SlurmSacctParams, system: System) -> None:
        rows = SacctRows(Path(params.path))
        super().__init__(params, rows, system)
        self._rows = rows
        self._params = params
        self._zone = time_zone(params.time_zone) if params.time_zone else None
        self._clock = LocalClock(self._zone, self.seconds)
        order = 1 if params.amounts == "allocated" else -1
        self._tres = ("alloctres", "reqtres")[::order]
        self._lists = tuple(zip(self._tres, ("allocgres", "reqgres")[::order], strict=True))
        self._counted = {what: columns[::order] for what, columns in _COLUMNS.items()}
        self._gres: dict[str, None] = {}
        self._part: Fraction | None = None
        self._check_columns()
        if self._zone is None:
            self._check_zone()

    @property
    def comments(self) -> list[str]:
        """Time zone, names seen so far, and renamed resource types."""
        zone = [f"{ZONE_NAME} {self._params.time_zone}"] if self._zone else []
        return [*zone, *super().comments, *renamed(self._gres)]

    def describe_site(self, configuration: Path, tables: Sequence[Path]) -> SiteBlocks:
        """Return the site as its `slurm.conf` and its accounting describe it."""
        from hpcsched_slurm.site.accounts import TraceNames  # noqa: PLC0415 (a log needs none)
        from hpcsched_slurm.site.replica import signs_of_holds, site_blocks  # noqa: PLC0415

        found = site_blocks(configuration, tables, TraceNames.of_comments(self.comments))
        return found._replace(causes=tuple(signs_of_holds(self._rows, self._clock)))

    def blocks(self, most: int | None) -> Iterator[Block]:
        """Yield the records of the log; its clock continues from record to record."""
        self._clock = LocalClock(self._zone, self.seconds)
        return super().blocks(most)

    def record_of(self, line: str) -> Record:
        """Return the content of a line."""
        row = self._rows.row(line)
        number = self._ran(row)
        withdrawn = self._was_withdrawn(row)
        submit_time, start_time, run_time = self._times(row)
        requested_time, begin = _requested_time(row) or -1, submit_time
        if self._params.begin_times == "honour" and not _lacks(row, "eligible"):
            begin = max(self._clock.instant(row["eligible"], submit_time), submit_time)
        qos, partition = row.get("qos", ""), row.get("partition", "")
        return Record(
            number,
            submit_time,
            requested_time if withdrawn else run_time,
            requested_time,
            lambda: self._request(row),
            details=(row.get("user", ""), row.get("account", ""), None, qos, partition),
            texts=(row.get("jobname") or None, qos or None, partition or None),
            wait=start_time - submit_time,
            patience=start_time - submit_time if withdrawn else -1,
            begin_delay=begin - submit_time,
        )

    def _request(self, row: Row) -> Request:
        units = self.units_of(*self._amounts(row))
        if self._part is not None:
            assert self.system.devices is not None
            name = self.system.devices.resource_type
            each = units.amounts[name]
            if each != 1 and self.system.devices.profiles:
                raise ValueError(f"expected units with one MIG slice, found {each} slices")
            units = units._replace(amounts={**units.amounts, name: each * self._part})
        # So many nodes were not fewer.
        return self.request_for(units, one_unit_per_node=units.per_node and units.units > 1)

    def _ran(self, row: Row) -> int:
        """Return the number of a job that ran to its end, or was withdrawn."""
        found = parse_job_id(row["jobid"])
        if found.is_step:
            raise SetAsideError("job_step", "a step of a job")
        if found.is_pending:
            raise SetAsideError("pending_array", "tasks of an array that have not started")
        if _lacks(row, "start") and not self._was_withdrawn(row):
            raise SetAsideError("never_started", "a job that was not started")
        if _lacks(row, "end"):
            raise SetAsideError("still_running", "a job that has not ended")
        return found.number

    def _was_withdrawn(self, row: Row) -> bool:
        """Return True for a job that was cancelled before its start, where such jobs are wanted."""
        cancelled = row.get("state", "").startswith("CANCELLED") and not _lacks(row, "end")
        return self._params.withdrawn != "skip" and cancelled and _lacks(row, "start")

    def _times(self, row: Row) -> tuple[int, int, int]:
        """Return the submit time, the start time and the run time, in seconds."""
        clock = self._clock
        before = clock.ambiguous
        submit_time = clock.instant(row["submit"])
        # In this order: in the repeated hour of autumn, a start is read as not before its
        # submission.
        started = row["end" if _lacks(row, "start") else "start"]
        start_time = clock.instant(started, submit_time)
        end_time = clock.instant(row["end"], start_time)
        if end_time < start_time:
            raise ValueError(f"the job ends before it starts: {row['end']}, {row['start']}")
        # While it was suspended, a job had its processors no longer; its limit does not count it.
        suspended = min(parse_time_limit(row.get("suspended", "")) or 0, end_time - start_time)
        if suspended:
            self.changes.append("suspended")
        if clock.ambiguous > before:
            self.changes.append("ambiguous_time")
        return submit_time, start_time, end_time - start_time - suspended

    def _amounts(self, row: Row) -> tuple[dict[str, int], int]:
        """Return the total request by resource type, and the number of nodes."""
        lists = [_with_gres(row, *columns) for columns in self._lists]
        cores = self._count(row, "cpu", lists)
        if not cores:
            raise ValueError("expected a number of CPUs from 1 on, found none")
        if self._params.mapping == "as_requested":
            nodes = self._count(row, "node", lists) or 0
            if not nodes:
                raise ValueError("expected a number of nodes from 1 on, found none")
        else:
            nodes = self._count(row, "node", lists) or 1
        tres = {"cpu": cores, **self._in_parts(_devices(lists))}
        memory = next((amounts["mem"] for amounts in lists if amounts.get("mem")), None)
        # AllocTRES and ReqTRES have exact totals; ReqMem is per node or core up to Slurm 20.11.
        if memory is None:
            memory = parse_requested_memory(row.get("reqmem", ""), nodes, cores)
        if memory:
            tres["mem"] = memory
        return self._as_declared(tres), nodes

    def _count(self, row: Row, what: str, lists: list[dict[str, int]]) -> int | None:
        """Return the number of CPUs or nodes from the first column that has it."""
        # The preferred kind of amounts first, its TRES list before its columns.
        for amounts, columns in zip(lists, self._counted[what], strict=True):
            if amounts.get(what):
                return amounts[what]
            for column in columns:
                text = row.get(column, "")
                if text.lower() not in NOT_GIVEN:
                    count = parse_scaled_count(text, column)
                    if count:
                        return count
        return None

    def _in_parts(self, gres: dict[str, int]) -> dict[str, int]:
        """Return the devices of a job, shares and MIG slices as numbers of parts of a GPU."""
        devices, self._part = self.system.devices, None
        if devices is None:
            return gres
        profiles = {one.name: one.amount for one in devices.profiles}
        types = self.system.resource_types
        for name, amount in gres.items():
            kind, _, type_ = name.partition(":")
            shares = profiles.get(mig_profile(type_), 0)
            if kind.removeprefix(GRES) in SHARED and kind.removeprefix(GRES) not in types:
                shares = 0 if profiles else 1
            if shares and name not in self._params.resource_types:
                self._part = Fraction(shares, devices.shares)
                return {f"{GRES}{devices.resource_type}": amount}
        return gres

    def _as_declared(self, tres: Mapping[str, int]) -> dict[str, int]:
        """Return amounts by resource type; a device's total counts, not its types beside it."""
        named = self._params.resource_types
        found: dict[str, int] = {}
        for name, amount in tres.items():
            if name not in named and counted_in_total(name, tres):
                continue
            kind = name.partition(":")[0]
            what = named[name] if name in named else _taken_for(kind, named)
            if kind.startswith(GRES) and kind not in named:
                self._gres[kind.removeprefix(GRES)] = None
            if what is not None:
                found[what] = found.get(what, 0) + amount
        return found

    def _check_columns(self) -> None:
        """Raise InputError if the dump lacks a needed column."""
        columns = self._rows.columns
        honours, keeps = self._params.begin_times == "honour", self._params.withdrawn != "skip"
        needed = (*_NEEDED, *["Eligible"] * honours, *["State"] * keeps)
        lacking = [name for name in needed if name.lower() not in columns]
        for what, name in (("cpu", "NCPUS"), ("node", "NNodes")):
            some = {*self._tres, *_COLUMNS[what][0], *_COLUMNS[what][1]}
            is_needed = what == "cpu" or self._params.mapping == "as_requested"
            if is_needed and not some.intersection(columns):
                lacking.append(name)
        if lacking:
            cause = what_it_is(self._rows.header)
            raise InputError(
                Finding(
                    "missing-columns",
                    f"{cause}{'; ' if cause else ''}the dump has no column {', '.join(lacking)};"
                    " expected what"
                    " `sacct --parsable2 --format=JobID,Submit,Start,End,Timelimit,NNodes,NCPUS,"
                    "ReqMem,AllocTRES,Partition,User,Account,QOS,JobName` prints, found"
                    f" {_shortened(self._rows.header)}",
                    Place(str(self.text_lines.path), self._rows.header_line),
                )
            )

    def _check_zone(self) -> None:
        """Raise InputError if the first time in the dump is a local one: no zone is named."""
        with closing(self._rows.records()) as lines:
            for number, line in lines:
                try:
                    self._clock.instant(self._rows.row(line)["submit"])
                except NoZoneError as error:
                    place = Place(str(self._rows.path), number)
                    finding = Finding("missing-time-zone", str(error), place)
                    raise InputError(finding) from None
                except (UnusableError, ValueError):
                    continue
                return


def _lacks(row: Row, column: str) -> bool:
    return row.get(column, "").lower() in NOT_GIVEN


def _requested_time(row: Row) -> int | None:
    limit = row.get("timelimit", "")
    if limit:
        return parse_time_limit(limit)
    raw = row.get("timelimitraw", "")
    found = parse_time_limit(raw)
    if found is not None and not raw.isdigit():
        raise ValueError(f"expected TimelimitRaw in minutes, found {raw!r}")
    return found


def _with_gres(row: Row, tres: str, gres: str) -> dict[str, int]:
    """Return the amounts of a TRES list, with the devices that Slurm before 20.11 lists apart."""
    amounts = parse_tres(row.get(tres, ""))
    if not any(name.startswith(GRES) for name in amounts):
        for one in parse_gres(row.get(gres, "")):
            name = f"{GRES}{one.name}:{one.type}" if one.type else f"{GRES}{one.name}"
            amounts[name] = amounts.get(name, 0) + one.amount
    return {name: amount for name, amount in amounts.items() if amount}


def _devices(lists: list[dict[str, int]]) -> dict[str, int]:
    """Return the amounts of devices from the first non-empty list."""
    for amounts in lists:
        if amounts:
            return {name: n for name, n in amounts.items() if name.startswith(GRES)}
    return {}


def _taken_for(kind: str, named: Mapping[str, str | None]) -> str | None:
    if kind in named:
        return named[kind]
    own = {"cpu": "core", "mem": "mem"}.get(kind)
    return own or resource_type(kind.removeprefix(GRES))


def _shortened(text: str, most: int = 80) -> str:
    return repr(text if len(text) <= most else f"{text[:most]}…")
