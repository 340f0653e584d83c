"""The scenario that is tuned: read once, and validated anew with the values of each trial."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hpcsched.errors import Finding, InputError
from hpcsched.plugins import manager
from hpcsched.plugins.registry import Registry
from hpcsched.scenario import Scenario
from hpcsched.scenario.document import parse_document, read_text
from hpcsched.scenario.key_path import KeyPath, parse_key_path
from hpcsched.scenario.loading import LoadedScenario, check_document
from hpcsched.scenario.positions import Override, Positions, by_position
from hpcsched.scenario.review import Check, missing_inputs
from hpcsched.studies.experiment.declared_file import DeclaredSetting, cell_name, validated
from hpcsched.studies.tuning.tuning_space import TuningSpace


class TunedScenario:
    """A scenario and the space in which its parameters are searched.

    Parameters
    ----------
    scenario
        File of the scenario.
    space
        The tuning file.
    overrides
        Values of `--set`, which apply before those of a trial.
    registry
        Installed plugins.
    check
        Further check of the scenario as it is, and with the ends of each range.

    Attributes
    ----------
    base
        The scenario as it is.
    space
        The space.
    name
        Name of the study.
    warnings
        Warnings of the check.

    Raises
    ------
    InputError
        If anything is wrong in either file, with all findings. The ends of all ranges, and all
        values of lists, are tried.
    """

    def __init__(
        self,
        scenario: str | os.PathLike[str],
        space: str | os.PathLike[str],
        overrides: Sequence[str] = (),
        registry: Registry | None = None,
        *,
        check: Check | None = None,
    ) -> None:
        self._registry = manager.registry() if registry is None else registry
        document = parse_document(read_text(Path(space)))
        self._places = Positions.of(str(space), document)
        self.space = validated(TuningSpace, document, self._places, self._registry)
        self.name = self.space.name or cell_name([Path(space).stem])
        self._path = scenario
        self._document = parse_document(read_text(Path(scenario)))
        self._overrides = overrides
        loaded = check_document(self._document, scenario, overrides, self._registry)
        missing = missing_inputs(loaded, "error")
        if missing:
            raise InputError(missing)
        self._check = check
        self._warnings: dict[Finding, None] = {}
        self._checked(loaded)
        self.base: Scenario = loaded.scenario
        self._check_ends(str(space))
        self.warnings: Sequence[Finding] = tuple(self._warnings)

    def with_values(self, values: Mapping[str, Any]) -> Scenario:
        """Return the scenario with other values, by key path.

        Raises
        ------
        InputError
            The values do not go together.
        """
        return self._loaded_with(values).scenario

    def _loaded_with(self, values: Mapping[str, Any]) -> LoadedScenario:
        settings = [self._setting(text, value) for text, value in values.items()]
        given: list[Override] = [*self._overrides, *settings]
        return check_document(self._document, self._path, given, self._registry)

    def _checked(self, loaded: LoadedScenario) -> None:
        """Apply the further check: keep its warnings, raise InputError with its errors."""
        found = list(self._check(loaded)) if self._check else []
        self._warnings.update((one, None) for one in found if one.severity == "warning")
        errors = [one for one in found if one.severity == "error"]
        if errors:
            raise InputError(errors)

    def _setting(self, text: str, value: Any) -> DeclaredSetting:
        at: KeyPath = ("parameters", text)
        source = self._places.place(at, on_key=True)
        return DeclaredSetting(parse_key_path(text), value, source, at, self._places)

    def _check_ends(self, file: str) -> None:
        findings: dict[Finding, None] = {}
        for text, range_ in self.space.parameters.items():
            for value in range_.ends:
                try:
                    self._checked(self._loaded_with({text: value}))
                except InputError as error:
                    findings.update(dict.fromkeys(error.findings))
        if findings:
            raise InputError(by_position(findings, file))
