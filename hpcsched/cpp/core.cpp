#include <nanobind/nanobind.h>

#include "postpone/bindings.hpp"

NB_MODULE(_core, core)
{
    core.doc() = "The compiled core of hpcsched.";
    hpcsched::postpone::bind(core);
}
