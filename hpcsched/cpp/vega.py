"""Writes the scripts of Vega that report pages hold, of the vl-convert that is installed."""

import sys
from pathlib import Path

import vl_convert

Path(sys.argv[1]).write_text(
    vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"), encoding="utf-8"
)
