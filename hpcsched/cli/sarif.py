"""Findings as SARIF 2.1.0, which code scanning services read."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from hpcsched.cli.findings import relative
from hpcsched.errors import Finding
from hpcsched.scenario.review import RULES
from hpcsched.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_content(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return findings as a SARIF log with one run."""
    # Sorted, so that the same findings give the same bytes.
    rules = sorted({finding.rule for finding in findings})
    run = {
        "tool": {
            "driver": {
                "name": "hpcsched",
                "version": __version__,
                "rules": [{"id": rule, "shortDescription": _described(rule)} for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, rules.index(finding.rule)) for finding in findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _described(rule: str) -> dict[str, str]:
    return {"text": RULES.get(rule, f"A plugin's caution: {rule}.")}


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": finding.severity,
        "message": {"text": finding.message},
    }
    location: dict[str, Any] = {}
    if finding.place is not None:
        artifact = {"uri": quote(relative(finding.place.file))}
        location["physicalLocation"] = {"artifactLocation": artifact}
        if finding.place.line is not None:
            region = {"startLine": finding.place.line, "startColumn": finding.place.column or 1}
            location["physicalLocation"]["region"] = region
    if finding.key:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.key}]
    if location:
        result["locations"] = [location]
    return result
