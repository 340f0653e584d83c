#pragma once

#include <nanobind/nanobind.h>

namespace hpcsched {

/// Bind the state of replays and of single rounds, and what is done with it.
void bind_replay(nanobind::module_& core);

}  // namespace hpcsched
