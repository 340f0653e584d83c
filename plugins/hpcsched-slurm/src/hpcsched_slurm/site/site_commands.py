"""Commands on a site that runs Slurm: parts of a scenario from it, and settings for it."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.commands.init import Out, begin_scenario
from hpcsched.cli.options import Force, Overrides, ScenarioFile
from hpcsched.cli.output import OutFile, emit


def init_slurm(out: Out = Path("scenario.yaml"), *, force: Force = False) -> None:
    """Write a scenario of a site that runs Slurm."""
    text = (files("hpcsched_slurm.site") / "starter.yaml").read_text(encoding="utf-8")
    begin_scenario(text, out, force=force)


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
            help="Output of `sshare -alP` or `sacctmgr dump`, or either as JSON.",
        ),
    ],
    scenario: ScenarioFile,
    qos: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Priorities, from `sacctmgr show qos --json` or `--parsable2`.",
        ),
    ] = None,
    *,
    out: OutFile = None,
    force: Force = False,
    overrides: Overrides = None,
) -> None:
    """Write the accounts of a Slurm site for `multifactor`.

    The result stands under `order` beside `name: multifactor`. It has the shares of accounts and
    users, their usage where FILE has it, and the priorities of QOS where FILE or `--qos` has them.
    Numbers of users and groups are those of the
    scenario's trace, which is read for its names.
    """
    from hpcsched.cli.commands.trace import assembled
    from hpcsched_slurm.site.accounts import (
        TraceNames,
        accounts_block,
        read_associations,
        read_qos_priorities,
    )

    associations = read_associations(file)
    if qos is not None:
        associations = associations._replace(qos=read_qos_priorities(qos))
    source = assembled(scenario, overrides).source
    for _ in source.jobs():
        pass
    block = accounts_block(associations, TraceNames.of_comments(source.comments), file)
    emit(block.text.rstrip("\n"), out, force=force)
    for text in block.left_out:
        typer.echo(f"warning: left out: {text}", err=True)


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
