#pragma once

#include "core/state.hpp"
#include "replay/hooks.hpp"

namespace hpcsched {

/// Replay until the batch is used up, the replay is over, or `seconds` of real time have passed;
/// the loop pauses between two instants. The next call continues where this one stopped, also
/// after an exception of a hook.
Pause advance(State& state, const Hooks& hooks, double seconds);

}  // namespace hpcsched
