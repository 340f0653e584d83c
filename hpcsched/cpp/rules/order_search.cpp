#include "rules/order_search.hpp"

#include <algorithm>
#include <numeric>

#include "core/estimated_ends.hpp"
#include "core/shared_resources.hpp"
#include "planning/order_search.hpp"
#include "rules/announced_outages.hpp"
#include "rules/backfill.hpp"
#include "rules/node_plan.hpp"
#include "rules/round_plan.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Time constant of the mean weight that waits, in seconds.
constexpr double held_over = 3600.0;

/// Return a job's largest share of the system, over all resource types.
double demand(const State& state, const Job& job)
{
    double share = 0.0;
    for (int64_t r = 0; r < state.type_count(); ++r)
        if (state.total_capacity[r] != 0)
            share = std::max(share, static_cast<double>(state.shapes.asked(job.request, r)) /
                                        static_cast<double>(state.total_capacity[r]));
    return share * static_cast<double>(job.units);
}

double area(const State& state, const Job& job)
{
    return demand(state, job) * static_cast<double>(job.predicted);
}

/// Queued jobs that are planned.
struct PlannedJobs {
    const State& state;
    View<const int64_t> rows;
    View<const int64_t> run_times;

    const Job& job(int64_t j) const { return state.jobs[rows[j]]; }
    int64_t node_count() const { return 0; }  // nodes are noted nowhere
    bool are_alike(int64_t j, int64_t i) const
    {
        const SharedResources& shared = state.shared;
        return job(j).units == job(i).units && job(j).later == job(i).later &&
               (!shared.any || same_rows<const int64_t>(shared.own, rows[j], rows[i]));
    }
};

/// Free capacity of a round beside planned jobs; starts are in seconds from now.
class Room {
public:
    Room() = default;
    Room(State& state, RoundPlan plan)
        : state_(&state), plan_(std::move(plan)), shared_(state.shared.steps)
    {
    }

    int64_t size() const { return plan_.by_count ? plan_.steps.size() : plan_.profile.size(); }

    int64_t earliest_start(int64_t j, const PlannedJobs& jobs) const
    {
        const Job& job = jobs.job(j);
        if (plan_.by_count) return since(plan_.steps.earliest(now(), job.predicted, job.units).begin);
        if (state_->shared.any) state_->shared.steps = shared_;
        return since(earliest_beside_shared(*state_, jobs.rows[j], now(), never, plan_.profile));
    }

    int64_t plan_job(int64_t j, const PlannedJobs& jobs, View<int64_t>)
    {
        const Job& job = jobs.job(j);
        if (plan_.by_count) return since(plan_.steps.reserve(now(), job.predicted, job.units));
        const int64_t begin = earliest_start(j, jobs);
        if (begin == never) return never;
        place_reservation(*state_, jobs.rows[j], now() + begin, plan_.profile);
        if (state_->shared.any) {
            reserve_shared(*state_, jobs.rows[j], now() + begin, 1);
            shared_ = state_->shared.steps;
        }
        return begin;
    }

private:
    State* state_ = nullptr;
    RoundPlan plan_;
    SharedResources::Steps shared_;

    int64_t now() const { return state_->now(); }
    int64_t since(int64_t time) const { return time == never ? never : time - now(); }
};

/// Return the costs of queued jobs by their starts, by the terms of the settings.
OwnedCosts own_costs(const State& state, View<const int64_t> rows, const std::vector<double>& areas)
{
    const SearchSettings& settings = state.choices.search;
    const SearchMemory& memory = state.search;
    const int64_t count = rows.size();
    const auto terms = static_cast<int64_t>(settings.terms.size());
    OwnedCosts costs;
    costs.weights = costs.free = Table<double>(terms, count);
    costs.makespan = settings.makespan * static_cast<double>(count);
    costs.alpha = settings.alpha.value_or(0.0);
    // Before anything has started there is no ratio: the numerator counts alone.
    if (settings.alpha && memory.lower != 0.0)
        costs.dinkelbach_parameter = settings.dinkelbach_parameter * memory.upper / memory.lower;
    const double all_areas = std::accumulate(areas.begin(), areas.end(), 0.0);
    for (int64_t k = 0; k < count; ++k) {
        const Job& job = state.jobs[rows[k]];
        const int64_t wait = state.now() - job.submit_time;
        costs.submit.push_back(-wait);
        costs.run_times.push_back(job.predicted);
        costs.amounts.push_back(settings.alpha ? demand(state, job) : 0.0);
        for (int64_t t = 0; t < terms; ++t) {
            const auto& [weight, factor, tau] = settings.terms[t];
            // All terms times the number of jobs, so that means become sums.
            const double share = weight == Weight::area
                                     ? areas[k] / all_areas * static_cast<double>(count)
                                     : 1.0;
            const int64_t over = weight == Weight::run_time ? std::max(job.expected, tau) : 1;
            costs.weights(t, k) = factor * share / static_cast<double>(over);
            costs.free(t, k) =
                static_cast<double>(std::max(tau - job.predicted - wait, int64_t{0}));
        }
    }
    return costs;
}

/// Return the surrogate costs of queued jobs by their starts.
OwnedCosts costs_of(const State& state, View<const int64_t> rows)
{
    const SearchSettings& settings = state.choices.search;
    std::vector<double> areas;
    for (const int64_t row : rows) areas.push_back(area(state, state.jobs[row]));
    OwnedCosts costs = state.search.given ? *state.search.given : own_costs(state, rows, areas);
    costs.discount_time_constant = settings.discount_time_constant;
    const double mean =
        std::accumulate(areas.begin(), areas.end(), 0.0) / static_cast<double>(rows.size());
    for (int64_t k = 0; k < rows.size(); ++k) {
        // Relative to the mean, so that the unit of areas does not matter.
        const double of_area = settings.area_exponent == 0.0
                                   ? 1.0
                                   : portable::power(areas[k] / mean, settings.area_exponent);
        for (int64_t t = 0; t < costs.weights.rows(); ++t) {
            costs.weights(t, k) *= of_area;
            // Discounting starts now, not at `free`, so that all jobs are discounted alike.
            if (costs.discount_time_constant > 0.0)
                costs.weights(t, k) *= portable::exp(-costs.free(t, k) / costs.discount_time_constant);
        }
    }
    return costs;
}

/// Sort places by a key of the job, the least first, then as they come.
template <class Key>
Numbers sorted_by(int64_t count, Key key)
{
    Numbers places(static_cast<size_t>(count));
    std::iota(places.begin(), places.end(), 0);
    std::ranges::stable_sort(places, std::ranges::less{}, key);
    return places;
}

/// Put places of rows in order.
void reorder(View<int64_t> rows, View<const int64_t> places)
{
    const Numbers before(rows.begin(), rows.end());
    for (int64_t k = 0; k < places.size(); ++k) rows[k] = before[places[k]];
}

/// A round of the search.
class SearchRound {
public:
    explicit SearchRound(State& state)
        : state_(state), settings_(state.choices.search), memory_(state.search),
          queue_(state.queue.first(state.counters.queued)), costs_(costs_of(state, queue_))
    {
    }

    /// Leave out the jobs that are held, as if they came later; return their number.
    ///
    /// While a job runs, all that wait do so longer by its share of the system, and its run time is
    /// its area. That times the weight that waits on average is what the job costs the others; it is
    /// held while this is more than `hold` times what it has to bear itself, its weight times its
    /// response time so far. Only jobs that are expected to run as long as predicted are held, and
    /// none if nothing runs. All jobs must ask for the same of a node.
    int64_t hold_large()
    {
        const int64_t count = state_.counters.queued, now = state_.now();
        if (settings_.hold == 0.0) return 0;
        double waiting = 0.0;
        for (int64_t k = 0; k < count; ++k) waiting += weight(k);
        const double kept = portable::exp(-static_cast<double>(now - memory_.pressed) /
                                          held_over);
        memory_.pressure = kept * memory_.pressure + (1.0 - kept) * waiting;
        memory_.pressed = now;
        if (state_.counters.running == 0) return 0;
        const auto is_held = [&](int64_t k) {
            const Job& job = state_.jobs[queue_[k]];
            const auto response = static_cast<double>(job.predicted + now - job.submit_time);
            return 20 * job.expected >= 19 * job.predicted &&
                   area(state_, job) * memory_.pressure > settings_.hold * weight(k) * response;
        };
        const Numbers places = sorted_by(count, [&](int64_t k) { return is_held(k) ? 1 : 0; });
        const int64_t held = std::ranges::count_if(places, is_held);
        reorder(queue_, places);
        queue_ = queue_.first(count - held);
        costs_ = costs_.of(View<const int64_t>(places).first(count - held));
        return held;
    }

    /// Put the queue in the order in which its jobs are to be planned. `searches`: whether one may
    /// start now, so that a search is worth its time.
    void arrange(bool counted, bool searches)
    {
        const Numbers by_weight = sorted_by(queue_.size(), [&](int64_t k) { return ratio(k); });
        reorder(queue_, by_weight);
        if (!searches) return;
        const int64_t count = std::min(queue_.size(), settings_.queue_length);
        const View<int64_t> first = queue_.first(count);
        if (memory_.is_kept && is_as_planned()) {
            reorder(first, last_order(first));
            return;
        }
        if (count > 1)
            search(first, costs_.of(View<const int64_t>(by_weight).first(count)), counted);
        memory_.places.clear();
        for (int64_t k = 0; k < count; ++k) memory_.places[number(first[k])] = k;
        // A discounted wait says little about a start that is planned far ahead; and plans are
        // cautious in view of outages and shared resources.
        memory_.is_kept = count == queue_.size() && settings_.discount_time_constant == 0.0 &&
                          !state_.shared.any && !state_.outages.any_announced;
    }

    /// Note what the next round has to know.
    void remember()
    {
        const int64_t now = state_.now();
        memory_.ends.clear();
        for (const int64_t row : state_.running.first(state_.counters.running))
            memory_.ends.push_back(state_.jobs[row].shown_end);
        for (const int64_t row : state_.started.first(state_.counters.started)) {
            const Job& job = state_.jobs[row];
            if (!settings_.alpha) continue;
            const auto wait = static_cast<double>(now - job.submit_time);
            const auto run_time = static_cast<double>(job.predicted);
            const double a = *settings_.alpha + 1.0, amount = demand(state_, job);
            memory_.upper += a / (a + 1.0) * amount * power_difference(wait, run_time, a + 1.0);
            memory_.lower += amount * power_difference(wait, run_time, a);
        }
        std::ranges::sort(memory_.ends);
    }

private:
    State& state_;
    const SearchSettings& settings_;
    SearchMemory& memory_;
    View<int64_t> queue_;
    OwnedCosts costs_;  // of the jobs in the queue, as they come first

    int64_t number(int64_t row) const { return state_.jobs[row].number; }

    /// Return area over weight, the rule of Smith (1956). A ratio of sums gives no weights, and is
    /// served best in order of arrival (Goponenko et al., DEBS 2024, section 3.2).
    double ratio(int64_t k) const
    {
        if (costs_.weights.rows() == 0) return 0.0;
        return area(state_, state_.jobs[queue_[k]]) /
               std::max(weight(k), std::numeric_limits<double>::min());
    }

    double weight(int64_t k) const
    {
        double sum = 0.0;
        for (int64_t t = 0; t < costs_.weights.rows(); ++t) sum += costs_.weights(t, k);
        return sum;
    }

    /// Whether all that wait were planned in the last round, and all that run end as told then.
    bool is_as_planned()
    {
        const auto is_known = [&](int64_t row) { return memory_.places.contains(number(row)); };
        if (!std::ranges::all_of(queue_, is_known)) return false;
        Numbers ends;
        for (const int64_t row : RunningByEnd(state_)) ends.push_back(state_.jobs[row].shown_end);
        std::erase_if(memory_.ends, [&](int64_t end) { return end <= state_.now(); });
        return ends == memory_.ends;
    }

    /// Return the places of rows in the best order of the last round; new jobs come last.
    Numbers last_order(View<const int64_t> rows) const
    {
        return sorted_by(rows.size(), [&](int64_t k) {
            const auto found = memory_.places.find(number(rows[k]));
            return found == memory_.places.end() ? never : found->second;
        });
    }

    /// Search for the best order of rows, which are in the order of area over weight.
    void search(View<int64_t> rows, const OwnedCosts& costs, bool counted)
    {
        const int64_t count = rows.size();
        const auto job = [&](int64_t k) -> const Job& { return state_.jobs[rows[k]]; };
        const auto of_area = [&](int64_t k) { return area(state_, job(k)); };
        std::vector<Numbers> orders = {
            sorted_by(count, [](int64_t) { return 0; }),
            sorted_by(count, [&](int64_t k) { return job(k).sequence; }),
            sorted_by(count, [&](int64_t k) {
                return std::pair(job(k).predicted, demand(state_, job(k)));
            }),
            sorted_by(count, of_area),
            sorted_by(count, [&](int64_t k) { return -of_area(k); }),
            sorted_by(count, [&](int64_t k) {
                return of_area(k) * static_cast<double>(job(k).predicted);
            }),
        };
        if (settings_.warm_start) orders.push_back(last_order(rows));
        Table<int64_t> tried(0, count);
        for (const Numbers& order : orders) tried.add(order);
        const PlannedJobs jobs{state_, rows, costs.run_times};
        const StartTimeCosts of_starts = costs;
        Numbers best = orders[0];  // where no order can be planned
        OrderSearch found(jobs, Room(state_, open_plan(state_, counted)), of_starts,
                          settings_.budget, settings_.front_bias, best);
        found.run(tried, memory_.random);
        reorder(rows, best);
        open_shared(state_);  // as it was before plans were made
    }
};

}  // namespace

void hold_search_round(State& state, bool explains)
{
    const int64_t count = state.counters.queued;
    if (count == 0) return;
    open_shared(state);
    const int64_t fitting = first_that_fits(state, 0);
    if (!explains && fitting == count) return;
    if (state.by_node) compute_pressure(state);
    const bool counted = counts_units(state);
    const View<int64_t> queue = state.queue.first(count);
    const Numbers arrived(queue.begin(), queue.end());
    SearchRound round(state);
    // Elsewhere others may wait for what the job does not take.
    const bool alike = !state.by_node || counted;
    const int64_t held = fitting < count && alike ? round.hold_large() : 0;
    state.counters.queued -= held;
    round.arrange(counted, fitting < count);
    const int64_t at = start_in_order(state);
    if (at < count - held) hold_backfill(state, at, counted, explains);
    if (explains) note_shared_resources(state);
    state.counters.queued = count;
    for (int64_t k = count - held; explains && k < count; ++k) {
        state.jobs[queue[k]].why = Reason::held;
        state.jobs[queue[k]].other = none;
    }
    if (fitting < count) round.remember();
    std::ranges::copy(arrived, queue.begin());
}

}  // namespace hpcsched
