#include "postpone/problem.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace hpcsched::postpone {

namespace {

/// Number things by their first appearance.
template <class Thing>
class Numbers {
public:
    int of(const Thing& thing)
    {
        return numbers_.try_emplace(thing, static_cast<int>(numbers_.size())).first->second;
    }

private:
    std::map<Thing, int> numbers_;
};

void classify_requests(Problem& problem)
{
    // Running and queued jobs are numbered together: nodes are alike whoever holds them.
    Numbers<Amounts> numbers;
    for (Job& job : problem.jobs) job.request_class = numbers.of(job.request);
    for (Held& held : problem.held) held.request_class = numbers.of(held.amounts);
}

void classify_nodes(Problem& problem)
{
    using Offer = std::tuple<Amounts, Amounts, std::vector<std::pair<int64_t, int64_t>>>;
    Numbers<Offer> numbers;
    for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
        Node& node = problem.nodes[n];
        Amounts room;
        std::vector<std::pair<int64_t, int64_t>> closed;
        for (const Job& job : problem.jobs) room.push_back(job.room[n]);
        for (const Outage& outage : node.outages) closed.emplace_back(outage.begin, outage.end);
        node.node_class = numbers.of(Offer(room, node.capacity, closed));
    }
}

/// Find twins: they ask for the same, and the cost of the first grows at least as fast at any
/// time, so that the two could change places where it started later.
void find_twins(std::vector<Job>& jobs)
{
    std::vector<int> order(jobs.size());
    std::iota(order.begin(), order.end(), 0);
    // The dearest first: a job can only be the twin of one that was met before it.
    std::ranges::stable_sort(order, [&](int a, int b) {
        const auto &left = jobs[a].terms, &right = jobs[b].terms;
        for (std::size_t t = 0; t < left.size(); ++t)
            if (left[t].weight != right[t].weight) return left[t].weight > right[t].weight;
        for (std::size_t t = 0; t < left.size(); ++t)
            if (left[t].free != right[t].free) return left[t].free < right[t].free;
        return false;
    });
    std::map<std::tuple<int64_t, int64_t, Amounts, Amounts, Amounts>, int> last;
    for (int k : order) {
        Job& job = jobs[k];
        auto [found, is_new] = last.try_emplace(
            {job.units, job.run_time, job.request, job.idle_room, job.demand}, k);
        if (is_new) continue;
        const auto& dearer = jobs[found->second].terms;
        bool as_steep = true;
        for (std::size_t t = 0; t < job.terms.size(); ++t)
            as_steep = as_steep && dearer[t].weight >= job.terms[t].weight &&
                       dearer[t].free <= job.terms[t].free;
        if (as_steep) job.twin = found->second;
        found->second = k;
    }
}

void find_events(Problem& problem, const std::vector<int64_t>& ends)
{
    std::set<int64_t> events(ends.begin(), ends.end());
    const auto& used = problem.used;
    for (std::size_t f = 1; f < used.size(); ++f)
        for (std::size_t g = 0; g < problem.total.size(); ++g)
            // Only where less is used can a job start that could not before.
            if (used[f].amounts[g] < used[f - 1].amounts[g]) events.insert(used[f].time);
    for (const Node& node : problem.nodes)
        for (const Outage& outage : node.outages) events.insert(outage.end);
    if (problem.mode == Mode::now) events.insert(1);  // from which on no job needs nodes
    problem.events.assign(events.begin(), events.end());
}

void find_rises_and_releases(Problem& problem)
{
    const std::size_t count = problem.total.size();
    const auto& used = problem.used;
    Amounts most(count);
    for (std::size_t g = 0; g < count; ++g) most[g] = problem.total[g] - used[0].amounts[g];
    for (std::size_t f = 1; f < used.size(); ++f) {
        bool rises = false;
        Step release{used[f].time, Amounts(count)};
        for (std::size_t g = 0; g < count; ++g) {
            rises = rises || used[f].amounts[g] > used[f - 1].amounts[g];
            const int64_t free = problem.total[g] - used[f].amounts[g];
            release.amounts[g] = std::max<int64_t>(free - most[g], 0);
            most[g] = std::max(most[g], free);
        }
        if (rises) problem.rises.push_back(used[f]);
        problem.releases.push_back(std::move(release));
    }
}

std::vector<int> jobs_by_energy(const std::vector<Job>& jobs, std::size_t g)
{
    std::vector<double> ratios;
    for (const Job& job : jobs) {
        int64_t weight = 0;
        for (const CostTerm& term : job.terms) weight += term.weight;
        const int64_t energy = std::max<int64_t>(job.demand[g] * job.run_time, 1);
        ratios.push_back(static_cast<double>(weight) / static_cast<double>(energy));
    }
    std::vector<int> order(jobs.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) { return ratios[a] > ratios[b]; });
    return order;
}

/// Give running jobs the lowest positions of their nodes.
void place_held(Problem& problem)
{
    std::vector<Amounts> next(problem.nodes.size(), Amounts(problem.type_count));
    // The latest end first, hence lowest: what is free of a node then is in one piece.
    for (auto held = problem.held.rbegin(); held != problem.held.rend(); ++held) {
        for (int r = 0; r < problem.type_count; ++r) {
            const int64_t amount = held->amounts[r];
            if (amount == 0) continue;
            int64_t& low = next[held->node][r];
            const int64_t end = std::min(held->end, problem.horizon);
            problem.boxes.push_back({held->node, r, low, low + amount, end});
            low += amount;
        }
    }
}

}  // namespace

int64_t Job::curve_cost(int64_t start) const
{
    if (curve.empty()) return 0;
    auto corner = curve.end() - 1;
    while (corner != curve.begin() && corner->at > start) --corner;
    return corner->cost + corner->slope * (start - corner->at);
}

int64_t Job::cost(int64_t start) const
{
    int64_t cost = curve_cost(start);
    for (const CostTerm& term : terms) cost += term.weight * std::max(start, term.free);
    return cost;
}

int64_t Job::least_cost_from(int64_t start) const
{
    const int64_t at_start = cost(start);
    if (curve.empty()) return at_start;
    const int64_t curve_then = curve_cost(start);
    int64_t least = curve_then;
    // A curve may fall later on. Between corners it is straight, so its least is at one of them.
    for (const Corner& corner : curve)
        if (corner.at > start) least = std::min(least, corner.cost);
    return at_start - curve_then + least;
}

double Job::slope_at(int64_t start) const
{
    double slope = 0.0;
    for (const CostTerm& term : terms)
        if (term.free <= start) slope += static_cast<double>(term.weight);
    return slope;
}

bool Node::is_closed(int64_t begin, int64_t end) const
{
    return std::ranges::any_of(
        outages, [&](const Outage& outage) { return outage.begin < end && begin < outage.end; });
}

Amounts Problem::free_together(int64_t time) const
{
    const auto later =
        std::ranges::upper_bound(used, time, std::ranges::less{}, &Step::time);
    Amounts free = total;
    for (std::size_t g = 0; g < free.size(); ++g) free[g] -= std::prev(later)->amounts[g];
    return free;
}

void Problem::complete(const std::vector<int64_t>& ends, bool twins_trade,
                       const std::vector<std::pair<int, int>>& pairs)
{
    classify_requests(*this);
    classify_nodes(*this);
    if (twins_trade) find_twins(jobs);
    for (const auto& [first, second] : pairs) {
        jobs.at(first);
        jobs.at(second).dominators.push_back(first);
    }
    find_events(*this, ends);
    find_rises_and_releases(*this);
    for (std::size_t g = 0; g < total.size(); ++g) by_energy.push_back(jobs_by_energy(jobs, g));
    if (mode == Mode::positions) place_held(*this);
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
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) { return rank[a] < rank[b]; });
    return order;
}

}  // namespace hpcsched::postpone
