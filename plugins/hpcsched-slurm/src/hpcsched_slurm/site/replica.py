"""The scenario of a site as it is today: its configuration, its accounts, and signs in its log."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from hpcsched.workload.trace_source import SiteBlocks
from hpcsched_slurm.logs.local_clock import LocalClock
from hpcsched_slurm.logs.sacct_rows import SacctRows, parse_job_id
from hpcsched_slurm.site.accounts import TraceNames, accounts_block, read_tables
from hpcsched_slurm.site.entries import read_entries
from hpcsched_slurm.site.preemption_text import preempt_line
from hpcsched_slurm.site.site import ENFORCED, read_site
from hpcsched_slurm.site.slurm_settings import dispatcher_block
from hpcsched_slurm.site.writing import write_blocks
from hpcsched_slurm.site.yaml_text import origin
from hpcsched_slurm.syntax.values import NOT_GIVEN

_HELD = 600
"""Seconds between submission and eligibility from which on a job was held."""
_ENFORCING = {"all", "limits", "safe"}
"""Words of `AccountingStorageEnforce` with which limits hold."""
_SIGNS = ("Eligible", "Reason", "Reservation")
_OF_THE_QUEUE = NOT_GIVEN | {"priority", "resources"}
"""Reasons for which jobs wait in a replay too."""


def site_blocks(conf: Path, tables: Sequence[Path], names: TraceNames) -> SiteBlocks:
    """Return the blocks of a site; comments name the origin of each setting.

    Parameters
    ----------
    conf
        A `slurm.conf`, or the output of `scontrol show`.
    tables
        Output of `sacctmgr --parsable2 show` and of `sshare -alP`.

    Raises
    ------
    InputError
        If a file cannot be read or is not understood.
    """
    site = read_site(read_entries(conf))
    found = read_tables(tables)
    words = set(site.settings.get(ENFORCED, "").lower().split(","))
    enforced = bool(words & _ENFORCING)
    blocks = write_blocks(site, conf, found.qos if enforced else (), devices=True)
    accounts = accounts_block(found, names, blocks.types, whole=True, enforced=enforced)
    dispatcher = dispatcher_block(site.scheduler, site.priority, site.places)
    preemption = {name: one.preemption for name, one in found.qos.items()}
    preempt = preempt_line(site.settings, site.scheduler, preemption, site.places)
    groups, partitions = len(blocks.nodes), len(site.partitions)
    told = [f"{one.message} ({origin([one.place])})" for one in site.warnings]
    told += [f"left out: {one}" for one in accounts.left_out]
    return SiteBlocks(
        blocks.system + blocks.partitions + accounts.text + preempt,
        dispatcher or "dispatcher: slurm-backfill\n",
        f"site: {len(site.nodes)} nodes in {groups} groups, {partitions} partitions, from"
        f" {', '.join(path.name for path in (conf, *tables))}",
        tuple(told),
    )


def signs_of_holds(rows: SacctRows, clock: LocalClock) -> Iterator[str]:
    """Yield sentences on jobs that waited for what is not in a scenario, by a dump's columns."""
    held, reserved = 0, 0
    reasons: Counter[str] = Counter()
    for _, line in rows.records():
        with suppress(ValueError):
            row = rows.row(line)
            if parse_job_id(row["jobid"]).is_step or row["start"].lower() in NOT_GIVEN:
                continue
            reserved += bool(row.get("reservation"))
            reason = row.get("reason", "")
            if reason.lower() not in _OF_THE_QUEUE:
                reasons[reason] += 1
            eligible = row.get("eligible", "")
            if eligible.lower() not in NOT_GIVEN:
                held += clock.instant(eligible) - clock.instant(row["submit"]) >= _HELD
    if held:
        yield (
            f"{held:,} jobs were not eligible for 10 minutes or more after their submission"
            " (Eligible): held, dependent, or begun later by their users"
        )
    if reasons:
        told = ", ".join(f"{name} {count:,}" for name, count in reasons.most_common(6))
        yield f"jobs waited for other reasons than priority and resources (Reason): {told}"
    if reserved:
        yield f"{reserved:,} jobs ran in reservations (Reservation)"
    lacking = [name for name in _SIGNS if name.lower() not in rows.columns]
    if lacking:
        yield f"more could be said with these columns of sacct: {', '.join(lacking)}"
