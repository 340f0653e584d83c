#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

namespace hpcsched::postpone {

using std::int64_t;

/// Amounts by resource type, of a node or of what all nodes share.
using Amounts = std::vector<int64_t>;

/// Later than any time, and more than any plan costs.
constexpr int64_t never = int64_t{1} << 62;

/// No job, level, node or start.
constexpr int none = -1;

/// Jobs whose nodes a plan names: none, those that start now, all by counts, all by positions.
enum class Mode { aggregated, now, counts, positions };

/// A cost of weight · max(start, free).
struct CostTerm {
    int64_t weight;
    int64_t free;
};

/// A corner of a start-time cost function, and its slope from there on.
struct Corner {
    int64_t at;
    int64_t cost;
    int64_t slope;
};

struct Job {
    int64_t units;
    int64_t run_time;
    int64_t latest_start;
    Amounts request;    // of one unit
    Amounts demand;     // of all units, of the cumulative resources
    Amounts idle_room;  // units that each idle node of the model can hold
    Amounts room{};     // the same, now or when idle, of the nodes that the search looks at
    std::vector<CostTerm> terms{};
    std::vector<Corner> curve{};
    std::vector<int> dominators{};  // jobs that start no later
    int twin = none;                // a job that is in every way the same and starts no later
    int request_class = 0;          // equal for equal requests

    int64_t cost(int64_t start) const
    {
        int64_t cost = curve_cost(start);
        for (const CostTerm& term : terms) cost += term.weight * std::max(start, term.free);
        return cost;
    }

    int64_t least_cost_from(int64_t start) const
    {
        int64_t least = curve_cost(start);
        const int64_t others = cost(start) - least;
        // A curve may fall later on. Between corners it is straight, so its least is at one of
        // them.
        for (const Corner& corner : curve)
            if (corner.at > start) least = std::min(least, corner.cost);
        return others + least;
    }

    double slope_at(int64_t start) const
    {
        double slope = 0.0;
        for (const CostTerm& term : terms)
            if (term.free <= start) slope += static_cast<double>(term.weight);
        return slope;
    }

private:
    int64_t curve_cost(int64_t start) const
    {
        if (curve.empty()) return 0;
        auto corner = curve.end() - 1;
        while (corner != curve.begin() && corner->at > start) --corner;
        return corner->cost + corner->slope * (start - corner->at);
    }
};

struct Outage {
    int64_t begin;
    int64_t end;

    auto operator<=>(const Outage&) const = default;
};

struct Node {
    int number;  // in the model
    Amounts capacity;
    Amounts free;  // now
    std::vector<Outage> outages{};
    int node_class = 0;  // equal for nodes that offer the same to all jobs

    bool is_closed(int64_t begin, int64_t end) const
    {
        return std::ranges::any_of(outages, [&](const Outage& outage) {
            return outage.begin < end && begin < outage.end;
        });
    }
};

/// What running jobs hold of a node until an end.
struct Held {
    int64_t end;
    int node;
    Amounts amounts;
    int request_class = 0;
};

/// Amounts of the cumulative resources from a time on.
struct Step {
    int64_t time;
    Amounts amounts;
};

/// The problem of a search: what does not change while it goes on. Times are in steps from now.
struct Problem {
    Mode mode;
    bool back_to_start;  // whether a failure goes back to a job's start at once
    int64_t makespan;    // cost of each step before the last end
    int64_t horizon;
    std::vector<Job> jobs{};  // by priority
    std::vector<Node> nodes{};
    std::vector<Held> held{};  // by end and node
    int type_count = 0;

    Amounts total{};           // of the cumulative resources
    std::vector<Step> used{};  // of them, by running jobs, outages and jobs with a fixed start

    // What follows from these.
    std::vector<Step> rises{};                  // steps of `used` with more than before
    std::vector<Step> releases{};               // how much more comes free than ever was
    std::vector<int64_t> events{};              // when something not of these jobs may come free
    std::vector<std::vector<int>> by_energy{};  // jobs by weight over energy, of each resource
    bool has_curves = false;

    bool by_node() const { return mode == Mode::counts || mode == Mode::positions; }

    /// Whether a job that starts at a time needs nodes.
    bool names_nodes(int64_t time) const
    {
        return by_node() || (mode == Mode::now && time == 0);
    }

    /// What is free of the cumulative resources at a time beside the jobs of the search.
    Amounts free_together(int64_t time) const
    {
        const auto later = std::ranges::upper_bound(used, time, std::ranges::less{}, &Step::time);
        Amounts free = total;
        for (std::size_t g = 0; g < free.size(); ++g) free[g] -= std::prev(later)->amounts[g];
        return free;
    }

    /// Fill in what follows from the rest. `ends` are those of all running jobs.
    void complete(const std::vector<int64_t>& ends, bool twins_trade);

    /// Jobs in the order of decisions: each comes behind its twin and those that dominate it.
    std::vector<int> in_order(const std::vector<int>& wanted) const;
};

/// The numbers from 0 to below a count, sorted by a key; stable.
template <class Key>
std::vector<int> sorted_numbers(std::size_t count, Key key)
{
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::less{}, key);
    return order;
}

}  // namespace hpcsched::postpone
