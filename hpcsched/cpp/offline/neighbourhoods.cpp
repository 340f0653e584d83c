#include "offline/neighbourhoods.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "planning/random.hpp"

namespace hpcsched {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Number of orders tried, for each job of a neighbourhood.
constexpr int64_t tries_of_each = 3;

/// A few jobs and their costs, numbered anew.
class FewJobs {
public:
    /// Nothing before `begin` is known to be free.
    FewJobs(const Numbers& numbers, int64_t begin, const ModelJobs& jobs,
            const StartTimeCosts& costs);

    ModelJobs jobs() const
    {
        return {aggregated_, units_, requests_, run_times_, room_, capacity_, draws_, releases_};
    }

    StartTimeCosts costs() const
    {
        StartTimeCosts costs = all_costs_;
        costs.weights = weights_;
        costs.free = free_;
        costs.amounts = amounts_;
        costs.submit = submit_;
        costs.run_times = cost_run_times_;
        return costs;
    }

private:
    bool aggregated_;
    Capacity capacity_;
    StartTimeCosts all_costs_;
    Numbers units_;
    Numbers run_times_;
    Numbers releases_;
    Numbers submit_;
    Numbers cost_run_times_;
    std::vector<double> amounts_;
    Table<int64_t> requests_;
    Table<int64_t> room_;
    Table<int64_t> draws_;
    Table<double> weights_;
    Table<double> free_;
};

template <class T>
Table<T> rows_of(Matrix<const T> all, const Numbers& numbers)
{
    Table<T> some(static_cast<int64_t>(numbers.size()), all.columns());
    for (size_t i = 0; i < numbers.size(); ++i)
        std::copy(all.row(numbers[i]).begin(), all.row(numbers[i]).end(),
                  some.row(static_cast<int64_t>(i)).begin());
    return some;
}

template <class T>
Table<T> columns_of(Matrix<const T> all, const Numbers& numbers)
{
    Table<T> some(all.rows(), static_cast<int64_t>(numbers.size()));
    for (int64_t t = 0; t < all.rows(); ++t)
        for (size_t i = 0; i < numbers.size(); ++i)
            some(t, static_cast<int64_t>(i)) = all(t, numbers[i]);
    return some;
}

FewJobs::FewJobs(const Numbers& numbers, int64_t begin, const ModelJobs& jobs,
                 const StartTimeCosts& costs)
    : aggregated_(jobs.aggregated),
      capacity_(jobs.capacity),
      all_costs_(costs),
      requests_(rows_of(jobs.requests, numbers)),
      room_(rows_of(jobs.room, numbers)),
      draws_(rows_of(jobs.draws, numbers)),
      weights_(columns_of(costs.weights, numbers)),
      free_(columns_of(costs.free, numbers))
{
    for (const int64_t job : numbers) {
        units_.push_back(jobs.units[job]);
        run_times_.push_back(jobs.run_times[job]);
        releases_.push_back(std::max(jobs.releases[job], begin));
        submit_.push_back(costs.submit[job]);
        cost_run_times_.push_back(costs.run_times[job]);
        amounts_.push_back(costs.amounts[job]);
    }
}

struct Window {
    int64_t begin;
    int64_t end;
};

/// Large neighbourhood search over a plan.
class Search {
public:
    Search(const Pass& pass, const ModelJobs& jobs, const StartTimeCosts& costs,
           View<const double> least, const TracePlan& plan);

    int64_t run();

private:
    const Pass& pass_;
    const ModelJobs& jobs_;
    const StartTimeCosts& costs_;
    View<const double> least_;
    const TracePlan& plan_;
    int64_t count_;
    int64_t longest_ = 0;  // jobs that started longer ago than this have ended
    Numbers sorted_starts_;
    Numbers place_;  // of each job in the order of starts
    std::vector<bool> is_free_;

    int64_t end_of(int64_t job) const { return plan_.starts[job] + jobs_.run_times[job]; }
    int64_t first_from(int64_t time) const
    {
        return std::ranges::lower_bound(sorted_starts_, time) - sorted_starts_.begin();
    }
    void find_places();
    void sort_again();
    bool is_at_least_cost(int64_t job) const;
    Numbers choose(int64_t at, int64_t begun) const;
    Numbers fixed_beside(const Window& window) const;
    FreeResources room_beside(const Numbers& fixed, const Window& window) const;
    FreeResources steps_beside(const Numbers& fixed, const Window& window) const;
    int64_t improve_around(int64_t seed);
};

Search::Search(const Pass& pass, const ModelJobs& jobs, const StartTimeCosts& costs,
               View<const double> least, const TracePlan& plan)
    : pass_(pass),
      jobs_(jobs),
      costs_(costs),
      least_(least),
      plan_(plan),
      count_(plan.order.size()),
      sorted_starts_(static_cast<size_t>(count_)),
      place_(static_cast<size_t>(count_)),
      is_free_(static_cast<size_t>(count_))
{
    for (int64_t job = 0; job < count_; ++job) longest_ = std::max(longest_, jobs.run_times[job]);
    find_places();
}

void Search::find_places()
{
    for (int64_t k = 0; k < count_; ++k) {
        sorted_starts_[k] = plan_.starts[plan_.order[k]];
        place_[plan_.order[k]] = k;
    }
}

void Search::sort_again()
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
bool Search::is_at_least_cost(int64_t job) const
{
    const double above = costs_.cost_at(job, plan_.starts[job]) - least_[job];
    return above <= 1e-9 * std::abs(least_[job]) && costs_.makespan == 0.0;
}

/// Return up to `width` places in the order of starts, ascending. They are around place `at`, of
/// the jobs from place `begun` on, which start while the job at `at` waits; half of the time next
/// to each other, else strewn.
Numbers Search::choose(int64_t at, int64_t begun) const
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
        // Selection sampling: each subset of the size is equally likely, and comes out in order.
        if (uniform(random) * static_cast<double>(left) < static_cast<double>(missing)) {
            chosen.push_back(k);
            --missing;
        }
    }
    return chosen;
}

/// Return the jobs that keep their starts and run within a window.
Numbers Search::fixed_beside(const Window& window) const
{
    Numbers fixed;
    // Only jobs that can overlap the window, found by bisection in the order of starts.
    for (int64_t k = first_from(window.begin - longest_); k < first_from(window.end); ++k) {
        const int64_t job = plan_.order[k];
        if (!is_free_[job] && end_of(job) > window.begin) fixed.push_back(job);
    }
    return fixed;
}

/// Return the room beside fixed jobs in a window; nothing is free after that.
FreeResources Search::room_beside(const Numbers& fixed, const Window& window) const
{
    if (jobs_.aggregated) return steps_beside(fixed, window);
    const Matrix<const int64_t> capacity = jobs_.capacity.of_node;
    const int64_t nodes = capacity.rows(), types = capacity.columns();
    Table<int64_t> idle(types, nodes);
    for (int64_t node = 0; node < nodes; ++node)
        for (int64_t r = 0; r < types; ++r) idle(r, node) = capacity(node, r);
    Profile profile(window.begin, idle);
    Numbers amounts(static_cast<size_t>(types));
    for (const int64_t job : fixed) {
        // Only its part within the window: segments begin and end with it.
        const int64_t first = std::max(plan_.starts[job], window.begin);
        const int64_t last = std::min(end_of(job), window.end);
        for (int64_t node = 0; node < nodes; ++node) {
            if (plan_.placed(job, node) == 0) continue;
            for (int64_t r = 0; r < types; ++r)
                amounts[r] = jobs_.requests(job, r) * plan_.placed(job, node);
            profile.take(node, first, last, amounts);
        }
    }
    for (int64_t node = 0; node < nodes; ++node) {
        // Nothing can be free for longer than for ever, so no end of this is looked for.
        for (int64_t r = 0; r < types; ++r) amounts[r] = capacity(node, r) + 1;
        profile.take(node, window.end, never, amounts);
    }
    return FreeResources(std::move(profile));
}

FreeResources Search::steps_beside(const Numbers& fixed, const Window& window) const
{
    struct Change {
        int64_t time;
        int64_t amount;
    };
    std::vector<Change> changes;
    for (const int64_t job : fixed) {
        const int64_t demand = jobs_.units[job] * jobs_.requests(job, 0);
        changes.push_back({std::max(plan_.starts[job], window.begin), -demand});
        changes.push_back({std::min(end_of(job), window.end), demand});
    }
    std::ranges::sort(changes, std::ranges::less{}, &Change::time);
    Steps steps(window.begin, jobs_.capacity.of_node(0, 0));
    for (const Change& change : changes) {
        steps.begin_step(change.time);
        steps.add_to_last(change.amount);
    }
    steps.begin_step(window.end);
    // Less than nothing, as on nodes above: every job must end within the window.
    steps.add_to_last(-1 - steps.free(steps.size() - 1));
    return FreeResources(std::move(steps));
}

struct NewPlan {
    double cost;
    int64_t work;  // segments looked through
    Numbers starts;
    Table<int64_t> placed;
};

/// Plan a few jobs in many orders; return the plan of least cost, if it is less than `before`.
NewPlan plan_anew(int64_t tries, double before, OrderPlans& plans, int64_t count, int64_t nodes,
                  int64_t& random)
{
    NewPlan best{before, 0, Numbers(static_cast<size_t>(count)), Table<int64_t>(count, nodes)};
    Numbers order(static_cast<size_t>(count)), trial_starts(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    Numbers trial = order;
    // As in the search of orders: less than this is rounding.
    const double slack = 1e-12 * std::abs(before);
    double now = infinite;
    for (int64_t tried = 0; tried <= tries; ++tried) {
        int64_t low = 0;
        if (tried != 0) {
            const Change change = draw_change(count, 1.0, random);
            apply(change, order, trial);
            low = change.low();
        }
        const auto outcome =
            plans.go_on(low, -1, trial, now + slack, false, best.starts, trial_starts);
        best.work += outcome.planned * plans.scratch().size();
        if (outcome.cost == infinite) {
            if (tried == 0) break;
            continue;
        }
        now = outcome.cost;
        std::copy(trial.begin() + low, trial.end(), order.begin() + low);
        // Starts of positions before `low` are those of the order before: they are planned again.
        const int64_t first = outcome.cost < best.cost - slack ? 0 : low;
        const auto again =
            plans.go_on(first, -1, order, infinite, true, best.starts, trial_starts);
        best.work += again.planned * plans.scratch().size();
        if (again.cost < best.cost - slack) {
            best.cost = again.cost;
            best.starts = trial_starts;
            best.placed = plans.placed();
        }
    }
    return best;
}

/// Plan the neighbourhood of a job anew; return the segments looked through.
int64_t Search::improve_around(int64_t seed)
{
    const int64_t at = place_[seed];
    const Numbers chosen = choose(at, first_from(costs_.submit[seed]));
    if (chosen.size() < 2) return 0;
    Numbers numbers;
    std::vector<double> least;
    double before = 0.0;
    int64_t end = 0;
    for (const int64_t k : chosen) {
        const int64_t job = plan_.order[k];
        numbers.push_back(job);
        least.push_back(least_[job]);
        is_free_[job] = true;
        before += costs_.cost_at(job, plan_.starts[job]);
        end = std::max(end, end_of(job));
    }
    const int64_t first = sorted_starts_[chosen[0]];
    const int64_t width_before = std::max(int64_t{0}, chosen[0] - pass_.width);
    const int64_t begin =
        std::min(first, std::max(costs_.submit[seed], sorted_starts_[width_before]));
    // A little more than the present plan takes, as one job may end later for the others' good.
    const Window window{begin, end + (end - begin) / 4 + 1};
    int64_t others_end = 0;
    if (costs_.makespan > 0.0) {
        for (int64_t job = 0; job < count_; ++job)
            if (!is_free_[job]) others_end = std::max(others_end, end_of(job));
        before += costs_.makespan * static_cast<double>(std::max(others_end, end));
    }
    const FreeResources room = room_beside(fixed_beside(window), window);
    for (const int64_t job : numbers) is_free_[job] = false;
    const auto count = static_cast<int64_t>(numbers.size());
    Numbers kinds(numbers.size());
    std::iota(kinds.begin(), kinds.end(), 0);
    const FewJobs few(numbers, begin, jobs_, costs_);
    const ModelJobs few_jobs = few.jobs();
    const StartTimeCosts few_costs = few.costs();
    OrderPlans plans(few_jobs, few_costs, least, kinds, others_end, room);
    const NewPlan found = plan_anew(tries_of_each * pass_.width, before, plans, count,
                                    plan_.placed.columns(), pass_.random);
    if (!(found.cost >= before)) {
        for (int64_t k = 0; k < count; ++k) {
            plan_.starts[numbers[k]] = found.starts[k];
            std::copy(found.placed.row(k).begin(), found.placed.row(k).end(),
                      plan_.placed.row(numbers[k]).begin());
        }
        sort_again();
    }
    return found.work;
}

int64_t Search::run()
{
    int64_t budget = pass_.budget;
    for (const int64_t seed : pass_.seeds) {
        if (budget <= 0) break;
        if (!is_at_least_cost(seed)) budget -= improve_around(seed);
    }
    return budget;
}

}  // namespace

int64_t search_neighbourhoods(const Pass& pass, const ModelJobs& jobs,
                              const StartTimeCosts& costs, View<const double> least,
                              const TracePlan& plan)
{
    return Search(pass, jobs, costs, least, plan).run();
}

}  // namespace hpcsched
