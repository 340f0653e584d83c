#include "core/profile.hpp"

#include <algorithm>
#include <numeric>

namespace hpcsched {

Profile::Profile(int64_t now, const NodeRuns& runs) : types_(runs.free(0).size())
{
    const int64_t count = runs.count();
    start_.assign(static_cast<size_t>(count), now);
    after_.assign(static_cast<size_t>(count), none);
    free_.reserve(static_cast<size_t>(count * types_));
    for (int64_t run = 0; run < count; ++run) {
        first_.push_back(runs.first(run));
        free_.insert(free_.end(), runs.free(run).begin(), runs.free(run).end());
    }
    first_.push_back(runs.node_count());
    head_.resize(static_cast<size_t>(count));
    std::iota(head_.begin(), head_.end(), 0);
    last_ = head_;
}

int64_t Profile::run_of(int64_t node) const
{
    return std::upper_bound(first_.begin(), first_.end(), node) - first_.begin() - 1;
}

/// Begin a run at a node, with the segments of the run that it is in so far.
void Profile::split_run(int64_t node)
{
    const int64_t run = run_of(node);
    if (first_[run] == node) return;
    first_.insert(first_.begin() + run + 1, node);
    head_.insert(head_.begin() + run + 1, size());
    for (int64_t s = head_[run]; s != none; s = after_[s]) {
        start_.push_back(start_[s]);
        after_.push_back(after_[s] == none ? none : size());
        for (int64_t r = 0; r < types_; ++r) {
            const int64_t amount = free(s, r);
            free_.push_back(amount);
        }
    }
}

int64_t Profile::begin_segment(int64_t run, int64_t time)
{
    // Several jobs may end on a node at once: they share the segment that begins then.
    return last_[run] = split(last_[run], time);
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

int64_t Profile::segment_at(int64_t run, int64_t time) const
{
    int64_t s = head_[run];
    while (after_[s] != none && start_[after_[s]] <= time) s = after_[s];
    return s;
}

bool Profile::fits_until(int64_t end, int64_t units, const UnitRequest& request,
                         const Capacity& capacity) const
{
    if (request.devices != nullptr)
        return room(start_[head_.front()], end, request, capacity) >= units;
    int64_t missing = units;
    for (int64_t run = 0; first_[run] < request.on_idle.size(); ++run) {
        // No more than are missing: beyond that the nodes' later segments do not matter.
        int64_t fits = std::min(request.on_idle[first_[run]], missing);
        for (int64_t s = head_[run]; fits != 0 && s != none && start_[s] < end; s = after_[s])
            fits = std::min(fits, units_during(s, run, request, capacity));
        missing -= fits * nodes(run);
        if (missing <= 0) return true;
    }
    return false;
}

NodeRuns Profile::lowest(int64_t begin, int64_t end) const
{
    NodeRuns found(types_, first_);
    for (int64_t run = 0; run < run_count(); ++run) {
        const View<int64_t> least = found.free(run);
        int64_t s = segment_at(run, begin);
        for (int64_t r = 0; r < types_; ++r) least[r] = free(s, r);
        for (s = after_[s]; s != none && start_[s] < end; s = after_[s])
            for (int64_t r = 0; r < types_; ++r) least[r] = std::min(least[r], free(s, r));
    }
    return found;
}

/// Return the number of units that fit from `begin` to `end`, on the same devices throughout.
int64_t Profile::room(int64_t begin, int64_t end, const UnitRequest& request,
                      const Capacity& capacity) const
{
    const NodeRuns least = lowest(begin, end);
    int64_t units = 0;
    for (int64_t run = 0; run < least.count(); ++run)
        units += least.nodes(run) *
                 request.units_that_fit(capacity, least.first(run), least.free(run));
    return units;
}

/// The same as `earliest` for units with devices: in each of two segments another device may be
/// free, so that the segments' units do not tell how many fit in both. A later start is no better
/// unless it leaves a segment behind.
int64_t Profile::earliest_with_devices(int64_t from, int64_t latest, int64_t units,
                                       int64_t run_time, const UnitRequest& request,
                                       const Capacity& capacity) const
{
    Numbers times{from};
    for (const int64_t start : start_)
        if (start > from && start <= latest) times.push_back(start);
    std::ranges::sort(times);
    const auto same = std::ranges::unique(times);
    times.erase(same.begin(), same.end());
    for (const int64_t time : times)
        if (room(time, time + run_time, request, capacity) >= units) return time;
    return never;
}

void Profile::take(int64_t run, int64_t begin, int64_t end, View<const int64_t> amounts)
{
    int64_t s = split(segment_at(run, begin), begin);
    while (start_[s] < end) {
        // Only the last segment can reach beyond the end.
        if (after_[s] == none || start_[after_[s]] > end) split(s, end);
        for (int64_t r = 0; r < amounts.size(); ++r) free(s, r) -= amounts[r];
        s = after_[s];
    }
}

/// Set the free amounts of a run to 0 from `begin` to `end`.
void Profile::close_run(int64_t run, int64_t begin, int64_t end)
{
    int64_t s = split(segment_at(run, begin), begin);
    while (start_[s] < end) {
        if (after_[s] == none || start_[after_[s]] > end) split(s, end);
        for (int64_t r = 0; r < types_; ++r) free(s, r) = 0;
        s = after_[s];
    }
}

void Profile::close(View<const int64_t> nodes, int64_t begin, int64_t end)
{
    for_each_stretch(nodes, [&](int64_t first, int64_t last) {
        for_each_run(first, last, [&](int64_t run) { close_run(run, begin, end); });
    });
}

std::pair<double, double> Profile::preference(int64_t run, int64_t first, int64_t end,
                                              View<const int64_t> asked,
                                              const Capacity& capacity) const
{
    const int64_t node = first_[run];
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
    for (int64_t run = 0; first_[run] < request.on_idle.size(); ++run) {
        const int64_t node = first_[run];
        if (request.on_idle[node] == 0) continue;
        int64_t first = none, s = segment_at(run, release);
        while (s != none) {
            if (units_during(s, run, request, capacity) == 0)
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
                    preference(run, first, begin + run_time, request.asked, capacity);
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
    for_each_run(on, on + 1, [&](int64_t run) {
        take(run, best, best + run_time,
             request.exclusive ? capacity.of_node.row(on) : request.asked);
    });
    return {best, on};
}

int64_t Profile::earliest(int64_t from, int64_t latest, int64_t units, int64_t run_time,
                          const UnitRequest& request, const Capacity& capacity) const
{
    if (request.devices != nullptr)
        return earliest_with_devices(from, latest, units, run_time, request, capacity);
    // The number of units that fit on a node from a start on is the minimum over the segments that
    // the run time reaches. It changes where the run time begins to reach a segment, one second
    // after that segment's start minus the run time, and where it has left a segment behind.
    struct Gain {
        int64_t time;
        int64_t units;
    };
    std::vector<Gain> gains;
    int64_t total = 0;
    Numbers starts, levels, lows;  // of a run; see below
    for (int64_t run = 0; first_[run] < request.on_idle.size(); ++run) {
        if (request.on_idle[first_[run]] == 0) continue;
        starts.clear();
        levels.clear();
        lows.clear();
        for (int64_t s = segment_at(run, from); s != none && start_[s] < latest + run_time;
             s = after_[s]) {
            const int64_t fits = units_during(s, run, request, capacity);
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
                total += fits * nodes(run);
            else if (fits != before)
                gains.push_back({time, (fits - before) * nodes(run)});
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
