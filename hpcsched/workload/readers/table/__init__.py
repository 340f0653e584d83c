"""Tables of jobs: CSV and Parquet."""
