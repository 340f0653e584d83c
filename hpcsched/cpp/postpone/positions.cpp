#include "postpone/positions.hpp"

#include <algorithm>

namespace hpcsched::postpone {

Positions::Positions(const Problem& problem)
    : problem_(problem), taken_(problem.nodes.size() * problem.type_count)
{
    for (const Box& box : problem.boxes) add(box);
}

void Positions::add(const Box& box)
{
    taken_[at(box.node, box.type)].push_back({box.low, box.high, box.end});
}

void Positions::remove_last(int node, int type) { taken_[at(node, type)].pop_back(); }

int64_t Positions::next_low(int node, int type, int64_t size, int64_t low, int64_t begin) const
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

int64_t Positions::most_slots(int node, int type, int64_t size, int64_t most,
                              int64_t begin) const
{
    int64_t low = 0;
    for (int64_t count = 0; count < most; ++count) {
        low = next_low(node, type, size, low, begin);
        if (low == none) return count;
        low += size;
    }
    return most;
}

bool Positions::comes_free(int node, int type, int64_t after, int64_t until) const
{
    return std::ranges::any_of(taken_[at(node, type)], [&](const Range& range) {
        return after < range.end && range.end <= until;
    });
}

}  // namespace hpcsched::postpone
