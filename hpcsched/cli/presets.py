"""`hpcsched trace presets`: known data sets, and how to get them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsched.cli.output import OutFile, TableFormat, TableFormatOption
from hpcsched.cli.shared_options import Force

if TYPE_CHECKING:
    from hpcsched.workload.presets.preset_catalogue import Preset

_COLUMNS = ("preset", "about", "fetched", "licence")


def presets(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="The preset to show; all by default.", show_default=False
        ),
    ] = None,
    format_: TableFormatOption = TableFormat.TEXT,
    out: OutFile = None,
    force: Force = False,
) -> None:
    """List known data sets, or show how to get and read one.

    With a name it shows the columns that the preset reads, whom to cite, the licence, and what a
    scenario says.
    """
    from hpcsched.cli.output import emit, tables_text
    from hpcsched.errors import Finding, InputError
    from hpcsched.report.tables.report_table import Table
    from hpcsched.workload.presets.preset_catalogue import find_preset, read_presets

    if name is not None:
        if format_ not in (TableFormat.TEXT, TableFormat.JSON):
            raise typer.BadParameter("expected --format text or json with a name")
        try:
            preset = find_preset(name)
        except ValueError as error:
            raise InputError(Finding("unknown-preset", str(error))) from None
        if format_ is TableFormat.JSON:
            emit(_json(_content(preset)), out, force=force)
        else:
            emit("\n".join(_lines(preset)), out, force=force)
        return
    found = list(read_presets().values())
    rows = [(one.name, one.about, "yes" if one.files else "no", one.licence) for one in found]
    table = Table.formatted(_COLUMNS, rows, words=len(_COLUMNS), name="presets")
    emit(
        tables_text([table], format_, lambda: [_content(one) for one in found], out=out),
        out,
        force=force,
    )


def _content(preset: "Preset") -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(preset), "trace": dict(preset.trace), "columns": preset.columns}


def _json(content: dict[str, Any]) -> str:
    import json

    return json.dumps(content, indent=2, ensure_ascii=False)


def _lines(preset: "Preset") -> list[str]:
    """Return the description of a preset, and the keys of a scenario."""
    fetched = [
        f"  hpcsched trace fetch {file.name}"
        + ("" if file.sha256 else "  (its hash is not known, and is printed)")
        for file in preset.files
    ]
    return [
        f"{preset.title}: {preset.about}",
        f"page: {preset.home}",
        f"get: {preset.get}",
        *fetched,
        f"licence: {preset.licence}",
        f"cite: {preset.cite}",
        f"unit: {preset.unit}",
        f"notes: {preset.notes}",
        f"columns: {', '.join(preset.columns)}",
        f"a scenario: trace: {{source: table, preset: {preset.name}, path: FILE}}",
    ]
