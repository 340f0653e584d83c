"""Variables in paths, of which a scenario may use some."""

import pytest

from hpcsched.paths import expand_variables, unset_variables, variables_allowed


def test_variables() -> None:
    """Only `${NAME}` is a variable; all that are left are told."""
    with variables_allowed(["LOGS"]):
        assert expand_variables("$LOGS/${LOGS}/${1}", {"LOGS": "x"}) == "$LOGS/x/${1}"
    assert unset_variables("${A}/${B_2}/$C/${}") == ["A", "B_2"]


def test_variables_of_others() -> None:
    """A path cannot have a variable that is neither hpcsched's nor allowed, set or not."""
    for environment in ({"TOKEN": "secret"}, {}):
        with pytest.raises(ValueError, match=r"or that --env TOKEN allows .*, found \$\{TOKEN\}$"):
            expand_variables("${HPCSCHED_LOGS}/${TOKEN}", environment)
    with variables_allowed(["TOKEN"]), variables_allowed(["OTHER"]):
        assert expand_variables("${TOKEN}${OTHER}", {"TOKEN": "a", "OTHER": "b"}) == "ab"
    with pytest.raises(ValueError, match="begins with HPCSCHED_"):
        expand_variables("${TOKEN}", {"TOKEN": "a"})
