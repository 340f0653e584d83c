#include "postpone/problem.hpp"

#include <set>
#include <tuple>

namespace hpcsched::postpone {

namespace {

/// Number a thing by its first appearance.
template <class Thing>
int number_of(const Thing& thing, std::map<Thing, int>& numbers)
{
    return numbers.try_emplace(thing, static_cast<int>(numbers.size())).first->second;
}

void classify(Problem& problem)
{
    // Running and queued jobs are numbered together: nodes are alike whoever holds them.
    std::map<Amounts, int> requests;
    for (Job& job : problem.jobs) job.request_class = number_of(job.request, requests);
    for (Held& held : problem.held) held.request_class = number_of(held.amounts, requests);
    std::map<std::tuple<Amounts, Amounts, std::vector<Outage>>, int> offers;
    for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
        Node& node = problem.nodes[n];
        Amounts room;
        for (const Job& job : problem.jobs) room.push_back(job.room[n]);
        node.node_class = number_of({room, node.capacity, node.outages}, offers);
    }
}

/// Find twins: they ask for the same, and the cost of the first grows at least as fast at any
/// time, so that the two could change places where it started later.
void find_twins(std::vector<Job>& jobs)
{
    // The dearest first: a job can only be the twin of one that was met before it.
    const auto order = sorted_numbers(jobs.size(), [&](int j) {
        Amounts key;
        for (const CostTerm& term : jobs[j].terms) key.push_back(-term.weight);
        for (const CostTerm& term : jobs[j].terms) key.push_back(term.free);
        return key;
    });
    std::map<std::tuple<int64_t, int64_t, Amounts, Amounts, Amounts>, int> last;
    for (int k : order) {
        Job& job = jobs[k];
        auto [found, is_new] = last.try_emplace(
            {job.units, job.run_time, job.request, job.idle_room, job.demand}, k);
        if (is_new) continue;
        const bool as_steep = std::ranges::equal(
            jobs[found->second].terms, job.terms, [](const CostTerm& dearer, const CostTerm& term) {
                return dearer.weight >= term.weight && dearer.free <= term.free;
            });
        if (as_steep) job.twin = found->second;
        found->second = k;
    }
}

/// Find when less is used of the cumulative resources, and when more.
void find_changes(Problem& problem, std::set<int64_t>& events)
{
    const auto& used = problem.used;
    Amounts most = problem.free_together(0);
    for (std::size_t f = 1; f < used.size(); ++f) {
        bool rises = false;
        Step release{used[f].time, Amounts(most.size())};
        for (std::size_t g = 0; g < most.size(); ++g) {
            rises = rises || used[f].amounts[g] > used[f - 1].amounts[g];
            // Only where less is used can a job start that could not before.
            if (used[f].amounts[g] < used[f - 1].amounts[g]) events.insert(used[f].time);
            const int64_t free = problem.total[g] - used[f].amounts[g];
            release.amounts[g] = std::max<int64_t>(free - most[g], 0);
            most[g] = std::max(most[g], free);
        }
        if (rises) problem.rises.push_back(used[f]);
        problem.releases.push_back(std::move(release));
    }
}

}  // namespace

void Problem::complete(const std::vector<int64_t>& ends, bool twins_trade)
{
    classify(*this);
    if (twins_trade) find_twins(jobs);
    std::set<int64_t> found(ends.begin(), ends.end());
    find_changes(*this, found);
    for (const Node& node : nodes)
        for (const Outage& outage : node.outages) found.insert(outage.end);
    if (mode == Mode::now) found.insert(1);  // from which on no job needs nodes
    events.assign(found.begin(), found.end());
    for (std::size_t g = 0; g < total.size(); ++g)
        by_energy.push_back(sorted_numbers(jobs.size(), [&](int j) {
            int64_t weight = 0;
            for (const CostTerm& term : jobs[j].terms) weight += term.weight;
            const int64_t energy = std::max<int64_t>(jobs[j].demand[g] * jobs[j].run_time, 1);
            return -(static_cast<double>(weight) / static_cast<double>(energy));
        }));
    has_curves = std::ranges::any_of(jobs, [](const Job& job) { return !job.curve.empty(); });
}

std::vector<int> Problem::in_order(const std::vector<int>& wanted) const
{
    const std::size_t count = jobs.size();
    std::vector<int> rank(count);
    for (std::size_t k = 0; k < count; ++k) rank.at(wanted[k]) = static_cast<int>(k);
    // Families of twins, each with its head first.
    std::map<int, std::vector<std::pair<int, int>>> families;
    for (std::size_t j = 0; j < count; ++j) {
        int head = static_cast<int>(j), depth = 0;
        for (; jobs[head].twin != none; head = jobs[head].twin) ++depth;
        families[head].emplace_back(depth, static_cast<int>(j));
    }
    for (auto& [head, family] : families) {
        std::vector<int> places;
        for (const auto& [depth, j] : family) places.push_back(rank[j]);
        std::ranges::sort(places);
        std::ranges::sort(family);
        for (std::size_t k = 0; k < family.size(); ++k) rank[family[k].second] = places[k];
    }
    for (std::size_t j = 0; j < count; ++j)  // who dominates has a lower number
        for (int i : jobs[j].dominators) rank[j] = std::max(rank[j], rank[i]);
    return sorted_numbers(count, [&](int j) { return rank[j]; });
}

}  // namespace hpcsched::postpone
