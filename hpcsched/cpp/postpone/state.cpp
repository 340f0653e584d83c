#include "postpone/state.hpp"

#include <algorithm>
#include <numeric>

namespace hpcsched::postpone {

namespace {

/// A number for something that holds a node until an end (finaliser of SplitMix64: Steele, Lea and
/// Flood 2014).
std::uint64_t signature(int64_t end, int request_class, int64_t low)
{
    std::uint64_t value = 0;
    for (const int64_t part : {end, static_cast<int64_t>(request_class), low}) {
        value += static_cast<std::uint64_t>(part) + 0x9e3779b97f4a7c15U;
        value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
        value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
        value ^= value >> 31;
    }
    return value;
}

}  // namespace

State::State(const Problem& problem, const std::vector<int>& wanted)
    : problem(problem),
      order(problem.in_order(wanted)),
      rank(order.size()),
      jobs(order.size()),
      // No two levels are at one time, and at each an event happens or a job ends.
      levels(problem.events.size() + order.size() + 2),
      positions(problem)
{
    for (std::size_t k = 0; k < order.size(); ++k) rank[order[k]] = k;
    by_end.reserve(order.size());
    Level& first = levels[0];
    first.together = problem.free_together(0);
    for (const Node& node : problem.nodes)
        first.left.insert(first.left.end(), node.free.begin(), node.free.end());
    first.without = first.left;
    first.signatures.resize(problem.nodes.size());
    for (const Held& held : problem.held)
        first.signatures[held.node] += signature(held.end, held.request_class, 0);
}

bool State::is_selectable(int j) const
{
    if (is_started(j) || (jobs[j].postponed != none && !problem.by_node())) return false;
    const Job& job = problem.jobs[j];
    for (int i : job.dominators)
        if (!is_started(i)) return false;
    return job.twin == none || is_started(job.twin);
}

bool State::can_start(int j)
{
    if (!fits_together(j, level)) return false;
    if (!problem.names_nodes(now().time)) return true;
    if (fits_on_nodes(j, level)) return jobs[j].postponed == none || has_new_room(j);
    if (would_fit_alone(j)) ++differed;
    return false;
}

bool State::could_have_started(int j, int first) const
{
    return fits_together(j, first) &&
           (!problem.names_nodes(levels[first].time) || fits_on_nodes(j, first));
}

bool State::fits_together(int j, int first) const
{
    const Job& job = problem.jobs[j];
    const std::size_t count = job.demand.size();
    for (int l = first; l <= level; ++l)
        for (std::size_t g = 0; g < count; ++g)
            if (job.demand[g] > 0 && levels[l].together[g] < job.demand[g]) return false;
    // Started jobs only end: after the levels above, less can be free only where more is used by
    // others.
    const int64_t begin = levels[first].time, end = begin + job.run_time;
    for (const Step& used : problem.rises) {
        if (used.time <= begin) continue;
        if (used.time >= end) break;
        for (std::size_t g = 0; g < count; ++g) {
            if (job.demand[g] == 0) continue;
            int64_t left = problem.total[g] - used.amounts[g] - job.demand[g];
            for (int i : by_end)
                if (jobs[i].start <= used.time && used.time < end_of(i))
                    left -= problem.jobs[i].demand[g];
            if (left < 0) return false;
        }
    }
    return true;
}

int64_t State::units_by_amount(const Job& job, int n, const Amounts& left) const
{
    int64_t most = job.room[n];
    const int64_t* there = left.data() + static_cast<std::size_t>(n) * problem.type_count;
    for (std::size_t r = 0; r < job.request.size(); ++r)
        if (most > 0 && job.request[r] > 0) most = std::min(most, there[r] / job.request[r]);
    return most;
}

int64_t State::units_on(int j, int n, int first) const
{
    const Job& job = problem.jobs[j];
    int64_t most = std::min(job.room[n], job.units);
    const int64_t begin = levels[first].time;
    if (most == 0 || problem.nodes[n].is_closed(begin, begin + job.run_time)) return 0;
    // If only jobs that start now have nodes, there is one level of them.
    const int last = problem.mode == Mode::now ? first : level;
    for (int l = first; l <= last && most > 0; ++l)
        most = std::min(most, units_by_amount(job, n, levels[l].left));
    if (problem.mode == Mode::positions)
        for (int r = 0; r < problem.type_count && most > 0; ++r)
            if (job.request[r] > 0)
                most = positions.most_slots(n, r, job.request[r], most, begin);
    return most;
}

bool State::would_fit_alone(int j) const
{
    const Job& job = problem.jobs[j];
    const int64_t begin = now().time, end = begin + job.run_time;
    int64_t missing = job.units;
    for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
        const int64_t most =
            std::min(missing, units_by_amount(job, static_cast<int>(n), now().without));
        if (most > 0 && !problem.nodes[n].is_closed(begin, end)) missing -= most;
        if (missing == 0) return true;
    }
    return false;
}

bool State::fits_on_nodes(int j, int first) const
{
    int64_t missing = problem.jobs[j].units;
    for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
        missing -= std::min(missing, units_on(j, static_cast<int>(n), first));
        if (missing == 0) return true;
    }
    return false;
}

bool State::has_new_room(int j) const
{
    // Where no node has more room than when it was postponed, it would better have started then.
    const Job& job = problem.jobs[j];
    const int then = jobs[j].postponed;
    const int64_t time = now().time, past = levels[then].time;
    for (int n = 0; n < static_cast<int>(problem.nodes.size()); ++n) {
        if (job.room[n] == 0) continue;
        if (problem.mode != Mode::positions) {
            const int64_t most = units_on(j, n, level);
            if (most > 0 && most > units_on(j, n, then)) return true;
            continue;
        }
        // By position, something has to have ended.
        for (const Outage& outage : problem.nodes[n].outages)
            if (past < outage.end && outage.end <= time) return true;
        for (int r = 0; r < problem.type_count; ++r)
            if (job.request[r] > 0 && positions.comes_free(n, r, past, time)) return true;
    }
    return false;
}

int64_t State::next_event(int64_t time) const
{
    int64_t found = never;
    for (int i : by_end) {
        if (end_of(i) > time) {
            found = end_of(i);
            break;
        }
    }
    const auto event = std::ranges::upper_bound(problem.events, time);
    return event == problem.events.end() ? found : std::min(found, *event);
}

void State::open_level(int64_t time)
{
    Level& next = levels[level + 1];
    next.time = time;
    if (!problem.by_node()) return;
    next.left = now().left;
    next.without = now().without;
    next.signatures = now().signatures;
}

void State::move_next_level(int64_t after, int64_t time)
{
    Level& next = levels[level + 1];
    next.time = time;
    next.looked_at = 0;
    set_together(next, time);
    release_until(next, after, time);
}

void State::set_together(Level& at, int64_t time) const
{
    at.together = problem.free_together(time);
    for (auto i = by_end.rbegin(); i != by_end.rend() && end_of(*i) > time; ++i)
        for (std::size_t g = 0; g < at.together.size(); ++g)
            at.together[g] -= problem.jobs[*i].demand[g];
}

void State::release_until(Level& at, int64_t after, int64_t time) const
{
    if (!problem.by_node()) return;
    for (int i : by_end)
        if (after < end_of(i) && end_of(i) <= time) release(i, at);
    auto held = std::ranges::upper_bound(problem.held, after, std::ranges::less{}, &Held::end);
    for (; held != problem.held.end() && held->end <= time; ++held) {
        const std::size_t first = static_cast<std::size_t>(held->node) * problem.type_count;
        for (int r = 0; r < problem.type_count; ++r) {
            at.left[first + r] += held->amounts[r];
            at.without[first + r] += held->amounts[r];
        }
        at.signatures[held->node] -= signature(held->end, held->request_class, 0);
    }
}

void State::release(int j, Level& at) const
{
    const Job& job = problem.jobs[j];
    for (const Choice& choice : jobs[j].choices) {
        if (choice.units == 0) continue;
        const std::size_t first = static_cast<std::size_t>(choice.node) * problem.type_count;
        for (int r = 0; r < problem.type_count; ++r)
            at.left[first + r] += choice.units * job.request[r];
    }
    sign(j, at, false);
}

void State::sign(int j, Level& at, bool add) const
{
    if (!problem.by_node()) return;  // whatever starts later needs no nodes
    const Job& job = problem.jobs[j];
    const int64_t end = end_of(j);
    int64_t first = 0;
    for (const Choice& choice : jobs[j].choices) {
        if (choice.units == 0) continue;
        std::uint64_t sum = 0;
        if (problem.mode == Mode::positions) {
            for (int r = 0; r < problem.type_count; ++r) {
                if (job.request[r] == 0) continue;
                for (int64_t unit = first; unit < first + choice.units; ++unit) {
                    const int64_t low = jobs[j].lows[r][unit] * problem.type_count + r;
                    sum += signature(end, job.request_class, low);
                }
            }
        } else {
            sum = static_cast<std::uint64_t>(choice.units) *
                  signature(end, job.request_class, 0);
        }
        // Sums modulo 2⁶⁴, so that taking off undoes adding.
        at.signatures[choice.node] += add ? sum : -sum;
        first += choice.units;
    }
}

}  // namespace hpcsched::postpone
