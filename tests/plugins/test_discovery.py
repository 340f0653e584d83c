"""Plugins of other distributions are found, each once, and can be switched off."""

import pytest

from hpcsched import cli
from hpcsched.plugins.manager import OFF_SWITCH, registry
from tests.plugins.distributions import Distributions, describe

GOOD = """
    from hpcsched import Params, Plugin, hookimpl

    @hookimpl
    def hpcsched_{kind}s():
        yield Plugin({name!r}, "a plugin", lambda params, context: object())
"""


def test_what_is_installed(distributions: Distributions) -> None:
    """A plugin is known by kind and name, with its distribution and version."""
    distributions.install("Some-Orders", "1.2", GOOD.format(kind="queue_order", name="luck"))
    found = registry().get("queue_order", "luck")
    assert (found.distribution, found.version) == ("Some-Orders", "1.2")


def test_found_twice_on_the_path(distributions: Distributions) -> None:
    """A distribution that the path leads to twice is one; its plugins are listed once."""
    distributions.install("orders", "1.2", GOOD.format(kind="queue_order", name="luck"))
    distributions.path *= 2
    names = [i.plugin.name for i in registry().of_kind("queue_order")]
    assert names.count("luck") == 1


def test_of_two_versions_the_first(distributions: Distributions) -> None:
    """Where two versions of a distribution are on the path, the first is the one, as in imports."""
    distributions.install("orders", "1.2", GOOD.format(kind="queue_order", name="luck"))
    later = distributions.folder / "later"
    describe(later, "Orders", "1.1", "orders")
    distributions.path.append(str(later))
    assert registry().get("queue_order", "luck").version == "1.2"


def test_same_name_in_two_kinds(distributions: Distributions) -> None:
    """Names are apart from kind to kind."""
    distributions.install("orders", "1", GOOD.format(kind="queue_order", name="luck"))
    distributions.install("choosers", "1", GOOD.format(kind="allocator", name="luck"))
    assert registry().get("queue_order", "luck").distribution == "orders"
    assert registry().get("allocator", "luck").distribution == "choosers"


@pytest.mark.parametrize(("value", "there"), [("0", False), ("1", True)])
def test_off_switch(
    value: str,
    there: bool,
    distributions: Distributions,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the environment variable set to 0, only what comes with hpcsched is there."""
    distributions.install("orders", "1.2", GOOD.format(kind="queue_order", name="luck"))
    monkeypatch.setenv(OFF_SWITCH, value)
    assert cli.main(["plugins", "list"]) == 0
    assert ("luck" in capsys.readouterr().out) == there


def test_named_distributions_alone(
    distributions: Distributions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the environment variable set to names, those of other distributions are left out."""
    for name in ("orders", "choosers", "others"):
        distributions.install(name, "1", GOOD.format(kind="queue_order", name=name))
    monkeypatch.setenv(OFF_SWITCH, "orders, others")
    assert {"orders", "others"} <= set(registry().names("queue_order"))
    assert "choosers" not in registry().names("queue_order")


def test_off_switch_with_a_broken_plugin(
    distributions: Distributions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is switched off is not even imported."""
    distributions.install("broken", "1", "raise RuntimeError")
    monkeypatch.setenv(OFF_SWITCH, "0")
    assert cli.main(["plugins", "list"]) == 0
