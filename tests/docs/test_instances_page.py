"""The page on saved dispatching problems describes every column and key."""

import re

from hpcsched.studies.problems.problem_files import ProblemLine
from hpcsched.studies.problems.solving import SCHEMA
from tests.docs.pages import DOCS, tables

PAGE = (DOCS / "instances.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


def described(section):
    """Return what the first column of a section's last table names."""
    *_, rows = tables(SECTIONS[section])
    return [name for row in rows[1:] for name in re.findall(r"`([^`]+)`", row[0])]


def test_columns():
    """Every column of a table, in order, and no other."""
    assert described("The table") == SCHEMA.names


def test_keys():
    """Every key of a line, in order, and no other."""
    assert described("The file of problems") == list(ProblemLine.model_fields)
