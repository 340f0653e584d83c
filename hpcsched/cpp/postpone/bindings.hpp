#pragma once

#include <nanobind/nanobind.h>

namespace hpcsched::postpone {

void bind(nanobind::module_& core);

}  // namespace hpcsched::postpone
