"""`hpcsched trace system-from`: the system of a Slurm site as part of a scenario."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.options import Force
from hpcsched.cli.output import OutFile, emit


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
    from hpcsched.scenario.slurm.entries import read_entries
    from hpcsched.scenario.slurm.site import read_site
    from hpcsched.scenario.slurm.writing import as_yaml

    site = read_site(read_entries(file))
    emit(as_yaml(site, file).rstrip("\n"), out, force=force)
    for warning in site.warnings:
        typer.echo(warning, err=True)
