"""Speed and memory, measured as ratios; see README.md in this folder."""
