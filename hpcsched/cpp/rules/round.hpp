#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Hold a round: start jobs by the rule and, where `explains`, note why others wait.
void hold_round(State& state, bool explains);

}  // namespace hpcsched
