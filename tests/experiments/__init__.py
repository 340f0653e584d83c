"""Published comparisons are declared well, and what they came to is shown as it is."""
