"""The scenarios of `scenarios.yaml`, their runs, and the file of their stored digests."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

import hpcsched
from tests.reference_outputs.digests import Digests, digests

FOLDER = Path(__file__).parent
DIGESTS = FOLDER / "digests.json"


class Listed(NamedTuple):
    """A scenario: a base, and the values that it replaces; `logs` are files of real traces."""

    name: str
    base: Path
    overrides: Sequence[str]
    in_default_run: bool

    @property
    def logs(self) -> list[str]:
        """Names of the real traces that it reads."""
        text = "\n".join(self.overrides)
        if "HPCSCHED_TRACES" not in text:
            text = self.base.read_text(encoding="utf-8")
        return re.findall(r"\$\{HPCSCHED_TRACES\}/([\w.-]+)", text)

    def digests(self, folder: Path) -> Digests:
        """Run the scenario in a folder, and return the digests of its outputs."""
        hpcsched.run(hpcsched.load_scenario(self.base, self.overrides), folder)
        return digests(folder)


def listed() -> list[Listed]:
    """Return all scenarios."""
    content = yaml.safe_load((FOLDER / "scenarios.yaml").read_text(encoding="utf-8"))
    default = content.pop("in_default_run")
    scenarios = [
        Listed(name, FOLDER / base, overrides, name in default)
        for base, of_base in content.items()
        for name, overrides in of_base.items()
    ]
    names = [one.name for one in scenarios]
    assert len(set(names)) == len(names)
    assert set(default) <= set(names)
    return scenarios


def stored_digests() -> dict[str, Digests]:
    """Return the stored digests by name of the scenario."""
    content: dict[str, Digests] = json.loads(DIGESTS.read_text(encoding="utf-8"))
    return content


def store(found: dict[str, Digests]) -> None:
    """Write digests by name of the scenario, each file of a run on a line."""
    scenarios = []
    for name, files in found.items():
        lines = [f"    {json.dumps(file)}: {json.dumps(files[file])}" for file in files]
        scenarios.append(f"  {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n  }")
    DIGESTS.write_text("{\n" + ",\n".join(scenarios) + "\n}\n", encoding="utf-8")
