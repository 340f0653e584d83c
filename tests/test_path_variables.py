"""Variables in paths, of which a scenario may use some."""

import pytest

from hpcsched.paths import expand_variables, unset_variables


def test_variables() -> None:
    """Only `${NAME}` is a variable; all that are left are told."""
    text = "$HPCSCHED_LOGS/${HPCSCHED_LOGS}/${1}"
    assert expand_variables(text, {"HPCSCHED_LOGS": "x"}) == "$HPCSCHED_LOGS/x/${1}"
    assert unset_variables("${A}/${B_2}/$C/${}") == ["A", "B_2"]


def test_variables_of_others() -> None:
    """A path cannot have a variable that is not hpcsched's, set or not."""
    for environment in ({"TOKEN": "secret"}, {}):
        with pytest.raises(ValueError, match=r"begins with HPCSCHED_, found \$\{TOKEN\}$"):
            expand_variables("${HPCSCHED_LOGS}/${TOKEN}", environment)
