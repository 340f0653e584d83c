#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Hold a round of list scheduling with a reservation for each job, in the order in which plans of
/// the first jobs by area over weight cost least, as far as a search finds it.
void hold_search_round(State& state, bool explains);

}  // namespace hpcsched
