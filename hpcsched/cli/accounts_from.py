"""`hpcsched trace accounts-from`: the accounts of a Slurm site as part of a scenario."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.options import Env, Force, Overrides, ScenarioFile
from hpcsched.cli.output import OutFile, emit


def accounts_from(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Output of `sshare -alP` or `sacctmgr dump`, or either as JSON."
        ),
    ],
    scenario: ScenarioFile,
    qos: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Priorities, from `sacctmgr show qos --json` or `--parsable2`."
        ),
    ] = None,
    *,
    out: OutFile = None,
    force: Force = False,
    overrides: Overrides = None,
    _env: Env = None,
) -> None:
    """Write the accounts of a Slurm site for `multifactor`.

    The result stands under `order` beside `name: multifactor`. It has the shares of accounts and
    users, their usage where FILE has it, and the priorities of QOS where FILE or `--qos` has them.
    Numbers of users and groups are those of the
    scenario's trace, which is read for its names.
    """
    from hpcsched.cli.commands.trace import assembled
    from hpcsched.scenario.slurm.accounts import (
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
