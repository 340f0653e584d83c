"""Opens a page in a real browser without a window, and tells what became of it."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


class Opened(NamedTuple):
    """The page after its program has run, what was complained of, and the addresses asked for."""

    document: str
    complaints: list[str]
    addresses: list[str]


def open_in_browser(page: Path, folder: Path) -> Opened:
    """Open a file; skip the test where there is no Chromium. The browser finds no host at all."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        pytest.skip("Chromium is not installed")
    log = folder / "net.json"
    done = subprocess.run(
        [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--disable-default-apps", "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}",
            "--enable-logging=stderr", f"--log-net-log={log}", "--window-size=1200,12000",
            "--virtual-time-budget=8000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    complaints = re.findall(r"(?:CONSOLE\S*|:CONSOLE:\d+)\] (.*)", done.stderr)
    return Opened(done.stdout, complaints, _asked_by_pages(json.loads(log.read_text())))


def _asked_by_pages(log: dict[str, object]) -> list[str]:
    """Return the addresses that pages asked for; those that the browser asks for have no origin."""
    events = log["events"]
    assert isinstance(events, list)
    starts = [event.get("params", {}) for event in events if "initiator" in event.get("params", {})]
    return [
        start["url"]
        for start in starts
        if start["initiator"] != "not an origin" and not start["url"].startswith("data:")
    ]
