#pragma once

#include "planning/list_plan.hpp"
#include "core/random.hpp"

namespace hpcsched {

/// One pass of large neighbourhood search over jobs: each is planned anew, together with its
/// neighbourhood.
struct Pass {
    View<const int64_t> seeds;  // jobs to look around
    int64_t width;  // number of jobs that are planned anew together
    int64_t budget;  // number of segments that may be looked through
    int64_t& random;  // state of the random numbers
};

/// The plan of a whole trace.
struct TracePlan {
    View<int64_t> order;  // the jobs by start
    View<int64_t> starts;
    Matrix<int64_t> placed;  // [J, N]
};

/// Number of orders tried, for each job of a neighbourhood.
constexpr int64_t tries_of_each = 3;

struct Window {
    int64_t begin;
    int64_t end;
};

inline void copy_row(Matrix<const int64_t> from, Matrix<int64_t> to, int64_t row)
{
    std::copy(from.row(row).begin(), from.row(row).end(), to.row(row).begin());
}

/// Large neighbourhood search over the plan of a trace, around each seed.
///
/// All jobs but a few that start near each other keep their starts and nodes. The few are planned
/// anew, in many orders, beside the others and not before their submissions. What they cost
/// together is known exactly, so a change is kept just where it makes the whole plan better.
/// `least` is the least cost of each job.
class NeighbourhoodSearch {
public:
    NeighbourhoodSearch(const Pass& pass, const ModelJobs& jobs, const StartTimeCosts& costs,
                        View<const double> least, const TracePlan& plan)
        : pass_(pass),
          releases_(jobs.releases.begin(), jobs.releases.end()),
          jobs_(jobs),
          costs_(costs),
          least_(least),
          plan_(plan),
          count_(plan.order.size()),
          sorted_starts_(static_cast<size_t>(count_)),
          place_(static_cast<size_t>(count_)),
          is_free_(static_cast<size_t>(count_)),
          trial_starts_(static_cast<size_t>(count_)),
          best_starts_(static_cast<size_t>(count_)),
          trial_placed_(count_, plan.placed.columns()),
          best_placed_(count_, plan.placed.columns())
    {
        jobs_.releases = releases_;
        for (const int64_t run_time : jobs.run_times) longest_ = std::max(longest_, run_time);
        find_places();
    }

    /// Go through all seeds; return the rest of the budget.
    int64_t run()
    {
        int64_t budget = pass_.budget;
        for (const int64_t seed : pass_.seeds) {
            if (budget <= 0) break;
            if (!is_at_least_cost(seed)) budget -= improve_around(seed);
        }
        return budget;
    }

private:
    const Pass pass_;
    Numbers releases_;  // of the jobs, that of a neighbourhood while it is planned anew
    ModelJobs jobs_;
    const StartTimeCosts& costs_;
    View<const double> least_;
    const TracePlan plan_;
    int64_t count_;
    int64_t longest_ = 0;  // jobs that started longer ago than this have ended
    Numbers sorted_starts_;
    Numbers place_;  // of each job in the order of starts
    std::vector<bool> is_free_;
    // Of the jobs of a neighbourhood; here, as to make them takes as long as the whole trace.
    Numbers trial_starts_;
    Numbers best_starts_;
    Table<int64_t> trial_placed_;
    Table<int64_t> best_placed_;

    int64_t end_of(int64_t job) const { return plan_.starts[job] + jobs_.run_times[job]; }
    int64_t first_from(int64_t time) const
    {
        return std::ranges::lower_bound(sorted_starts_, time) - sorted_starts_.begin();
    }

    void find_places()
    {
        for (int64_t k = 0; k < count_; ++k) {
            sorted_starts_[k] = plan_.starts[plan_.order[k]];
            place_[plan_.order[k]] = k;
        }
    }

    void sort_again()
    {
        const View<int64_t> order = plan_.order, starts = plan_.starts;
        // Nearly in order still, so that this takes one look at most of them.
        for (int64_t k = 1; k < count_; ++k) {
            const int64_t job = order[k];
            int64_t i = k;
            for (; i > 0 && starts[order[i - 1]] > starts[job]; --i) order[i] = order[i - 1];
            order[i] = job;
        }
        find_places();
    }

    /// Whether a job gains nothing by moving: it is at its least, and the last end does not count.
    bool is_at_least_cost(int64_t job) const
    {
        const double above = costs_.cost_at(job, plan_.starts[job]) - least_[job];
        return above <= 1e-9 * std::abs(least_[job]) && costs_.makespan == 0.0;
    }

    /// Return up to `width` places in the order of starts, ascending. They are around place `at`,
    /// of the jobs from place `begun` on, which start while the job at `at` waits; half of the time
    /// next to each other, else strewn.
    Numbers choose(int64_t at, int64_t begun) const
    {
        const int64_t width = pass_.width;
        int64_t& random = pass_.random;
        int64_t low = std::max(int64_t{0}, std::min(begun, at) - width / 4);
        int64_t high = std::min(count_, at + width / 2 + 1);
        const int64_t widest = uniform(random) < 0.5 ? 6 * width : width;
        if (high - low > widest) {
            low += random_below(high - low - widest + 1, random);
            high = low + widest;
        }
        Numbers chosen;
        int64_t left = high - low, missing = std::min(width, left);
        for (int64_t k = low; k < high; ++k, --left) {
            // Selection sampling: each subset of the size is equally likely, and comes in order.
            if (uniform(random) * static_cast<double>(left) < static_cast<double>(missing)) {
                chosen.push_back(k);
                --missing;
            }
        }
        return chosen;
    }

    /// Return the room beside the jobs that keep their starts in a window; none is free after it.
    FreeResources room_beside(const Window& window) const
    {
        FreeResources free(window.begin, jobs_);
        // Only jobs that can overlap the window, found by bisection in the order of starts.
        for (int64_t k = first_from(window.begin - longest_); k < first_from(window.end); ++k) {
            const int64_t job = plan_.order[k];
            if (is_free_[job] || end_of(job) <= window.begin) continue;
            free.take(job, jobs_, std::max(plan_.starts[job], window.begin),
                      std::min(end_of(job), window.end), plan_.placed.row(job));
        }
        free.close_from(window.end, jobs_);
        return free;
    }

    /// Plan a few jobs in many orders; return the least cost, and keep its plan as the best one if
    /// it is less than `before`. Adds the segments looked through to `work`.
    double plan_anew(Numbers order, double before, OrderPlans<ModelJobs, FreeResources>& plans, int64_t& work)
    {
        const auto count = static_cast<int64_t>(order.size()), tries = tries_of_each * pass_.width;
        Numbers trial = order;
        // As in the search of orders: less than this is rounding.
        const double slack = 1e-12 * std::abs(before);
        double now = infinite, best = before;
        for (int64_t tried = 0; tried <= tries; ++tried) {
            int64_t low = 0;
            if (tried != 0) {
                const Change change = Change::draw(count, 1.0, pass_.random);
                change.apply(order, trial);
                low = change.low();
            }
            const auto outcome = plans.go_on(low, trial, now + slack, false, trial_starts_);
            work += outcome.planned * plans.scratch().size();
            if (outcome.cost == infinite) {
                if (tried == 0) break;
                continue;
            }
            now = outcome.cost;
            std::copy(trial.begin() + low, trial.end(), order.begin() + low);
            // Starts of positions before `low` are those of the order before: planned again.
            const int64_t first = outcome.cost < best - slack ? 0 : low;
            const auto again = plans.go_on(first, order, infinite, true, trial_starts_);
            work += again.planned * plans.scratch().size();
            if (again.cost < best - slack) {
                best = again.cost;
                for (const int64_t job : order) {
                    best_starts_[job] = trial_starts_[job];
                    copy_row(trial_placed_, best_placed_, job);
                }
            }
        }
        return best;
    }

    /// Plan the neighbourhood of a job anew; return the segments looked through.
    int64_t improve_around(int64_t seed)
    {
        const int64_t at = place_[seed];
        const Numbers chosen = choose(at, first_from(costs_.submit[seed]));
        if (chosen.size() < 2) return 0;
        Numbers jobs, releases;
        double before = 0.0;
        int64_t end = 0;
        const int64_t first = sorted_starts_[chosen[0]];
        const int64_t width_before = std::max(int64_t{0}, chosen[0] - pass_.width);
        const int64_t begin =
            std::min(first, std::max(costs_.submit[seed], sorted_starts_[width_before]));
        for (const int64_t k : chosen) {
            const int64_t job = plan_.order[k];
            jobs.push_back(job);
            is_free_[job] = true;
            before += costs_.cost_at(job, plan_.starts[job]);
            end = std::max(end, end_of(job));
            // Nothing before `begin` is known to be free.
            releases.push_back(releases_[job]);
            releases_[job] = std::max(releases_[job], begin);
        }
        // A little more than the present plan takes, as one job may end later for the others' good.
        const Window window{begin, end + (end - begin) / 4 + 1};
        int64_t others_end = 0;
        if (costs_.makespan > 0.0) {
            for (int64_t job = 0; job < count_; ++job)
                if (!is_free_[job]) others_end = std::max(others_end, end_of(job));
            before += costs_.makespan * static_cast<double>(std::max(others_end, end));
        }
        OrderPlans<ModelJobs, FreeResources> plans(jobs_, costs_, least_, {}, others_end, room_beside(window),
                         static_cast<int64_t>(jobs.size()), trial_placed_);
        int64_t work = 0;
        const bool is_better = plan_anew(jobs, before, plans, work) < before;
        for (std::size_t k = 0; k < jobs.size(); ++k) {
            const int64_t job = jobs[k];
            is_free_[job] = false;
            releases_[job] = releases[k];
            if (!is_better) continue;
            plan_.starts[job] = best_starts_[job];
            copy_row(best_placed_, plan_.placed, job);
        }
        if (is_better) sort_again();
        return work;
    }
};

}  // namespace hpcsched
