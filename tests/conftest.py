"""Keep plugins of other distributions out of the project's own tests."""

import os

os.environ["HPCSCHED_EXTERNAL_PLUGINS"] = "0"
