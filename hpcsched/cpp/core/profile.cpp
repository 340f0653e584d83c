#include "core/profile.hpp"

#include <algorithm>
#include <functional>

namespace hpcsched {

Profile::Profile(int64_t now, Matrix<const int64_t> available) : types_(available.rows())
{
    const int64_t nodes = available.columns();
    start_.assign(static_cast<size_t>(nodes), now);
    after_.assign(static_cast<size_t>(nodes), none);
    free_.reserve(static_cast<size_t>(nodes * types_));
    for (int64_t node = 0; node < nodes; ++node) {
        last_.push_back(node);
        for (int64_t r = 0; r < types_; ++r) free_.push_back(available(r, node));
    }
}

int64_t Profile::begin_segment(int64_t node, int64_t time)
{
    // Several jobs may end on a node at once: they share the segment that begins then.
    return last_[node] = split(last_[node], time);
}

/// Return the segment that begins at `time`, splitting a segment if needed.
int64_t Profile::split(int64_t segment, int64_t time)
{
    if (start_[segment] == time) return segment;
    const int64_t made = size();
    start_.push_back(time);
    after_.push_back(after_[segment]);
    for (int64_t r = 0; r < types_; ++r) {
        const int64_t amount = free(segment, r);
        free_.push_back(amount);
    }
    after_[segment] = made;
    return made;
}

int64_t Profile::segment_at(int64_t node, int64_t time) const
{
    int64_t s = node;
    while (after_[s] != none && start_[after_[s]] <= time) s = after_[s];
    return s;
}

int64_t Profile::units_during(int64_t segment, int64_t node, const UnitRequest& request,
                              const Capacity& capacity) const
{
    // The fit on the idle node also holds restrictions that amounts do not show.
    int64_t fits = request.on_idle[node];
    for (int64_t r = 0; r < request.asked.size(); ++r) {
        const int64_t amount = free(segment, r), asked = request.asked[r];
        if (request.exclusive) {
            if (amount != capacity.of_node(node, r)) return 0;
        } else if (asked != 0) {
            if (amount < asked) return 0;
            // A division for each node and segment is slow, and one unit needs none.
            if (fits > 1) fits = std::min(fits, amount / asked);
        }
    }
    return fits;
}

bool Profile::fits_until(int64_t end, int64_t units, const UnitRequest& request,
                         const Capacity& capacity) const
{
    int64_t missing = units;
    for (int64_t node = 0; node < request.on_idle.size(); ++node) {
        // No more than are missing: beyond that the node's later segments do not matter.
        int64_t fits = std::min(request.on_idle[node], missing);
        for (int64_t s = node; fits != 0 && s != none && start_[s] < end; s = after_[s])
            fits = std::min(fits, units_during(s, node, request, capacity));
        missing -= fits;
        if (missing == 0) return true;
    }
    return false;
}

Table<int64_t> Profile::lowest(int64_t begin, int64_t end, int64_t nodes) const
{
    Table<int64_t> found(types_, nodes);
    for (int64_t node = 0; node < nodes; ++node) {
        int64_t s = segment_at(node, begin);
        for (int64_t r = 0; r < types_; ++r) found(r, node) = free(s, r);
        for (s = after_[s]; s != none && start_[s] < end; s = after_[s])
            for (int64_t r = 0; r < types_; ++r)
                found(r, node) = std::min(found(r, node), free(s, r));
    }
    return found;
}

void Profile::take(int64_t node, int64_t begin, int64_t end, View<const int64_t> amounts)
{
    int64_t s = split(segment_at(node, begin), begin);
    while (start_[s] < end) {
        // Only the last segment can reach beyond the end.
        if (after_[s] == none || start_[after_[s]] > end) split(s, end);
        for (int64_t r = 0; r < amounts.size(); ++r) free(s, r) -= amounts[r];
        s = after_[s];
    }
}

void Profile::close(View<const int64_t> nodes, int64_t begin, int64_t end)
{
    for (const int64_t node : nodes) {
        int64_t s = split(segment_at(node, begin), begin);
        while (start_[s] < end) {
            if (after_[s] == none || start_[after_[s]] > end) split(s, end);
            for (int64_t r = 0; r < types_; ++r) free(s, r) = 0;
            s = after_[s];
        }
    }
}

std::pair<double, double> Profile::preference(int64_t node, int64_t first, int64_t end,
                                              View<const int64_t> asked,
                                              const Capacity& capacity) const
{
    double offer = 0.0, share = 0.0;
    int64_t offered = 0;
    for (int64_t r = 0; r < asked.size(); ++r) {
        int64_t amount = free(first, r);
        for (int64_t s = after_[first]; s != none && start_[s] < end; s = after_[s])
            amount = std::min(amount, free(s, r));
        const auto lowest = static_cast<double>(amount);
        if (asked[r] == 0 && capacity.total[r] != 0)
            offer += lowest / static_cast<double>(capacity.total[r]);
        if (capacity.of_node(node, r) != 0) {
            share += lowest / static_cast<double>(capacity.of_node(node, r));
            ++offered;
        }
    }
    return {offer, share / static_cast<double>(std::max(offered, int64_t{1}))};
}

Profile::OneUnit Profile::reserve_one(int64_t release, int64_t latest, int64_t run_time,
                                      const UnitRequest& request, const Capacity& capacity)
{
    int64_t best = latest, on = none;
    std::pair<double, double> rank;
    for (int64_t node = 0; node < request.on_idle.size(); ++node) {
        if (request.on_idle[node] == 0) continue;
        int64_t first = none, s = segment_at(node, release);
        while (s != none) {
            if (units_during(s, node, request, capacity) == 0)
                first = none;
            else if (first == none)
                first = s;
            if (first == none) {
                if (start_[s] >= best) break;
                s = after_[s];
                continue;
            }
            // A later start loses; an equal one is still ranked by preference.
            const int64_t begin = start_[first];
            if (begin > best) break;
            s = after_[s];
            if (s == none || start_[s] - begin >= run_time) {
                const auto found =
                    preference(node, first, begin + run_time, request.asked, capacity);
                if (on == none || begin < best || found < rank) {
                    best = begin;
                    on = node;
                    rank = found;
                }
                break;
            }
        }
    }
    if (on == none) return {never, none};
    // Taken at once, so that the next unit of the job is placed beside this one.
    take(on, best, best + run_time,
         request.exclusive ? capacity.of_node.row(on) : request.asked);
    return {best, on};
}

int64_t Profile::earliest(int64_t from, int64_t latest, int64_t units, int64_t run_time,
                          const UnitRequest& request, const Capacity& capacity) const
{
    // The number of units that fit on a node from a start on is the minimum over the segments that
    // the run time reaches. It changes where the run time begins to reach a segment, one second
    // after that segment's start minus the run time, and where it has left a segment behind.
    struct Gain {
        int64_t time;
        int64_t units;
    };
    std::vector<Gain> gains;
    int64_t total = 0;
    Numbers starts, levels, lows;  // of a node; see below
    for (int64_t node = 0; node < request.on_idle.size(); ++node) {
        if (request.on_idle[node] == 0) continue;
        starts.clear();
        levels.clear();
        lows.clear();
        for (int64_t s = segment_at(node, from); s != none && start_[s] < latest + run_time;
             s = after_[s]) {
            const int64_t fits = units_during(s, node, request, capacity);
            if (levels.empty() || fits != levels.back()) {
                starts.push_back(start_[s]);
                levels.push_back(fits);
            }
        }
        const size_t count = starts.size();
        // `lows` from `head` on: the levels reached that none that is reached later undercuts.
        size_t head = 0, left = 0, reached = 0;
        int64_t time = from, before = 0;
        while (true) {
            for (; reached < count && starts[reached] < time + run_time; ++reached) {
                while (lows.size() > head && levels[lows.back()] >= levels[reached])
                    lows.pop_back();
                lows.push_back(static_cast<int64_t>(reached));
            }
            while (left + 1 < count && starts[left + 1] <= time) ++left;
            while (lows[head] < static_cast<int64_t>(left)) ++head;
            const int64_t fits = levels[lows[head]];
            if (time == from)
                total += fits;
            else if (fits != before)
                gains.push_back({time, fits - before});
            before = fits;
            if (left + 1 == count) break;
            time = starts[left + 1];
            if (reached < count) time = std::min(time, starts[reached] - run_time + 1);
            if (time > latest) break;
        }
        if (total >= units) return from;
    }
    // A heap, as the first few changes decide.
    const auto later = [](const Gain& one, const Gain& other) { return one.time > other.time; };
    std::make_heap(gains.begin(), gains.end(), later);
    while (!gains.empty()) {
        const int64_t time = gains.front().time;
        while (!gains.empty() && gains.front().time == time) {
            total += gains.front().units;
            std::pop_heap(gains.begin(), gains.end(), later);
            gains.pop_back();
        }
        if (total >= units) return time;
    }
    return never;
}

}  // namespace hpcsched
