#pragma once

#include "bindings/arrays.hpp"
#include "core/state.hpp"

namespace hpcsched {

/// Bind `State` with the choices of a rule; `bind_replay` and `bind_rounds` add what it can do.
nb::class_<State> bind_state(nb::module_& core);

/// Bind the queue order by priority.
void bind_multifactor(nb::module_& core);

/// Bind the event loop and its output.
void bind_replay(nb::module_& core, nb::class_<State>& state);

/// Bind rounds of single problems, and the allocators.
void bind_rounds(nb::module_& core, nb::class_<State>& state);

}  // namespace hpcsched
