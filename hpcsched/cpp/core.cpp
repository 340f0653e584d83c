#include <nanobind/nanobind.h>

#include "bindings/math_bindings.hpp"
#include "bindings/planning_bindings.hpp"
#include "bindings/state_bindings.hpp"
#include "postpone/bindings.hpp"
#include "reading/bindings.hpp"

NB_MODULE(_core, core)
{
    // A dispatcher that somebody keeps until the interpreter ends is no leak.
    nanobind::set_leak_warnings(false);
    core.doc() = "The compiled core of hpcsched.";
    hpcsched::bind_math(core);
    hpcsched::postpone::bind(core);
    hpcsched::bind_multifactor(core);
    auto state = hpcsched::bind_state(core);
    hpcsched::bind_rounds(core, state);
    hpcsched::bind_replay(core, state);
    hpcsched::bind_planning(core);
    hpcsched::bind_reading(core);
}
