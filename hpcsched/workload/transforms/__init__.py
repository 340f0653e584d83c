"""What changes a trace on its way to the simulator: one module for each transform."""
