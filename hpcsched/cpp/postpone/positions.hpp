#pragma once

#include <vector>

#include "postpone/problem.hpp"

namespace hpcsched::postpone {

/// Positions of units on nodes, side by side and the same as long as a job runs.
///
/// Whatever began before the present ends later or is gone, so that positions are taken from a
/// time on if a box is on them that ends after it.
class Positions {
public:
    explicit Positions(const Problem& problem);

    void add(const Box& box);

    /// Give back the positions that were taken last: boxes of a node and type are a stack.
    void remove_last(int node, int type);

    /// The lowest position from `low` on where `size` are free from a time on; -1 if none.
    int64_t next_low(int node, int type, int64_t size, int64_t low, int64_t begin) const;

    /// For how many units of a size, up to `most`, there are positions from a time on.
    int64_t most_slots(int node, int type, int64_t size, int64_t most, int64_t begin) const;

    /// Whether positions of a node and type come free after one time and up to another.
    bool comes_free(int node, int type, int64_t after, int64_t until) const;

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
