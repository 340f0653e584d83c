"""The examples of what shows forecasts: a dashboard of Grafana, and a widget of Open OnDemand."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hpcsched_slurm.live.published import Published
from tests.report.page.browser import open_in_browser
from tests.studies.forecast.forecasts import FOUND, NOON, waiting

EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"


def test_the_dashboard() -> None:
    """Panels lie beside each other, and ask for metrics and labels that there are."""
    dashboard = json.loads((EXAMPLES / "forecast-dashboard.json").read_text())
    families = text_string_to_metric_families(Published(FOUND).metrics())
    known = {one.name: one.samples[0].labels for one in families}
    asked = set()
    places: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        own = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not own & places
        assert max(x for x, _ in own) < 24
        places |= own
        for target in panel["targets"]:
            assert target["datasource"] == {"type": "prometheus", "uid": "${source}"}
            for name, labels in re.findall(r"(hpcsched_\w+)(?:\{(.*?)\})?", target["expr"]):
                assert set(re.findall(r"(\w+)=", labels)) <= set(known[name])
                asked.add(name)
    assert asked == set(known)
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    variables = {one["name"] for one in dashboard["templating"]["list"]}
    assert variables == {"source", "partition"}


@pytest.mark.parametrize(("user", "shown"), [("", 5), ("1", 5), ("2", 0)])
def test_the_widget(user: str, shown: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row each job of the user in the order of starts, with names as text."""
    monkeypatch.setenv("TZ", "UTC")
    jobs = (*FOUND.jobs, waiting("<b>x</b>", None, NOON + 600, gain=300))
    content = Published(FOUND.model_copy(update={"jobs": jobs})).json()
    widget = (EXAMPLES / "_hpcsched_forecast.html").read_text()
    assert 'data-forecast="/public/forecast.json" data-user=""' in widget
    page = tmp_path / "page.html"
    address = f"data:application/json,{quote(content)}"
    page.write_text(
        widget.replace("/public/forecast.json", address).replace(
            'data-user=""', f'data-user="{user}"'
        )
    )
    opened = open_in_browser(page, tmp_path)
    assert f"{shown} jobs, as of 01/01/1970, 12:00" in opened.document
    rows = re.findall(r"<tr><td>(.*?)</td></tr>", opened.document)
    assert len(rows) == shown
    if rows:
        times = "01/01/1970, 11:40</td><td>01/01/1970, 12:40</td><td>01/01/1970, 12:10"
        half = "01/01/1970, 12:05"
        assert rows[0] == f"&lt;b&gt;x&lt;/b&gt;</td><td>{times}</td><td>{half}</td><td>0"
        assert rows[1].endswith("<td>–</td><td>1")
    assert opened.complaints == []


def test_the_widget_without_a_forecast(tmp_path: Path) -> None:
    """It says that there is none."""
    page = tmp_path / "page.html"
    page.write_text((EXAMPLES / "_hpcsched_forecast.html").read_text())
    assert "There is no forecast now: " in open_in_browser(page, tmp_path).document
