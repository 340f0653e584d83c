#pragma once

#include <nanobind/nanobind.h>

namespace hpcsched {

/// Bind list plans, searches over them, and off-line plans of whole traces.
void bind_planning(nanobind::module_& core);

}  // namespace hpcsched
