"""What people read of runs: tables that compare them, pictures, and pages."""
