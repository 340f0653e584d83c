"""What a review says of a log before it is run."""

from pathlib import Path

import pytest

from hpcsched.cli import main

SCENARIO = """\
name: reviewed
system: {{groups: [{{name: node, count: 4, resources: {{core: 2}}}}]}}
trace: {{source: swf, path: log.swf{settings}}}
dispatcher: easy
"""


@pytest.mark.parametrize(
    ("header", "settings", "rule"),
    [
        ("; UnitResources: core gpu", "", "unknown-resource-type"),
        ("; UnitResources: core gpu", ", unit: {core: 1}", None),
        ("; MaxJobs: 1", "", None),
    ],
)
def test_warnings(
    header: str,
    settings: str,
    rule: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Units that no node can hold are warned of, at their place."""
    (tmp_path / "log.swf").write_text(f"{header}\n")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(SCENARIO.format(settings=settings))
    # Of a type that a record may ask for and no node has, the run would be refused.
    refused = rule == "unknown-resource-type"
    assert main(["validate", str(scenario)]) == refused
    said = capsys.readouterr().out
    if rule is None:
        assert "0 warnings" in said
    else:
        assert f"{scenario}:3:" in said
        assert f"[{rule}]" in said
