"""Variables in paths, of which a scenario may use some."""

from pathlib import Path

import pytest

from hpcsched import InputError, load_scenario
from hpcsched.paths import expand_variables, unset_variables, variables_allowed


def test_variables() -> None:
    """Only `${NAME}` is a variable; all that are left are told."""
    with variables_allowed(["LOGS"]):
        assert expand_variables("$LOGS/${LOGS}/${1}", {"LOGS": "x"}) == "$LOGS/x/${1}"
    assert unset_variables("${A}/${B_2}/$C/${}") == ["A", "B_2"]


def test_variables_of_others() -> None:
    """A path cannot have a variable that is neither hpcsched's nor allowed, set or not."""
    for environment in ({"TOKEN": "secret"}, {}):
        with pytest.raises(ValueError, match=r"or in Python env=.*, found \$\{TOKEN\}$"):
            expand_variables("${HPCSCHED_LOGS}/${TOKEN}", environment)
    with variables_allowed(["TOKEN"]), variables_allowed(["OTHER"]):
        assert expand_variables("${TOKEN}${OTHER}", {"TOKEN": "a", "OTHER": "b"}) == "ab"
    with pytest.raises(ValueError, match="begins with HPCSCHED_"):
        expand_variables("${TOKEN}", {"TOKEN": "a"})


def test_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable is allowed for one scenario, and not for the next."""
    monkeypatch.setenv("NAME_OF_SYSTEM", "eurora")
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "name: a\nsystem: ${NAME_OF_SYSTEM}\ntrace: {source: swf, path: a.swf}\ndispatcher: easy\n"
    )
    assert load_scenario(path, env=["NAME_OF_SYSTEM"]).system.groups[0].name == "gpu"
    with pytest.raises(InputError, match=r"in Python env=\['NAME_OF_SYSTEM'\]"):
        load_scenario(path)
