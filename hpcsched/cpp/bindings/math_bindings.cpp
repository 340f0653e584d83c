#include "bindings/math_bindings.hpp"

#include "core/portable_math.hpp"

using namespace nanobind::literals;

namespace hpcsched {

void bind_math(nanobind::module_& core)
{
    core.def("log", &portable::log, "x"_a, "Return the natural logarithm, to the bit.");
    core.def("exp", &portable::exp, "x"_a, "Return e to the power of x, to the bit.");
    core.def("expm1", &portable::expm1, "x"_a, "Return exp(x) - 1, to the bit.");
    core.def("log1p", &portable::log1p, "x"_a, "Return log(1 + x), to the bit.");
    core.def("power", &portable::power, "base"_a, "exponent"_a,
             "Return a number, 0 or above, to some power, to the bit.");
}

}  // namespace hpcsched
