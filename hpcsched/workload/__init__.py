"""Jobs, where they come from, and the account of every record that was read."""
