"""Every rule is described."""

import re
from pathlib import Path

import hpcsched.cli
import hpcsched.scenario
from hpcsched.scenario.review import RULES
from tests.scenario.samples import BAD


def test_every_rule_that_is_used_is_described() -> None:
    """Rules named in the code of scenarios are in the table, and each has a sentence."""
    folders = [Path(package.__path__[0]) for package in (hpcsched.scenario, hpcsched.cli)]
    source = "\n".join(file.read_text("utf-8") for f in folders for file in f.glob("*.py"))
    used = set(
        re.findall(
            r'(?:Finding|refusal|Fault|_problem|_finding)\(\s*(?:loaded, )?"([a-z-]+)"', source
        )
    )
    used |= {bad.rule for bad in BAD.values()}
    assert len(used) > 10
    assert used <= set(RULES)
    assert all(text.endswith(".") for text in RULES.values())
