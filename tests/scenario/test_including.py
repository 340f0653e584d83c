"""Systems that a scenario names: where they are found, what can be replaced, what is refused."""

from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.errors import Finding, InputError
from hpcsched.scenario import Scenario, load_scenario, resolved_yaml
from hpcsched.scenario.loading import SHIPPED, read_scenario

TEXT = """\
name: named
system: SYSTEM
trace: {source: swf, path: log.swf}
dispatcher: easy
"""
MINE = """\
# Mine
units: {mem: 1GiB}
groups:
  - name: thin
    count: 4
    resources: {core: 8, mem: 16GiB}
  - {name: fat, count: 1, resources: {core: 16, mem: 64GiB}}
"""
OTHER = "groups: [{name: n, count: 2, resources: {core: 1}}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the systems `mine` and `other`."""
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems" / "mine.yaml").write_text(MINE)
    (tmp_path / "systems" / "other.yaml").write_text(OTHER)
    return tmp_path


def write(folder: Path, system: str) -> Path:
    """Write a scenario with a system."""
    path = folder / "scenario.yaml"
    path.write_text(TEXT.replace("SYSTEM", system))
    return path


def load(folder: Path, system: str, *overrides: str) -> Scenario:
    """Load a scenario with a system."""
    return load_scenario(write(folder, system), overrides)


def findings_of(folder: Path, system: str, *overrides: str) -> list[Finding]:
    """Return what is wrong with a scenario with a system."""
    with pytest.raises(InputError) as caught:
        load(folder, system, *overrides)
    return list(caught.value.findings)


def shape(scenario: Scenario) -> list[tuple[str, int]]:
    """Return the names and sizes of a scenario's groups."""
    return [(group.name, group.count) for group in scenario.system.groups]


THIN_AND_FAT = [("thin", 4), ("fat", 1)]


@pytest.mark.parametrize(
    "system",
    [
        "mine", "'mine'", "systems/mine.yaml", "./systems/mine.yaml",
        "systems/../systems/mine.yaml",
    ],
)  # fmt: skip
def test_names_and_paths(system: str, folder: Path) -> None:
    """A name stands for a file beside the scenario, and so does its path."""
    scenario = load(folder, system)
    assert shape(scenario) == THIN_AND_FAT
    assert scenario.system.units == {"mem": 2**30}
    assert scenario == load(folder, "\n  " + MINE.replace("\n", "\n  "))


def test_the_scenario_s_folder_counts(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and paths start at the scenario, wherever the command runs, also by a relative path."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    assert shape(load(folder, "mine")) == THIN_AND_FAT
    assert shape(load(folder, "systems/mine.yaml")) == THIN_AND_FAT
    write(folder, "mine")
    monkeypatch.chdir(folder)
    assert shape(load_scenario("scenario.yaml")) == THIN_AND_FAT
    (folder / "sub").mkdir()
    assert shape(load(folder / "sub", "../systems/mine.yaml")) == THIN_AND_FAT


def test_absolute_paths_and_variables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths may be absolute, and `${VAR}` and `~` are filled in."""
    assert shape(load(folder, f"{folder}/systems/mine.yaml")) == THIN_AND_FAT
    monkeypatch.setenv("HPCSCHED_SYSTEMS", str(folder / "systems"))
    assert shape(load(folder, "${HPCSCHED_SYSTEMS}/mine.yaml")) == THIN_AND_FAT
    monkeypatch.setenv("HPCSCHED_SYSTEMS", "systems")
    assert shape(load(folder, "'${HPCSCHED_SYSTEMS}/mine.yaml'")) == THIN_AND_FAT
    monkeypatch.setenv("HPCSCHED_WHICH", "mine")
    assert shape(load(folder, "${HPCSCHED_WHICH}")) == THIN_AND_FAT
    monkeypatch.setenv("HOME", str(folder))
    assert shape(load(folder, "~/systems/mine.yaml")) == THIN_AND_FAT


def test_the_shipped_catalogue(folder: Path) -> None:
    """What is not beside the scenario is looked for among the systems that come along."""
    shipped = [path for place in SHIPPED for path in place.glob("*.yaml")]
    assert shipped
    for path in shipped:
        assert load(folder, path.stem).system.build().node_count > 0


def test_the_scenario_s_own_systems_come_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file beside the scenario hides a shipped one of the same name, and nothing else does."""
    shipped = folder / "shipped"
    shipped.mkdir()
    (shipped / "mine.yaml").write_text(OTHER)
    (shipped / "theirs.yaml").write_text(OTHER)
    monkeypatch.setattr("hpcsched.scenario.loading.SHIPPED", (folder / "none", shipped))
    assert shape(load(folder, "mine")) == THIN_AND_FAT
    assert shape(load(folder, "theirs")) == [("n", 2)]


def test_overrides_of_the_name(folder: Path) -> None:
    """`system=` names another system."""
    assert shape(load(folder, "mine", "system=other")) == [("n", 2)]
    assert shape(load(folder, "nowhere", "system=other")) == [("n", 2)]
    assert shape(load(folder, "\n  " + OTHER, "system=mine")) == THIN_AND_FAT
    assert shape(load(folder, "mine", "system=other", "system=mine")) == THIN_AND_FAT


def test_overrides_within_a_named_system(folder: Path) -> None:
    """Other overrides reach into the system that is named, whatever their order."""
    for overrides in (
        ("system.groups[0].count=3",),
        ("system.groups[0].count=9", "system.groups.0.count=3"),
    ):
        assert shape(load(folder, "mine", *overrides)) == [("thin", 3), ("fat", 1)]
    for overrides in (
        ("system=other", "system.groups[0].count=3"),
        ("system.groups[0].count=3", "system=other"),
    ):
        assert shape(load(folder, "mine", *overrides)) == [("n", 3)]
    assert load(folder, "mine", "system.units={}").system.units == {}
    assert load(folder, "mine", "system.units.mem=2GiB").system.units == {"mem": 2**31}
    assert (folder / "systems" / "mine.yaml").read_text() == MINE


def test_resolved_scenarios_stand_alone(folder: Path) -> None:
    """A resolved scenario says what the named system is, and loads again to an equal one."""
    (folder / "elsewhere").mkdir()
    for system in ("mine", "cerit-sc"):
        scenario = load(folder, system, "system.groups[0].count=2")
        text = resolved_yaml(scenario)
        again = folder / "elsewhere" / "resolved.yaml"
        again.write_text(text)
        assert load_scenario(again) == scenario
        assert resolved_yaml(load_scenario(again)) == text


def test_places(folder: Path) -> None:
    """Values stand in the file, the name in the scenario; overrides are placed at themselves."""
    path = write(folder, "mine")
    loaded = read_scenario(path, ["system.groups[1].count=2"])
    mine = folder / "systems" / "mine.yaml"
    expected = {
        "system": f"{path}:2:9",
        "system.units": f"{mine}:2:8",
        "system.units.mem": f"{mine}:2:14",
        "system.groups": f"{mine}:4:3",
        "system.groups[0].count": f"{mine}:5:12",
        "system.groups[0].resources.mem": f"{mine}:6:31",
        "system.groups[1].count": "--set system.groups[1].count=2",
        "system.groups[1].name": f"{mine}:7:12",
        "trace.path": f"{path}:3:28",
    }
    assert {key: str(loaded.place(key)) for key in expected} == expected


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("mime", "there is no system 'mime'; did you mean 'mine'?"),
        ("Mine", "there is no system 'Mine'; did you mean 'mine'?"),
        ("zzzzzz", "there is no system 'zzzzzz'; there are: "),
        ("''", "there is no system ''; there are: "),
        ("../systems/mine", "there is no system '../systems/mine'"),
        ("../mine", "there is no system '../mine'; did you mean 'mine'?"),
        ("systems/mine", "there is no system 'systems/mine'"),
        ("..", "there is no system '..'"),
        (".", "there is no system '.'"),
        ("/mine", "there is no system '/mine'"),
        ("mine/", "there is no system 'mine/'"),
        ("mine.yml", "there is no file "),
        ("mine.yaml", "there is no file "),
        ("systems/none.yaml", "there is no file "),
        ("systems/mine.yaml/x.yaml", "there is no file "),
        ("${HPCSCHED_NOT_SET}/mine.yaml", "the environment variable HPCSCHED_NOT_SET is not set"),
        ("${HPCSCHED_NOT_SET}", "the environment variable HPCSCHED_NOT_SET is not set"),
        ("~nosuchuser/mine.yaml", "there is no user 'nosuchuser'"),
        ("'a\u0085b'", "there is no system "),
        ('"a\\0b"', "there is no system "),
        ('"a\\0b.yaml"', "expected a path without the character U+0000"),
        ("x" * 300, "there is no system "),
        ("x" * 300 + ".yaml", "too long a path: 305 bytes"),
        ("x/" * 3000 + "y.yaml", "too long a path: 6006 bytes"),
    ],
)  # fmt: skip
def test_systems_that_are_not_there(
    system: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one finding stands at the name in the scenario."""
    monkeypatch.delenv("HPCSCHED_NOT_SET", raising=False)
    (folder / "mine.yaml.d").mkdir()
    (finding,) = findings_of(folder, system)
    assert message in finding.message
    assert str(finding.place) == f"{folder / 'scenario.yaml'}:2:9"
    assert (finding.rule, finding.key) == ("unknown-system", "system")
    assert finding.severity == "error"


def test_a_folder_is_no_system(folder: Path) -> None:
    """Neither by its name nor by its path."""
    (folder / "systems" / "dir.yaml").mkdir()
    assert findings_of(folder, "dir")[0].rule == "unknown-system"
    assert findings_of(folder, "systems/dir.yaml")[0].message.startswith("there is no file ")


@pytest.mark.parametrize("value", ["3", "true", "null", "[mine]", ""])
def test_a_system_that_is_no_text_or_mapping(value: str, folder: Path) -> None:
    """The one finding stands at the value, or where it should be."""
    (finding,) = findings_of(folder, value)
    assert str(finding.place).startswith(f"{folder / 'scenario.yaml'}:2:")
    assert finding.key == "system"
    assert finding.message.startswith("expected a mapping of keys, found ")


# What stands in the included file; line, column, rule, key and message of the one finding.
BAD = {
    "syntax": ("groups: [a\n", 2, 1, "syntax", "", "not valid YAML: expected ',' or ']'"),
    "a tabulator": ("units:\n\tmem: 1\n", 2, 1, "syntax", "", "cannot start any token"),
    "a control character": ("groups: \x01\n", 1, 9, "syntax", "", "U+0001 is not allowed"),
    "a second document": (
        f"{OTHER}---\n{OTHER}", 2, 1, "syntax", "", "a second YAML document starts here",
    ),
    "an unknown key": (
        f"colour: red\n{OTHER}", 1, 1, "unknown-key", "system.colour",
        "there is no key 'colour' here; there are: units, groups",
    ),
    "an unknown key in a group": (
        MINE.replace("    count: 4", "    count: 4\n    cuont: 3"), 6, 5, "unknown-key",
        "system.groups[0].cuont", "did you mean 'count'?",
    ),
    "a duplicate key": (
        f"{OTHER}groups: []\n", 2, 1, "duplicate-key", "groups",
        "the key 'groups' is given twice; first in line 1",
    ),
    "a list": ("- groups\n", 1, 1, "bad-value", "", "expected a mapping with the key 'groups'"),
    "a text": ("mine\n", 1, 1, "bad-value", "", "expected a mapping with the key 'groups'"),
    "nothing": ("", 1, 1, "bad-value", "", "expected a mapping with the key 'groups'"),
    "no groups": ("units: {}\n", 1, 1, "bad-value", "", "expected a mapping with the key 'groups'"),
    "a whole scenario": (
        TEXT.replace("SYSTEM", "{groups: []}"), 1, 1, "bad-value", "", "with the key 'groups'",
    ),
    "an empty list of groups": (
        "groups: []\n", 1, 9, "bad-value", "system.groups", "a list that is not empty",
    ),
    "groups that are no list": (
        "units: {}\ngroups: 3\n", 2, 9, "bad-value", "system.groups", "expected a list, found 3",
    ),
    "a bad amount": (
        OTHER.replace("core: 1", "core: 1x"), 1, 48, "bad-value",
        "system.groups[0].resources.core", "expected an amount such as",
    ),
    "a missing key": (
        "groups:\n- {name: n, resources: {core: 1}}\n", 2, 3, "missing-key",
        "system.groups[0].count", "the key 'count' is missing",
    ),
    "an octal number": (
        OTHER.replace("count: 2", "count: 010"), 1, 27, "bad-value", "groups[0].count",
        "010 with a leading zero",
    ),
    "a unit of an unknown type": (
        f"{OTHER}units: {{gpu: 1}}\n", 2, 14, "unknown-resource-type", "system.units.gpu",
        "no node group has gpu",
    ),
    "a group twice": (
        OTHER.replace("]", ", {name: n, count: 1, resources: {core: 1}}]"), 1, 60,
        "duplicate-name", "system.groups[1].name", "two groups are called 'n'",
    ),
    "a system that names another": (
        f"include: other\n{OTHER}", 1, 1, "unknown-key", "system.include", "no key 'include' here",
    ),
    "aliases without end": ("groups: &a [*a]\n", 1, 9, "syntax", "", "without end"),
    "a merge key": (
        f"<<: {{}}\n{OTHER}", 1, 1, "merge-key", '"<<"', "merge keys are not part of YAML 1.2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_a_fault_in_the_file_is_told_with_its_place(
    kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fault gives one finding, in the included file, with line and column."""
    text, line, column, rule, key, message = BAD[kind]
    bad = folder / "systems" / "bad.yaml"
    bad.write_text(text)
    for system in ("bad", "systems/bad.yaml"):
        (finding,) = findings_of(folder, system)
        assert str(finding.place) == f"{bad}:{line}:{column}"
        assert (finding.rule, finding.key) == (rule, key)
        assert message in finding.message
    assert main(["validate", str(write(folder, "bad"))]) == 1
    said = capsys.readouterr().out.splitlines()
    (error,) = (one for one in said if ": error: " in one)
    assert error.startswith(f"{bad}:{line}:{column}: error: ")
    assert said[-1].startswith("1 file, 1 error, ")


def test_other_encodings(folder: Path) -> None:
    """A file that is no UTF-8 is named."""
    bad = folder / "systems" / "bad.yaml"
    bad.write_bytes("# žluťoučký\n".encode("latin2") + OTHER.encode())
    (finding,) = findings_of(folder, "bad")
    assert finding.rule == "unreadable-file"
    assert finding.place is not None
    assert finding.place.file == str(bad)
    bad.write_bytes(OTHER.encode("utf-8-sig"))
    assert shape(load(folder, "bad")) == [("n", 2)]


def test_faults_in_several_files_are_told_at_once(folder: Path) -> None:
    """Findings in the scenario come first, then those in the file, and those of overrides."""
    (folder / "systems" / "bad.yaml").write_text(f"colour: red\n{OTHER.replace('2', 'two')}")
    path = write(folder, "bad")
    path.write_text(path.read_text().replace("easy", "eazy"))
    with pytest.raises(InputError) as caught:
        load_scenario(path, ["seed=x"])
    rules = [(f.place.file if f.place else "", f.rule) for f in caught.value.findings]
    assert rules[0] == (str(path), "unknown-plugin")
    assert sorted(rules[1:]) == sorted(
        [
            (str(folder / "systems" / "bad.yaml"), "unknown-key"),
            (str(folder / "systems" / "bad.yaml"), "bad-value"),
            ("--set seed=x", "bad-value"),
        ]
    )


@pytest.mark.parametrize(
    ("system", "overrides", "place", "message"),
    [
        ("mine", ["system=mime"], "--set system=mime", "did you mean 'mine'?"),
        ("mine", ["system=3"], "--set system=3", "expected a mapping of keys, found 3"),
        (
            "mine", ["system.groups[2].count=3"], "--set system.groups[2].count=3",
            "system.groups has 2 items",
        ),
        (
            "mine", ["system.groups[0].count=x"], "--set system.groups[0].count=x",
            "expected a whole number",
        ),
        ("mine", ["system.colour=red"], "--set system.colour=red", "there is no key 'colour'"),
        (
            "mine", ["system.groups[0].count=3", "system=mime"], "--set system=mime",
            "did you mean 'mine'?",
        ),
        ("mine", ["system.units.mem=1TiB"], "--set system.units.mem=1TiB", "less than one unit"),
    ],
)  # fmt: skip
def test_faults_of_overrides(
    system: str, overrides: list[str], place: str, message: str, folder: Path
) -> None:
    """A fault that an override makes is placed at the override, and told once."""
    (finding,) = findings_of(folder, system, *overrides)
    assert str(finding.place) == place
    assert message in finding.message


def test_overrides_of_a_system_that_is_not_there(folder: Path) -> None:
    """What cannot be found is told once, and not again for every override within it."""
    overrides = "system.groups[0].count=3", "system.units={}", " system.groups[1].count = 2"
    (finding,) = findings_of(folder, "mime", *overrides)
    assert "did you mean 'mine'?" in finding.message
    assert str(finding.place) == f"{folder / 'scenario.yaml'}:2:9"


def test_an_override_mends_what_the_file_has_wrong(folder: Path) -> None:
    """A value that is replaced is not validated as it was."""
    (folder / "systems" / "bad.yaml").write_text(OTHER.replace("2", "-1"))
    assert findings_of(folder, "bad")[0].rule == "bad-value"
    assert shape(load(folder, "bad", "system.groups[0].count=5")) == [("n", 5)]


def test_a_trace_beside_the_scenario(folder: Path) -> None:
    """Naming a system by its path leaves other paths where they are: in the scenario's folder."""
    scenario = load(folder, "systems/mine.yaml")
    assert scenario.trace.model_dump()["path"] == str(folder / "log.swf")
