"""Every kind of fault has its message, its place and its rule."""

from pathlib import Path

import pytest

from hpcsched.errors import Finding, InputError
from hpcsched.scenario import load_scenario
from tests.fake_plugins import fake_registry
from tests.scenario.samples import BAD, GOOD, Bad, write


def findings_of(path: Path, *overrides: str) -> list[Finding]:
    """Return what is wrong with a scenario."""
    with pytest.raises(InputError) as caught:
        load_scenario(path, overrides, fake_registry())
    return list(caught.value.findings)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_fault_is_told_with_its_place(bad: Bad, tmp_path: Path) -> None:
    """A fault gives a finding with message, line, column, rule and key path."""
    path = write(tmp_path, bad.text)
    finding = next(f for f in findings_of(path) if f.rule == bad.rule and f.key == bad.key)
    assert bad.message in finding.message
    assert str(finding.place) == f"{path}:{bad.line}:{bad.column}"
    assert finding.severity == "error"
    assert "\n" not in str(finding)


ALONE = [name for name in BAD if name not in {"second document", "mapping for a list"}]


@pytest.mark.parametrize("name", ALONE)
def test_one_fault_gives_one_finding(name: str, tmp_path: Path) -> None:
    """One fault is told once, except where a key under another name is missing as well."""
    rules = [finding.rule for finding in findings_of(write(tmp_path, BAD[name].text))]
    assert rules == [BAD[name].rule]


def test_all_faults_are_told_at_once_by_position(tmp_path: Path) -> None:
    """Faults of the YAML and of the values come together, in the order of the file."""
    text = GOOD.replace("seed: 1", "sede: 1").replace("count: 4", "count: 010\n      count: 5")
    text = text.replace("source: synthetic", "source: nowhere").replace("depth: 3", "depth: x")
    findings = findings_of(write(tmp_path, text))
    rules = [finding.rule for finding in findings]
    assert rules == ["unknown-key", "bad-value", "duplicate-key", "unknown-plugin", "bad-value"]
    lines = [finding.place.line for finding in findings if finding.place]
    assert lines == [2, 6, 7, 10, 15]


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n", "just text\n", "3\n"])
def test_a_scenario_is_a_mapping(text: str, tmp_path: Path) -> None:
    """Anything else than a mapping at the top is refused in one finding."""
    (finding,) = findings_of(write(tmp_path, text))
    assert finding.message.startswith("expected a mapping of keys, found ")


def test_a_missing_file_is_one_finding(tmp_path: Path) -> None:
    """A file that is not there is named."""
    (finding,) = findings_of(tmp_path / "none.yaml")
    assert finding.rule == "unreadable-file"
    assert finding.message == "the file cannot be read: no such file or directory"


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    """A folder in place of a file is refused."""
    (finding,) = findings_of(tmp_path)
    assert finding.message == "the file cannot be read: is a directory"


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    """A file in another encoding than UTF-8 is refused in one finding."""
    path = tmp_path / "latin.yaml"
    path.write_bytes(GOOD.replace("small", "smäll").encode("latin-1"))
    (finding,) = findings_of(path)
    assert finding.message == "the file is not UTF-8 text: byte 8 cannot be decoded"


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    """The mark that some editors put first does no harm."""
    path = tmp_path / "bom.yaml"
    path.write_bytes(GOOD.encode("utf-8-sig"))
    assert load_scenario(path, (), fake_registry()).name == "small"


def test_list_items_are_not_blamed_on_the_list(tmp_path: Path) -> None:
    """A list is not called too short because its only item is wrong."""
    findings = findings_of(write(tmp_path, GOOD.replace("count: 4", "count: x")))
    assert [finding.key for finding in findings] == ["system.groups[0].count"]


def test_amounts_that_overflow_are_refused(tmp_path: Path) -> None:
    """Totals that do not fit 64 bits are refused before they are computed with."""
    text = GOOD.replace("count: 4", "count: 10000000").replace("16GiB", "4000TiB")
    (finding,) = findings_of(write(tmp_path, text))
    assert finding.message == "all nodes together have more than 2^63 - 1 of mem"
