#pragma once

#include <nanobind/nanobind.h>

#include "planning/start_time_costs.hpp"

namespace hpcsched {

/// Bind list plans, searches over them, and off-line plans of whole traces.
void bind_planning(nanobind::module_& core);

/// Return a copy of `StartTimeCosts` in Python.
OwnedCosts owned_costs(nanobind::handle record);

}  // namespace hpcsched
