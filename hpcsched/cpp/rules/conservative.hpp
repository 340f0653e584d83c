#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Hold a round of conservative or slack-based backfilling: every waiting job has a reservation,
/// most from earlier rounds; the latter moves reservations aside.
void keep_promises(State& state, bool explains);

}  // namespace hpcsched
