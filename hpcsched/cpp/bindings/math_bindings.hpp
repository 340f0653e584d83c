#pragma once

#include <nanobind/nanobind.h>

namespace hpcsched {

/// Bind functions that have the same bits on every machine.
void bind_math(nanobind::module_& core);

}  // namespace hpcsched
