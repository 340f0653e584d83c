"""The package takes part as if it alone were installed; the fixtures are those of hpcsched."""

import os

from hpcsched.testing import run_scenario, use_plugins

os.environ["HPCSCHED_EXTERNAL_PLUGINS"] = "hpcsched-slurm"
__all__ = ["run_scenario", "use_plugins"]
