#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Replay until something is needed, the replay is over, or `seconds` of real time have passed; the
/// loop pauses between two instants, after each where `seconds` is negative. The next call
/// continues where this one stopped.
Need advance(State& state, double seconds);

}  // namespace hpcsched
