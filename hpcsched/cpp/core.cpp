#include <nanobind/nanobind.h>

#include "bindings/planning_bindings.hpp"
#include "bindings/replay_bindings.hpp"
#include "postpone/bindings.hpp"
#include "reading/bindings.hpp"

NB_MODULE(_core, core)
{
    // A dispatcher that somebody keeps until the interpreter ends is no leak.
    nanobind::set_leak_warnings(false);
    core.doc() = "The compiled core of hpcsched.";
    hpcsched::postpone::bind(core);
    hpcsched::bind_replay(core);
    hpcsched::bind_planning(core);
    hpcsched::bind_reading(core);
}
