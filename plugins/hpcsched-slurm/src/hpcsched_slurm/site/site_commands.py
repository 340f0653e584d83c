"""Commands on a site that runs Slurm: parts of a scenario from it, and settings for it."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.options import Force, NewFile, OutFile, Overrides, ScenarioFile, emit, warn


def init_site(
    sacct: Annotated[Path, typer.Option(help="Output of `sacct --parsable2`.")],
    conf: Annotated[Path, typer.Option(help="slurm.conf, or output of `scontrol show`.")],
    *,
    assoc: Annotated[
        list[Path] | None,
        typer.Option(help="Output of `sacctmgr --parsable2 show`, or `sshare -alP`; repeatable."),
    ] = None,
    zone: Annotated[
        str | None, typer.Option("--time-zone", metavar="ZONE", help="Zone of the site's clocks.")
    ] = None,
    weeks: Annotated[
        int, typer.Option(min=0, help="Weeks at the log's end to replay; 0: nothing.")
    ] = 4,
    out: NewFile = Path("scenario.yaml"),
    force: Force = False,
) -> None:
    """Write the scenario of a Slurm site as it is today.

    Comments say where each setting is from, and what is left out. Then the last weeks of the log
    are replayed, to show how well the scenario reproduces the recorded waits.
    """
    from hpcsched.cli.scenario_commands import scenario_findings
    from hpcsched.cli.start_commands import begin_scenario
    from hpcsched.scenario.loading import read_and_check
    from hpcsched.studies import first_look

    look = first_look.look_at(sacct, ("easy",), zone=zone, site=[conf, *(assoc or ())])
    for line in first_look.look_lines(look):
        typer.echo(line)
    text = first_look.scenario_text(look.configurations[0], look.log, look.machine)
    begin_scenario(f"{first_look.HEADER}{text}", out, force=force)
    warn(*look.machine.left_out)
    for finding in read_and_check(out, (), scenario_findings)[1]:
        typer.echo(finding, err=True)
    if weeks:
        typer.echo(f"\nreplaying the last {weeks} weeks ...", err=True)
        typer.echo("\n" + "\n".join(first_look.fidelity_lines(look, out, weeks)))


def system_from(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A slurm.conf, or output of `scontrol show nodes` and `partitions`.",
        ),
    ],
    out: OutFile = None,
    force: Force = False,
) -> None:
    """Write the system of a Slurm site for a scenario.

    Identical nodes in the same partitions become a group. The result has passed the checks of
    `hpcsched validate`. Unknown properties of nodes are left out, with a warning.
    """
    from hpcsched_slurm.site.entries import read_entries
    from hpcsched_slurm.site.site import read_site
    from hpcsched_slurm.site.writing import as_yaml

    site = read_site(read_entries(file))
    emit(as_yaml(site, file).rstrip("\n"), out, force=force)
    for warning in site.warnings:
        typer.echo(warning, err=True)


def accounts_from(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Output of `sshare -alP`, or of `sacctmgr -P show assoc tree`.",
        ),
    ],
    scenario: ScenarioFile,
    qos: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Output of `sacctmgr --parsable2 show qos`.",
        ),
    ] = None,
    *,
    out: OutFile = None,
    force: Force = False,
    overrides: Overrides = None,
) -> None:
    """Write the accounts of a Slurm site for `multifactor`.

    The result stands under `order` beside `name: multifactor`. It has the shares of accounts and
    users, their usage, and the priorities of QOS if `--qos` has them. Numbers of users and groups
    are those of the scenario's trace, which is read for its names.
    """
    from hpcsched.cli.trace_commands import assembled
    from hpcsched_slurm.site.accounts import TraceNames, accounts_block, read_tables

    tables = read_tables([file, *([] if qos is None else [qos])])
    parts = assembled(scenario, overrides)
    for _ in parts.source.jobs():
        pass
    names = TraceNames.of_comments(parts.source.comments)
    block = accounts_block(tables, names, parts.system.resource_types)
    emit(block.text.rstrip("\n"), out, force=force)
    for text in block.left_out:
        warn(f"left out: {text}")


def failures_from(
    dump: Annotated[
        Path,
        typer.Argument(
            metavar="DUMP",
            help="Output of sacct, or a folder of dumps; with Start, End, NodeList.",
        ),
    ],
    nodes: Annotated[
        list[str],
        typer.Option(metavar="GROUP=NAMES", help="Names of a node group's nodes, as thin=c[1-2]."),
    ],
    *,
    zone: Annotated[
        str | None, typer.Option("--time-zone", help="Zone of local times, as Europe/Prague.")
    ] = None,
    origin: Annotated[int, typer.Option(help="Second 0 of the trace, as Unix time.")] = 0,
    repair: Annotated[
        int | None,
        typer.Option(min=1, help="Seconds until a node is back; else until its next job."),
    ] = None,
    all_nodes: Annotated[
        bool, typer.Option("--all-nodes", help="Let all nodes fail where none is named.")
    ] = False,
    out: OutFile = None,
    force: Force = False,
) -> None:
    """Write the node failures in a dump of sacct for a scenario.

    The result is a file for `outages.failure_log`. A job with the state NODE_FAIL tells when a node
    failed; the node is back when the next job starts on it.
    """
    from hpcsched.workload.trace_calendar import time_zone
    from hpcsched_slurm.logs.node_failures import failure_lines, node_names, read_node_failures

    named = node_names(nodes)
    try:
        local = None if zone is None else time_zone(zone)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--time-zone") from None
    found = read_node_failures(dump, local, repair=repair, all_nodes=all_nodes)
    emit("\n".join(failure_lines(found, named, origin)), out, force=force)
    typer.echo(", ".join(f"{count} {what}" for what, count in found.counts.items()), err=True)
    others = sorted({host for host, *_ in found.failures if host not in named})
    if others:
        message = f"warning: left out: failures of nodes that are not named: {', '.join(others)}"
        typer.echo(message, err=True)


def slurm_conf(
    scenario: ScenarioFile,
    *,
    out: OutFile = None,
    force: Force = False,
    overrides: Overrides = None,
) -> None:
    """Print the lines of slurm.conf for a scenario's dispatcher.

    These are weights and times of `multifactor`, and the parameters of `slurm-backfill`, as in the
    file best.yaml of `hpcsched tune`.
    """
    from hpcsched.scenario import load_scenario
    from hpcsched_slurm.site.slurm_settings import slurm_lines

    emit("\n".join(slurm_lines(load_scenario(scenario, overrides or ()))), out, force=force)
