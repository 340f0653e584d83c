#pragma once

#include "postpone/problem.hpp"

namespace hpcsched::postpone {

/// Positions of units on nodes, side by side and the same as long as a job runs.
///
/// Whatever began before the present ends later or is gone, so that positions are taken from a
/// time on if something is on them that ends after it.
class Positions {
public:
    /// Running jobs have the lowest positions of their nodes.
    explicit Positions(const Problem& problem)
        : problem_(problem), taken_(problem.nodes.size() * problem.type_count)
    {
        if (problem.mode != Mode::positions) return;
        Amounts next(taken_.size());
        // The latest end first, hence lowest: what is free of a node then is in one piece.
        for (auto held = problem.held.rbegin(); held != problem.held.rend(); ++held)
            for (int r = 0; r < problem.type_count; ++r)
                if (const int64_t amount = held->amounts[r]; amount > 0) {
                    int64_t& low = next[at(held->node, r)];
                    add(held->node, r, low, low + amount, std::min(held->end, problem.horizon));
                    low += amount;
                }
    }

    /// Take positions low … high - 1 until an end.
    void add(int node, int type, int64_t low, int64_t high, int64_t end)
    {
        taken_[at(node, type)].push_back({low, high, end});
    }

    /// Give back the positions that were taken last: those of a node and type are a stack.
    void remove_last(int node, int type) { taken_[at(node, type)].pop_back(); }

    /// The lowest position from `low` on where `size` are free from a time on; -1 if none.
    int64_t next_low(int node, int type, int64_t size, int64_t low, int64_t begin) const
    {
        const int64_t capacity = problem_.nodes[node].capacity[type];
        const auto& ranges = taken_[at(node, type)];
        while (low + size <= capacity) {
            int64_t beyond = none;
            for (const Range& range : ranges)
                if (range.end > begin && range.low < low + size && low < range.high)
                    // Any position before the end of a range in the way would overlap it again.
                    beyond = std::max(beyond, range.high);
            if (beyond == none) return low;
            low = beyond;
        }
        return none;
    }

    /// For how many units of a size, up to `most`, there are positions from a time on.
    int64_t most_slots(int node, int type, int64_t size, int64_t most, int64_t begin) const
    {
        int64_t low = 0;
        for (int64_t count = 0; count < most; ++count) {
            low = next_low(node, type, size, low, begin);
            if (low == none) return count;
            low += size;
        }
        return most;
    }

    /// Whether positions of a node and type come free after one time and up to another.
    bool comes_free(int node, int type, int64_t after, int64_t until) const
    {
        return std::ranges::any_of(taken_[at(node, type)], [&](const Range& range) {
            return after < range.end && range.end <= until;
        });
    }

private:
    struct Range {
        int64_t low;
        int64_t high;
        int64_t end;
    };

    const Problem& problem_;
    std::vector<std::vector<Range>> taken_;  // by node and type

    std::size_t at(int node, int type) const
    {
        return static_cast<std::size_t>(node) * problem_.type_count + type;
    }
};

}  // namespace hpcsched::postpone
