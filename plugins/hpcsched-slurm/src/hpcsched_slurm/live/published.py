"""Forecasts for others: as JSON, as metrics for Prometheus and as a page; in files, or served."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader
from prometheus_client import CollectorRegistry, generate_latest, make_wsgi_app, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from hpcsched.errors import Finding, InputError
from hpcsched.runs.files import json_text
from hpcsched.studies.forecast.forecast_file import ForecastFile, interval, made_at, told_of
from hpcsched.whole_files import write_text


class Published(Collector):
    """The latest forecast, as metrics; None before the first."""

    def __init__(self, latest: ForecastFile | None = None) -> None:
        self.latest = latest

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the metrics; by partition, since jobs come and go and so make no good labels."""
        found = self.latest
        if found is None:
            return
        rows = sorted((one.partition, max(one.middle - found.time, 0)) for one in found.jobs)
        waits = {
            name: [wait for _, wait in own] for name, own in groupby(rows, key=lambda row: row[0])
        }
        yield GaugeMetricFamily(
            "hpcsched_forecast_time_seconds", "Instant of the forecast, since 1970.", found.time
        )
        yield GaugeMetricFamily("hpcsched_running_jobs", "Jobs that run.", found.running)
        jobs = GaugeMetricFamily(
            "hpcsched_waiting_jobs", "Jobs that wait and are forecast.", labels=["partition"]
        )
        until = GaugeMetricFamily(
            "hpcsched_forecast_wait_seconds",
            "Time until the forecast start of waiting jobs: quantiles over the jobs.",
            labels=["partition", "quantile"],
        )
        for name, own in waits.items():
            jobs.add_metric([name], len(own))
            for share in (0, 0.5, 1):
                until.add_metric([name, str(share)], own[int(share * (len(own) - 1))])
        yield jobs
        yield until

    def metrics(self) -> str:
        """Return the metrics in the text format of Prometheus."""
        return generate_latest(self).decode()

    def json(self) -> str:
        """Return the file that `hpcsched when` reads."""
        return "" if self.latest is None else json_text(self.latest.model_dump(mode="json"))

    def page(self) -> str:
        """Return a page in HTML that needs no other file and no script."""
        if self.latest is None:
            return ""
        environment = Environment(
            loader=PackageLoader("hpcsched_slurm.live"), autoescape=True, trim_blocks=True
        )
        return environment.get_template("forecast.html").render(
            found=self.latest,
            made_at=made_at(self.latest),
            share=f"{interval(self.latest):.0%}",
            told=tuple(told_of(self.latest)),
        )

    def put(
        self,
        latest: ForecastFile,
        file: Path,
        metrics: Path | None = None,
        page: Path | None = None,
    ) -> None:
        """Take a forecast, and write it to files; readers see the old ones or the new ones."""
        self.latest = latest
        for path, text in ((file, self.json), (metrics, self.metrics), (page, self.page)):
            if path is not None:
                write_text(path, text())

    @contextmanager
    def served(self, address: str) -> Iterator[str]:
        """Serve metrics, JSON and page on HOST:PORT; gives the address, with the port if that is 0.

        Raises
        ------
        InputError
            It is no such address, or cannot be used.
        """
        host, port = _host_and_port(address)
        registry = CollectorRegistry()
        registry.register(self)
        try:
            server, thread = start_http_server(port, host, registry)
        except OSError as error:
            message = f"cannot serve on {address}: {error.strerror}"
            raise InputError(Finding("not-served", message, key="--serve")) from error
        server.set_app(self._application(make_wsgi_app(registry)))
        try:
            yield f"http://{address.rpartition(':')[0]}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def _application(self, metrics: Callable[..., Any]) -> Callable[..., Any]:
        texts: Mapping[str, tuple[str, Callable[[], str]]] = {
            "/": ("text/html", self.page),
            "/forecast.json": ("application/json", self.json),
        }

        def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            path = environ["PATH_INFO"]
            if path == "/metrics":
                answered: Iterable[bytes] = metrics(environ, start_response)
                return answered
            kind, text = texts.get(path, ("text/plain", lambda: ""))
            content = text()
            status = "200 OK" if content else "404 Not Found"
            start_response(status, [("Content-Type", f"{kind}; charset=utf-8")])
            return [content.encode()]

        return answer


def _host_and_port(address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{address}")
        if parts.hostname and parts.port is not None and parts.netloc == address:
            return parts.hostname, parts.port
    except ValueError:
        pass
    message = f"expected HOST:PORT, such as 127.0.0.1:9101; found {address!r}"
    raise InputError(Finding("bad-address", message, key="--serve"))
