#pragma once

#include "planning/list_plan.hpp"
#include "core/random.hpp"

namespace hpcsched {

/// Of so many jobs all orders are tried: 5,040 at most.
constexpr int64_t few = 7;

/// After so many changes that cost the same, only one that costs less is gone on from.
constexpr int64_t most_sideways = 300;

/// Whether neither plans nor costs tell two jobs apart.
template <class Jobs>
bool are_alike(int64_t j, int64_t i, const Jobs& jobs, const StartTimeCosts& costs)
{
    if (costs.amounts[j] != costs.amounts[i]) return false;
    // Only in a ratio of sums does the past wait matter; elsewhere lateness counts from `free`.
    if (costs.amounts[j] != 0.0 && costs.submit[j] != costs.submit[i]) return false;
    for (int64_t t = 0; t < costs.term_count(); ++t)
        if (costs.weights(t, j) != costs.weights(t, i) || costs.free(t, j) != costs.free(t, i))
            return false;
    return jobs.run_times[j] == jobs.run_times[i] && jobs.are_alike(j, i);
}

/// Return the number of the first job that each job is like.
template <class Jobs>
Numbers kinds_of(int64_t count, const Jobs& jobs, const StartTimeCosts& costs)
{
    Numbers kinds;
    for (int64_t j = 0; j < count; ++j) {
        int64_t i = 0;
        while (i < j && !(kinds[i] == i && are_alike(j, i, jobs, costs))) ++i;
        kinds.push_back(i);
    }
    return kinds;
}

/// A search for the order of some jobs with the cheapest list plan.
///
/// It begins with the best of some orders. Up to 7 jobs are searched through whole: all orders, but
/// those that begin in a way that costs too much already. An order of more is changed again and
/// again, and what does not cost more is gone on from, until the budget is used or every change of
/// that order was tried.
template <class Jobs, class Free>
class OrderSearch {
public:
    OrderSearch(const Jobs& jobs, const Free& free, const StartTimeCosts& costs,
                int64_t budget, double front_bias, View<int64_t> best_order)
        : jobs_(jobs),
          costs_(costs),
          budget_(budget),
          front_bias_(front_bias),
          best_order_(best_order),
          count_(best_order.size()),
          kinds_(kinds_of(count_, jobs, costs)),
          least_(least_costs(free)),
          placed_(count_, jobs.node_count()),
          plans_(jobs, costs, least_, kinds_, 0, free, count_, placed_)
    {
    }

    std::pair<double, bool> run(Matrix<const int64_t> orders, int64_t& random)
    {
        Numbers starts(static_cast<size_t>(count_));
        for (int64_t k = 0; k < orders.rows(); ++k) {
            const double cost = plans_.go_on(0, orders.row(k), infinite, true, starts).cost;
            if (cost < best_) {
                best_ = cost;
                keep_best(orders.row(k));
            }
        }
        // Sums of equal costs differ by the order of their terms.
        slack_ = 1e-12 * std::abs(best_);
        if (count_ < 2 || best_ <= bound_ + slack_) return {best_, true};
        if (count_ > few) return change_order(random);
        Numbers order(static_cast<size_t>(count_));
        std::vector<bool> used(static_cast<size_t>(count_));
        int64_t budget = budget_;
        const bool is_proved = budget > 0 && try_from(0, order, used, budget);
        return {best_, is_proved};
    }

private:
    const Jobs& jobs_;
    const StartTimeCosts& costs_;
    int64_t budget_;  // segments looked through, in making plans, at which the search ends
    double front_bias_;  // how much more often moves take a job from the front of the order
    View<int64_t> best_order_;
    int64_t count_;
    Numbers kinds_;
    Numbers cheapest_;  // start of least cost of each job, were it alone
    std::vector<double> least_;
    double bound_;  // no order costs less: each job starts as if no other waited
    Table<int64_t> placed_;
    OrderPlans<Jobs, Free> plans_;
    double best_ = infinite;
    double slack_ = 0.0;  // less than this is rounding

    /// Return the least cost of each job, were it alone; writes `cheapest_` and `bound_`.
    std::vector<double> least_costs(const Free& free)
    {
        std::vector<double> least;
        int64_t last_end = 0;
        bound_ = 0.0;
        for (int64_t j = 0; j < count_; ++j) {
            const int64_t start = free.earliest_start(j, jobs_);
            cheapest_.push_back(costs_.cheapest_start(j, start));
            least.push_back(costs_.cost_at(j, cheapest_.back()));
            bound_ += least.back();
            last_end = std::max(last_end, start + jobs_.run_times[j]);
        }
        bound_ += costs_.makespan * static_cast<double>(last_end);
        return least;
    }

    void keep_best(View<const int64_t> order)
    {
        std::copy(order.begin(), order.end(), best_order_.begin());
    }

    /// Whether a job that is like `j`, and comes before it, is not used yet.
    bool waits_for_its_like(int64_t j, const std::vector<bool>& used) const
    {
        for (int64_t i = kinds_[j]; i < j; ++i)
            if (kinds_[i] == kinds_[j] && !used[i]) return true;
        return false;
    }

    /// Try all ways to go on from the first `k` jobs of an order, but those that cost too much
    /// already; false once the budget is used up. Jobs cost least if they start at `cheapest_`, and
    /// more the later they start. Of jobs that are alike the first comes first.
    bool try_from(int64_t k, Numbers& order, std::vector<bool>& used, int64_t& budget)
    {
        const auto of_end = [&](int64_t end) {
            return costs_.makespan * static_cast<double>(end);
        };
        Free& scratch = plans_.scratch();
        const auto& [free, paid, ended] = plans_.kept(k);
        scratch = free;
        // Starts before which no job can start beside those before it.
        Numbers starts(static_cast<size_t>(count_));
        double least = paid;
        int64_t last = ended;
        for (int64_t j = 0; j < count_; ++j) {
            if (used[j]) continue;
            budget -= scratch.size();
            starts[j] = scratch.earliest_start(j, jobs_);
            // A lower bound, as room only shrinks: below here no job starts before `starts[j]`, and
            // none costs less than at `cheapest_`.
            least += costs_.cost_at(j, std::max(starts[j], cheapest_[j]));
            last = std::max(last, starts[j] + jobs_.run_times[j]);
        }
        // Pruned: no order that begins in this way is better by more than rounding.
        if (least + of_end(last) >= best_ - slack_) return budget > 0;
        for (int64_t j = 0; j < count_; ++j) {
            if (used[j] || waits_for_its_like(j, used)) continue;
            order[k] = j;
            const double cost = paid + costs_.cost_at(j, starts[j]);
            const int64_t end = std::max(ended, starts[j] + jobs_.run_times[j]);
            // The last job needs no plan: its earliest start is known.
            if (k + 1 == count_) {
                if (cost + of_end(end) >= best_ - slack_) break;
                best_ = cost + of_end(end);
                keep_best(order);
                break;
            }
            scratch = free;
            scratch.plan_job(j, jobs_, placed_.row(j));
            budget -= scratch.size();
            plans_.keep(k + 1, cost, end);
            used[j] = true;
            if (budget <= 0 || !try_from(k + 1, order, used, budget)) return false;
            used[j] = false;
        }
        return budget > 0;
    }

    /// Change the best order again and again.
    std::pair<double, bool> change_order(int64_t& random)
    {
        Numbers order(best_order_.begin(), best_order_.end()), trial = order;
        Numbers starts(static_cast<size_t>(count_)), trial_starts = starts;
        double now = plans_.go_on(0, order, infinite, true, starts).cost;
        // All swaps of two places, and all moves of a job to another place that are no swap of
        // neighbours.
        const int64_t changes = (count_ - 1) * (3 * count_ - 4) / 2;
        // By change: for which of the orders that were gone on from it was tried last.
        Table<int64_t> tried(2 * count_, count_);
        int64_t turn = 1, untried = changes, sideways = 0, left = budget_;
        while (left > 0 && untried > 0) {
            // Also for a change that is drawn again, so that the loop ends.
            --left;
            const Change change = Change::draw(count_, front_bias_, random);
            int64_t& last_turn = tried((change.swaps ? count_ : 0) + change.first, change.second);
            if (last_turn == turn) continue;
            last_turn = turn;
            --untried;
            change.apply(order, trial);
            const double limit = sideways < most_sideways ? now + slack_ : now - slack_;
            const auto outcome =
                plans_.go_on(change.low(), trial, limit, false, trial_starts, change.high(),
                             starts);
            left -= outcome.planned * plans_.scratch().size();
            if (outcome.cost == infinite) continue;
            ++turn;
            untried = changes;
            ++sideways;
            std::copy(trial.begin() + change.low(), trial.end(), order.begin() + change.low());
            // Planned once more: a trial keeps no states, as it is given up as soon as it costs too
            // much.
            const auto again = plans_.go_on(change.low(), order, infinite, true, starts);
            now = again.cost;
            left -= again.planned * plans_.scratch().size();
            if (now < best_ - slack_) {
                best_ = now;
                sideways = 0;
                keep_best(order);
                if (best_ <= bound_ + slack_) return {best_, true};
            }
        }
        return {best_, false};
    }
};

}  // namespace hpcsched
