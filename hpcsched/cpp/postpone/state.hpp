#pragma once

#include "postpone/positions.hpp"

namespace hpcsched::postpone {

/// A number for something that holds a node until an end (finaliser of SplitMix64: Steele, Lea and
/// Flood 2014).
inline std::uint64_t signature(int64_t end, int request_class, int64_t low)
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

/// A node that a job can choose.
struct Choice {
    int node;
    int64_t fits;   // units that it can hold
    int64_t units;  // units of the job that it has
    int alike;      // the last choice before this one that is the same, `none` or `unknown`

    static constexpr int unknown = -2;
};

/// What the search has decided about a job.
struct Decided {
    int64_t start = none;
    int postponed = none;         // the level at which it was
    std::vector<Choice> choices;  // in the order to try them in
    std::vector<Amounts> lows;    // by type, the positions of units, node by node as in `choices`
};

/// A time at which some job could start, and what is free from then on.
struct Level {
    int64_t time = 0;
    std::size_t looked_at = 0;  // jobs of the order that have been looked at
    Amounts together;
    // By node and type; each level has a copy of its own, so that going back needs no undoing.
    Amounts left;
    Amounts without;  // what would be left if no job of the search was there
    // Of each node, a sum over what holds it until when: alike where that is the same.
    std::vector<std::uint64_t> signatures;
};

/// The jobs started and postponed on the path to the present node of the tree, and what is free.
///
/// The search goes forward in time. At its present level, started jobs only release resources
/// from then on, so that a job has room from now to its end if it has now, but for announced
/// changes: nodes that close and shared resources that offer less. A job that was postponed at an
/// earlier level has room from there on if it has at all levels since.
class State {
public:
    State(const Problem& problem, const std::vector<int>& wanted)
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

    const Problem& problem;
    std::vector<int> order;  // in which jobs are looked at
    std::vector<std::size_t> rank;
    std::vector<Decided> jobs;
    std::vector<int> by_end;  // started jobs
    std::vector<Level> levels;
    int level = 0;
    Positions positions;

    // How often a job had room on all nodes together but found none on single ones that could
    // have been left free for it: a counter, so that it tells whether that was below a decision.
    int64_t differed = 0;

    Level& now() { return levels[level]; }
    const Level& now() const { return levels[level]; }
    int64_t end_of(int j) const { return jobs[j].start + problem.jobs[j].run_time; }
    bool is_started(int j) const { return jobs[j].start != none; }

    /// Whether a job waits for nothing but room.
    bool is_selectable(int j) const
    {
        if (is_started(j) || (jobs[j].postponed != none && !problem.by_node())) return false;
        const Job& job = problem.jobs[j];
        for (int i : job.dominators)
            if (!is_started(i)) return false;
        return job.twin == none || is_started(job.twin);
    }

    /// Whether a job can start at the present level, and should; counts where it differed.
    bool can_start(int j)
    {
        if (!fits_together(j, level)) return false;
        if (!problem.names_nodes(now().time)) return true;
        if (fits_on_nodes(j, level)) return jobs[j].postponed == none || has_new_room(j);
        if (would_fit_alone(j)) ++differed;
        return false;
    }

    /// Whether a job could start at an earlier level beside all that was started since.
    bool could_have_started(int j, int first) const
    {
        return fits_together(j, first) &&
               (!problem.names_nodes(levels[first].time) || fits_on_nodes(j, first));
    }

    /// How many units of a job fit on a node from a level on; at most all of them.
    int64_t units_on(int j, int n, int first) const
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

    /// The first time after another at which something may become free; `never` if none.
    int64_t next_event(int64_t time) const
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

    /// Make a time the next level.
    void open_level(int64_t time)
    {
        Level& next = levels[level + 1];
        next.time = time;
        if (!problem.by_node()) return;
        next.left = now().left;
        next.without = now().without;
        next.signatures = now().signatures;
    }

    /// Move the next level on to a later time.
    void move_next_level(int64_t after, int64_t time)
    {
        Level& next = levels[level + 1];
        next.time = time;
        next.looked_at = 0;
        set_together(next, time);
        release_until(next, after, time);
    }

    /// Add units of a job to what is left of its nodes at a level, and take it off signatures.
    void release(int j, Level& at) const
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

    /// Add a job's placement to the signatures of its nodes, or take it off.
    void sign(int j, Level& at, bool add) const
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

private:
    bool fits_together(int j, int first) const
    {
        const Job& job = problem.jobs[j];
        const std::size_t count = job.demand.size();
        for (int l = first; l <= level; ++l)
            for (std::size_t g = 0; g < count; ++g)
                if (job.demand[g] > 0 && levels[l].together[g] < job.demand[g]) return false;
        // Started jobs only end: after the levels above, less can be free only where more is used
        // by others.
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

    bool fits_on_nodes(int j, int first) const
    {
        int64_t missing = problem.jobs[j].units;
        for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
            missing -= std::min(missing, units_on(j, static_cast<int>(n), first));
            if (missing == 0) return true;
        }
        return false;
    }

    bool would_fit_alone(int j) const
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

    bool has_new_room(int j) const
    {
        // Where no node has more room than when it was postponed, it would better have started
        // then.
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

    int64_t units_by_amount(const Job& job, int n, const Amounts& left) const
    {
        int64_t most = job.room[n];
        const int64_t* there = left.data() + static_cast<std::size_t>(n) * problem.type_count;
        for (std::size_t r = 0; r < job.request.size(); ++r)
            if (most > 0 && job.request[r] > 0) most = std::min(most, there[r] / job.request[r]);
        return most;
    }

    void set_together(Level& at, int64_t time) const
    {
        at.together = problem.free_together(time);
        for (auto i = by_end.rbegin(); i != by_end.rend() && end_of(*i) > time; ++i)
            for (std::size_t g = 0; g < at.together.size(); ++g)
                at.together[g] -= problem.jobs[*i].demand[g];
    }

    void release_until(Level& at, int64_t after, int64_t time) const
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
};

}  // namespace hpcsched::postpone
