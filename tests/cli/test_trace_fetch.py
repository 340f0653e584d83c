"""`hpcsched trace fetch` brings a log of the catalogue, and says what to cite."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.workload.archive import download
from hpcsched.workload.presets import preset_catalogue
from hpcsched.workload.presets.preset_catalogue import PresetFile, find_preset, read_presets
from tests.workload.archive.test_fetching import DATA, HASH, Server, log_at, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server on this machine with the only log of the catalogue."""
    monkeypatch.setenv("no_proxy", "*")
    with serving() as running:
        monkeypatch.setattr(download, "read_catalogue", lambda: [log_at(running)])
        yield running


def test_fetching(
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Into the folder that is named, or that of the environment; a second time nothing comes."""
    monkeypatch.delenv("HPCSCHED_TRACES", raising=False)
    assert cli.main(["trace", "fetch", "log"]) == 1
    assert capsys.readouterr().err.endswith("environment variable HPCSCHED_TRACES [no-folder]\n")
    assert cli.main(["trace", "fetch", "log", "--out", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    path = tmp_path / "log.swf.gz"
    assert err == ""
    assert out.splitlines()[0] == f"{path}: fetched; {len(DATA)} bytes, SHA-256 {HASH}"
    assert "by courtesy of somebody" in out
    assert "  a paper\n" in out
    assert out.endswith(
        "  system: kth-sp2\n  trace: {source: swf, path: '${HPCSCHED_TRACES}/log.swf.gz'}\n"
    )
    monkeypatch.setenv("HPCSCHED_TRACES", str(tmp_path))
    assert cli.main(["trace", "fetch", "log"]) == 0
    assert "is there already, and is whole" in capsys.readouterr().out
    assert server.requests == 1


def test_broken_off(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A transfer that broke off is one line, and exit code 1."""
    server.breaks_after = 1000
    assert cli.main(["trace", "fetch", "log", "--out", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"broke off after 1000 of {len(DATA)} bytes" in err


def test_list_and_names(capsys: pytest.CaptureFixture[str]) -> None:
    """All logs are listed; another name is answered with those there are; none is wrong usage."""
    assert cli.main(["trace", "fetch", "--list"]) == 0
    out = capsys.readouterr().out.splitlines()
    files = [file for preset in read_presets().values() for file in preset.files]
    assert len(out) == len(download.read_catalogue()) + len(files)
    assert out[0].startswith("KTH-SP2-1996-2  ")
    assert cli.main(["trace", "fetch", "KTH"]) == 1
    assert "the catalogue has no log 'KTH'" in capsys.readouterr().err
    assert cli.main(["trace", "fetch"]) == 2


@pytest.mark.parametrize(("known", "said"), [(True, False), (False, True)])
def test_a_data_set(
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    known: bool,
    said: bool,
) -> None:
    """By its preset's name; the work to cite is shown, and that a hash is not known."""
    server.data = b"PAR1 in between PAR1"
    address = server.address.replace("log.swf.gz", "job_table.parquet")
    digest = hashlib.sha256(server.data).hexdigest()
    file = PresetFile(address, digest if known else None)
    preset = replace(find_preset("pm100"), files=(file,))
    monkeypatch.setattr(preset_catalogue, "read_presets", lambda: {"pm100": preset})
    assert cli.main(["trace", "fetch", "pm100", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"SHA-256 {digest}" in out
    assert ("does not know its hash" in out) == said
    assert "PM100, licence: CC BY 4.0. Cite:" in out
    assert "doi:10.5281/zenodo.10127767" in out
    assert out.endswith("  trace: {source: table, preset: pm100, path: FILE}\n")


def test_a_data_set_of_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of them is to be named."""
    assert cli.main(["trace", "fetch", "f-data", "--out", str(tmp_path)]) == 2
    assert "expected one of its files: 23_07.parquet, 23_08" in capsys.readouterr().err
    assert cli.main(["trace", "fetch", "pm10", "--out", str(tmp_path)]) == 1
    assert "did you mean 'pm100'?" in capsys.readouterr().err
