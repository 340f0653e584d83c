"""`hpcsched trace system-from`: a system from what a resource manager says of its own."""

from pathlib import Path
from typing import Annotated

import typer


def system_from(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A slurm.conf, or what `scontrol show nodes` and `scontrol show partitions`"
            " print.",
            show_default=False,
        ),
    ],
) -> None:
    """Write the system and partitions of a Slurm site, to be put into a scenario.

    Nodes that are alike and in the same partitions become a group. What is written has been checked
    as `hpcsched validate` would. What of a node is not understood is left out, with a warning.
    """
    from hpcsched.scenario.slurm.entries import read_entries
    from hpcsched.scenario.slurm.site import read_site
    from hpcsched.scenario.slurm.writing import as_yaml

    site = read_site(read_entries(file))
    typer.echo(as_yaml(site, file), nl=False)
    for warning in site.warnings:
        typer.echo(warning, err=True)
