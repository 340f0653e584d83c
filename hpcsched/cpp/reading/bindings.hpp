#pragma once

#include <nanobind/nanobind.h>

namespace hpcsched {

void bind_reading(nanobind::module_& core);

}  // namespace hpcsched
