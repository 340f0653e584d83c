#pragma once

#include "postpone/state.hpp"

namespace hpcsched::postpone {

/// Starts jobs on nodes, in one way after another, and undoes that.
///
/// Ways that differ only in nodes that are the same are one.
class Placing {
public:
    explicit Placing(State& state) : state_(state) {}

    /// Start a job at the present level, placed in the first way.
    void begin(int j)
    {
        const Job& job = problem().jobs[j];
        Level& level = state_.now();
        state_.jobs[j].start = level.time;
        for (std::size_t g = 0; g < job.demand.size(); ++g) level.together[g] -= job.demand[g];
        // In order of ends, in which bounds and levels go through them.
        const auto place = std::ranges::upper_bound(state_.by_end, state_.end_of(j),
                                                    std::ranges::less{},
                                                    [&](int i) { return state_.end_of(i); });
        state_.by_end.insert(place, j);
        state_.jobs[j].choices.clear();
        if (!problem().names_nodes(level.time)) return;
        choose(j);
        spread(j, 0, job.units, false);
        if (by_position()) {
            const std::vector<int64_t> lows(static_cast<std::size_t>(job.units));
            state_.jobs[j].lows.assign(static_cast<std::size_t>(problem().type_count), lows);
            lowest_positions(j, 0, 0);
        }
        take(j);
    }

    /// Have a started job of the present level hold nothing of its nodes.
    void lift(int j)
    {
        if (!problem().names_nodes(state_.jobs[j].start)) return;
        state_.release(j, state_.now());
        if (!by_position()) return;
        // Positions are a stack: they go in the reverse order of `take`.
        const Job& job = problem().jobs[j];
        const auto& choices = state_.jobs[j].choices;
        for (auto choice = choices.rbegin(); choice != choices.rend(); ++choice)
            for (int64_t unit = 0; unit < choice->units; ++unit)
                for (int r = problem().type_count - 1; r >= 0; --r)
                    if (job.request[r] > 0) state_.positions.remove_last(choice->node, r);
    }

    /// Place a job that holds nothing in the next way; false, and no nodes, if there is none.
    bool next(int j)
    {
        if (!problem().names_nodes(state_.now().time)) return false;
        if (!(by_position() && next_positions(j))) {
            if (!next_counts(j)) return false;
            if (by_position()) lowest_positions(j, 0, 0);
        }
        take(j);
        return true;
    }

    /// Undo the start of a job of the present level that holds no nodes any more.
    void withdraw(int j)
    {
        const Job& job = problem().jobs[j];
        state_.jobs[j].choices.clear();
        Level& level = state_.now();
        for (std::size_t g = 0; g < job.demand.size(); ++g) level.together[g] += job.demand[g];
        std::erase(state_.by_end, j);
        state_.jobs[j].start = none;
    }

private:
    State& state_;

    const Problem& problem() const { return state_.problem; }
    bool by_position() const { return problem().mode == Mode::positions; }

    /// List the nodes with room for a job at the present level, in the order to try them in: by
    /// position as they come, by count those with least room first.
    void choose(int j)
    {
        auto& choices = state_.jobs[j].choices;
        for (int n = 0; n < static_cast<int>(problem().nodes.size()); ++n)
            if (const int64_t fits = state_.units_on(j, n, state_.level); fits > 0)
                choices.push_back({n, fits, 0, Choice::unknown});
        // Stable by node, so that ties are always broken alike.
        if (!by_position())
            std::ranges::stable_sort(choices, std::ranges::less{}, &Choice::fits);
    }

    /// Hold a job's placement from the present level on.
    void take(int j)
    {
        const Job& job = problem().jobs[j];
        Level& level = state_.now();
        const Decided& decided = state_.jobs[j];
        const int64_t end = state_.end_of(j);
        int64_t unit = 0;
        for (const Choice& choice : decided.choices) {
            const std::size_t first = static_cast<std::size_t>(choice.node) * problem().type_count;
            for (int r = 0; r < problem().type_count; ++r)
                level.left[first + r] -= choice.units * job.request[r];
            if (!by_position()) continue;
            for (const int64_t last = unit + choice.units; unit < last; ++unit)
                for (int r = 0; r < problem().type_count; ++r)
                    if (const int64_t size = job.request[r]; size > 0) {
                        const int64_t low = decided.lows[r][unit];
                        state_.positions.add(choice.node, r, low, low + size, end);
                    }
        }
        state_.sign(j, level, true);
    }

    /// Put units on a job's choices from one on, as many on each as it holds; say whether all fit.
    /// With `compares`, a node just like one before gets no more units than that.
    bool spread(int j, std::size_t first, int64_t missing, bool compares)
    {
        auto& choices = state_.jobs[j].choices;
        for (std::size_t c = first; c < choices.size(); ++c) {
            int64_t most = choices[c].fits;
            if (compares && choices[c].alike >= 0)
                most = std::min(most, choices[choices[c].alike].units);
            choices[c].units = std::min(most, missing);
            missing -= choices[c].units;
        }
        return missing == 0;
    }

    /// Put the units of a job on nodes in the next way; say whether there is one.
    bool next_counts(int j)
    {
        auto& choices = state_.jobs[j].choices;
        // Only now, as a job that keeps its first placement needs no comparison.
        for (std::size_t c = 0; c < choices.size(); ++c)
            if (choices[c].alike == Choice::unknown) choices[c].alike = last_alike(j, c);
        int64_t behind = 0;
        for (std::size_t c = choices.size(); c-- > 0;) {
            const int64_t here = choices[c].units;
            if (here > 0) {
                choices[c].units = here - 1;
                if (spread(j, c + 1, behind + 1, true)) return true;
            }
            behind += here;
            choices[c].units = 0;
        }
        return false;
    }

    /// The last of a job's choices before one that is a node just like it; `none` without any.
    int last_alike(int j, std::size_t choice) const
    {
        const auto& choices = state_.jobs[j].choices;
        const Level& level = state_.now();
        const auto types = static_cast<std::size_t>(problem().type_count);
        const Choice& one = choices[choice];
        const auto left = level.left.begin();
        for (std::size_t c = choice; c-- > 0;) {
            const Choice& other = choices[c];
            if (other.fits == one.fits &&
                problem().nodes[other.node].node_class == problem().nodes[one.node].node_class &&
                level.signatures[other.node] == level.signatures[one.node] &&
                // Signatures may agree by chance, so amounts are compared as well.
                std::equal(left + other.node * types, left + (other.node + 1) * types,
                           left + one.node * types))
                return static_cast<int>(c);
        }
        return none;
    }

    /// Give units first … last - 1 of a job the lowest positions from `low` on, if there are.
    bool fill(int j, int type, int node, int64_t first, int64_t last, int64_t low)
    {
        const int64_t size = problem().jobs[j].request[type];
        for (int64_t unit = first; unit < last; ++unit) {
            low = state_.positions.next_low(node, type, size, low, state_.now().time);
            if (low == none) return false;
            state_.jobs[j].lows[type][unit] = low;
            low += size;
        }
        return true;
    }

    /// Give units of a job, from unit `first` on, the lowest positions on its choices from one on.
    void lowest_positions(int j, std::size_t choice, int64_t first)
    {
        const auto& choices = state_.jobs[j].choices;
        for (std::size_t c = choice; c < choices.size(); ++c) {
            const int64_t last = first + choices[c].units;
            for (int r = 0; r < problem().type_count; ++r)
                if (problem().jobs[j].request[r] > 0) fill(j, r, choices[c].node, first, last, 0);
            first = last;
        }
    }

    /// Give the units of a job the next positions on the same nodes; say whether there are.
    ///
    /// The last unit that can moves up; what comes after it goes back to the lowest.
    bool next_positions(int j)
    {
        const Job& job = problem().jobs[j];
        const Decided& decided = state_.jobs[j];
        const int types = problem().type_count;
        int64_t last = job.units;
        for (std::size_t c = decided.choices.size(); c-- > 0;) {
            const int n = decided.choices[c].node;
            const int64_t first = last - decided.choices[c].units;
            for (int r = types - 1; r >= 0; --r) {
                if (job.request[r] == 0) continue;
                for (int64_t unit = last - 1; unit >= first; --unit) {
                    const int64_t old = decided.lows[r][unit];
                    if (fill(j, r, n, unit, last, old + 1)) {
                        for (int later = r + 1; later < types; ++later)
                            if (job.request[later] > 0) fill(j, later, n, first, last, 0);
                        lowest_positions(j, c + 1, last);
                        return true;
                    }
                    // The failed `fill` has overwritten positions: the unit goes back, those
                    // behind it to their lowest.
                    fill(j, r, n, unit, last, old);
                }
            }
            last = first;
        }
        return false;
    }
};

}  // namespace hpcsched::postpone
