"""Planning a whole trace at once."""
