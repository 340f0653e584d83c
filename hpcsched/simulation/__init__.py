"""The discrete-event simulator; it knows protocols, no plugins."""
