#pragma once

#include <optional>

#include "bindings/fields.hpp"
#include "core/state.hpp"

namespace hpcsched {

/// A state over Python's arrays, which live as long.
class BoundState {
public:
    /// The records are those of `hpcsched.dispatching.core.state`.
    BoundState(nb::handle tables, nb::handle shapes, nb::handle choices, nb::handle outages,
               nb::handle followers, nb::handle flight, nb::handle shared_resources,
               nb::handle batch, nb::handle output, bool by_node);

    State& state() { return *state_; }

private:
    Fields::Owners owners_;
    std::optional<State> state_;
};

}  // namespace hpcsched
