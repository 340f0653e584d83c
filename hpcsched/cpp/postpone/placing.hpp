#pragma once

#include "postpone/state.hpp"

namespace hpcsched::postpone {

/// Starts jobs on nodes, in one way after another, and undoes that.
///
/// Ways that differ only in nodes that are the same are one.
class Placing {
public:
    explicit Placing(State& state) : state_(state) {}

    /// Start a job at the present level, placed in the first way.
    void begin(int j);

    /// Have a started job of the present level hold nothing of its nodes.
    void lift(int j);

    /// Place a job that holds nothing in the next way; false, and no nodes, if there is none.
    bool next(int j);

    /// Undo the start of a job of the present level that holds no nodes any more.
    void withdraw(int j);

private:
    State& state_;
    std::vector<int64_t> tally_;
    std::vector<int64_t> fits_;

    const Problem& problem() const { return state_.problem; }
    bool by_position() const { return problem().mode == Mode::positions; }

    void choose(int j);
    void take(int j);
    bool spread(int j, std::size_t first, int64_t missing, bool compares);
    bool next_counts(int j);
    int last_alike(int j, std::size_t choice) const;
    bool fill(int j, int type, int node, int64_t first, int64_t last, int64_t low);
    void lowest_positions(int j, std::size_t choice, int64_t first);
    bool next_positions(int j);
};

}  // namespace hpcsched::postpone
