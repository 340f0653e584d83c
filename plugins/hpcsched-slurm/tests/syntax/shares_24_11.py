"""One tree of accounts as Slurm 24.11.5 printed it: `sshare -alP`, and the same with `--json`.

Two jobs of root had run. Trackable resources but `cpu` are left out, and what is not read.
"""

import json
from typing import Any

FAIR_TREE = """\
Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins
root|||0.000000|15||1.000000||||cpu=0
 root|root|1|0.333333|0|0.000000|0.000000|1.000000|inf||cpu=0
 physics||2|0.666667|15|1.000000|1.000000||0.666667||cpu=0
  physics|root|parent|0.666667|7|0.500000|0.500000|0.750000|||cpu=0
  theory||3|1.000000|7|0.500000|0.500000||2.000000||cpu=0
   theory|daemon|2|1.000000|0|0.000000|0.000000|0.500000|inf||cpu=0
   theory|root|parent|1.000000|7|0.500000|1.000000|0.500000|||cpu=0
"""
CLASSIC = """\
Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|GrpTRESMins|TRESRunMins
root|||1.000000|15||1.000000|0.500000||cpu=0
 root|root|1|0.333333|0|0.000000|0.000000|1.000000||cpu=0
 physics||2|0.666667|15|1.000000|1.000000|0.353553||cpu=0
  physics|root|parent|0.666667|7|0.500000|1.000000|0.353553||cpu=0
  theory||3|0.666667|7|0.500000|1.000000|0.353553||cpu=0
   theory|daemon|2|0.666667|0|0.000000|1.000000|0.353553||cpu=0
   theory|root|parent|0.666667|7|0.500000|1.000000|0.353553||cpu=0
"""
"""Output with either algorithm."""
_Row = tuple[str, str, int | None, int, float | str | None, str]
_FAIR_TREE: tuple[_Row, ...] = (
    ("root", "", None, 15, None, "ASSOCIATION"),
    ("root", "root", 1, 0, "infinite", "USER"),
    ("physics", "root", 2, 15, 0.6666666666666666, "ASSOCIATION"),
    ("root", "physics", 2147483647, 7, "infinite", "USER"),
    ("theory", "physics", 3, 7, 2.0, "ASSOCIATION"),
    ("daemon", "theory", 2, 0, "infinite", "USER"),
    ("root", "theory", 2147483647, 7, "infinite", "USER"),
)
_CLASSIC: tuple[_Row, ...] = (
    ("root", "", None, 15, 0.0, "ASSOCIATION"),
    ("root", "root", 1, 0, 0.0, "USER"),
    ("physics", "root", 2, 15, 0.0, "ASSOCIATION"),
    ("root", "physics", 2147483647, 7, 0.0, "USER"),
    ("theory", "physics", 3, 7, 0.0, "ASSOCIATION"),
    ("daemon", "theory", 2, 0, 0.0, "USER"),
    ("root", "theory", 2147483647, 7, 0.0, "USER"),
)


def _number(value: float | str | None) -> dict[str, Any]:
    infinite = value == "infinite"
    given = value is not None and not infinite
    return {"set": given, "infinite": infinite, "number": value if given else 0}


def shares_json(*, classic: bool = False) -> dict[str, Any]:
    """Return the same as JSON, in the nesting of v0.0.42."""
    listed = [
        {
            "cluster": "test", "name": name, "parent": parent, "partition": "",
            "shares": _number(shares), "usage": usage, "type": [kind],
            "fairshare": {"level": _number(level)},
            "tres": {"group_minutes": [{"name": "cpu", "value": _number("infinite")}]},
        }
        for name, parent, shares, usage, level, kind in (_CLASSIC if classic else _FAIR_TREE)
    ]  # fmt: skip
    return {"shares": {"shares": listed, "total_shares": 0}, "meta": {}}


def shares_text(*, classic: bool = False) -> str:
    """Return the JSON as text."""
    return json.dumps(shares_json(classic=classic))
