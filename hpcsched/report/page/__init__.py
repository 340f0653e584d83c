"""The report page: one HTML file with tables and interactive figures."""
