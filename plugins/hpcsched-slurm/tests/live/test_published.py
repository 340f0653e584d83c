"""What is published of forecasts: metrics, the page, and the server."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.studies.forecast.forecast_file import read_forecast
from hpcsched_slurm.live.published import Published
from tests.studies.forecast.forecasts import FOUND, NOON, waiting


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock of the machine shows UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_metrics(tmp_path: Path) -> None:
    """By partition: how many wait, and the least, middle and greatest of their medians."""
    metrics = tmp_path / "forecast.prom"
    Published().put(FOUND, tmp_path / "forecast.json", metrics)
    found = text_string_to_metric_families(metrics.read_text())
    samples = [one for family in found for one in family.samples]
    assert {(one.name, *one.labels.values()): one.value for one in samples} == {
        ("hpcsched_forecast_time_seconds",): 43200,
        ("hpcsched_running_jobs",): 3,
        ("hpcsched_waiting_jobs", "gpu"): 1,
        ("hpcsched_waiting_jobs", "main"): 3,
        ("hpcsched_forecast_wait_seconds", "gpu", "0"): 3600,
        ("hpcsched_forecast_wait_seconds", "gpu", "0.5"): 3600,
        ("hpcsched_forecast_wait_seconds", "gpu", "1"): 3600,
        ("hpcsched_forecast_wait_seconds", "main", "0"): 3600,
        ("hpcsched_forecast_wait_seconds", "main", "0.5"): 7200,
        ("hpcsched_forecast_wait_seconds", "main", "1"): 86400,
    }


def test_a_partition_with_an_odd_name() -> None:
    """Quotes, backslashes and line breaks are escaped in metrics, markup on the page."""
    odd = FOUND.model_copy(update={"jobs": (waiting("<b>&", None, NOON, 'a"b\\c\nd'),)})
    assert 'hpcsched_waiting_jobs{partition="a\\"b\\\\c\\nd"} 1.0' in Published(odd).metrics()
    assert "<td>&lt;b&gt;&amp;</td><td>a&#34;b" in Published(odd).page()


def test_the_page(tmp_path: Path) -> None:
    """A row each job: interval, middle, with half its limit, jobs before it, and of its group."""
    page = tmp_path / "forecast.html"
    Published().put(FOUND, tmp_path / "forecast.json", page=page)
    text = page.read_text()
    assert "Made at 1970-01-01 12:00 by 200 sampled futures; 3 jobs run, 4 wait." in text
    assert "In 80% of the futures" in text
    cells = ("7", "main", "13:30", "14:00", "14:30", "12:40", "2", "1")
    assert f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>" in text
    assert "<td>13:30</td><td>–</td><td>0</td>" in text
    assert "<td>3</td><td>–</td>" in text
    assert "<script" not in text


def test_the_server(tmp_path: Path) -> None:
    """It has the same texts as the files, and ends."""
    published = Published()
    with published.served("127.0.0.1:0") as address:
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{address}/forecast.json")
        files = [tmp_path / name for name in ("forecast.json", "metrics", "page.html")]
        published.put(FOUND, *files)
        for file, path in zip(files, ("forecast.json", "metrics", ""), strict=True):
            with urlopen(f"{address}/{path}") as answer:
                assert answer.read() == file.read_bytes()
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{address}/other")
    with pytest.raises(OSError, match="refused"):
        urlopen(address)
    assert read_forecast(files[0]) == FOUND


@pytest.mark.parametrize("address", ["9101", "127.0.0.1", "127.0.0.1:x", "h:70000", "u@h:1/x"])
def test_no_address(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused before anything is read."""
    given = ["--publish", str(tmp_path / "f.json"), "--serve", address]
    assert main(["live", "forecast", str(tmp_path / "none.yaml"), *given]) == 1
    assert f"expected HOST:PORT, such as 127.0.0.1:9101; found {address!r}" in " ".join(
        capsys.readouterr().err.split()
    )


def test_an_address_in_use() -> None:
    """Nothing else is served there; nor on a host that is not this one."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(InputError, match=f"cannot serve on 127.0.0.1:{port}: Address already"),
            Published().served(f"127.0.0.1:{port}"),
        ):
            pass
    with pytest.raises(InputError, match="cannot serve on"), Published().served("192.0.2.1:1"):
        pass
