#pragma once

#include <limits>
#include <tuple>

#include "core/allocators.hpp"
#include "core/profile.hpp"
#include "core/steps.hpp"
#include "planning/start_time_costs.hpp"

namespace hpcsched {

/// List scheduling over the data of a model: one job, an order, and the rest of an order.

constexpr double infinite = std::numeric_limits<double>::infinity();

template <class T>
bool same_rows(Matrix<T> matrix, int64_t one, int64_t other)
{
    const View<T> first = matrix.row(one), second = matrix.row(other);
    return std::equal(first.begin(), first.end(), second.begin());
}

/// Jobs and nodes of a model.
struct ModelJobs {
    bool counted;  // units are counted, so that nodes are not distinguished
    View<const int64_t> units;
    Matrix<const int64_t> requests;  // [J, R]
    View<const int64_t> run_times;
    Matrix<const int64_t> room;  // units that fit on each idle node, [J, N]
    Capacity capacity;
    Matrix<const int64_t> draws;  // of each job from each shared resource, [J, P]
    View<const int64_t> releases;  // step before which no job is planned

    int64_t node_count() const { return capacity.of_node.rows(); }
    int64_t demand(int64_t job) const { return units[job] * requests(job, 0); }
    UnitRequest request(int64_t job) const { return {requests.row(job), room.row(job), false}; }
    /// Whether two jobs of one run time ask for the same.
    bool are_alike(int64_t j, int64_t i) const
    {
        return units[j] == units[i] && same_rows(requests, j, i) && same_rows(draws, j, i) &&
               same_rows(room, j, i);
    }
};

/// Return the earliest start from `begin` on with enough of a shared resource; `never` if none.
inline int64_t earliest_in_one(const Profile& profile, int64_t resource, int64_t begin,
                               int64_t run_time, int64_t amount)
{
    int64_t s = resource;
    while (s != none && profile.start(s) < begin + run_time) {
        const int64_t after = profile.after(s);
        if (profile.free(s, 0) < amount && (after == none || profile.start(after) > begin)) {
            if (after == none) return never;
            begin = profile.start(after);
        }
        s = after;
    }
    return begin;
}

/// Free resources over time: steps where units are counted, otherwise a profile of nodes. Shared
/// resources are rows behind those of the nodes, with the first resource type alone. Where nothing
/// is free for ever, a job may never fit.
class FreeResources {
public:
    FreeResources() = default;
    explicit FreeResources(Profile profile) : profile_(std::move(profile)) {}

    /// What the idle nodes offer.
    FreeResources(int64_t now, const ModelJobs& jobs) : is_counted_(jobs.counted)
    {
        const Matrix<const int64_t> capacity = jobs.capacity.of_node;
        if (is_counted_) {
            steps_ = Steps(now, capacity(0, 0));
            return;
        }
        Table<int64_t> idle(capacity.columns(), capacity.rows());
        for (int64_t node = 0; node < capacity.rows(); ++node)
            for (int64_t r = 0; r < capacity.columns(); ++r) idle(r, node) = capacity(node, r);
        profile_ = Profile(now, idle);
    }
    explicit FreeResources(Steps steps) : is_counted_(true), steps_(std::move(steps)) {}

    /// Number of segments in use, a measure of the work of a look at them.
    int64_t size() const { return is_counted_ ? steps_.size() : profile_.size(); }

    /// Return the earliest start of a job with enough nodes and shared resources; `never` if none.
    int64_t earliest_start(int64_t job, const ModelJobs& jobs) const
    {
        const int64_t run_time = jobs.run_times[job];
        // Equal requests: counting units is enough.
        if (is_counted_)
            return steps_.earliest(jobs.releases[job], run_time, jobs.demand(job)).begin;
        int64_t begin = jobs.releases[job];
        while (true) {  // nodes and shared resources in turn, until they agree
            begin = profile_.earliest(begin, never, jobs.units[job], run_time, jobs.request(job),
                                      jobs.capacity);
            if (begin == never) return never;
            const int64_t later =
                earliest_in_shared(begin, run_time, jobs.draws.row(job), jobs.node_count());
            if (later == begin || later == never) return later;
            begin = later;
        }
    }

    /// Reserve a job's earliest start, which is returned; `never` if there is none. Writes the
    /// units on each node, `[N]`.
    int64_t plan_job(int64_t job, const ModelJobs& jobs, View<int64_t> placed)
    {
        if (is_counted_) {
            placed[0] = jobs.units[job];
            return steps_.reserve(jobs.releases[job], jobs.run_times[job], jobs.demand(job));
        }
        const int64_t begin = earliest_start(job, jobs);
        if (begin == never) return never;
        choose_nodes(job, jobs, begin, placed);
        take(job, jobs, begin, begin + jobs.run_times[job], placed);
        return begin;
    }

    /// Take what a job holds on nodes, and draws, for a time.
    void take(int64_t job, const ModelJobs& jobs, int64_t begin, int64_t end,
              View<const int64_t> placed)
    {
        const int64_t nodes = jobs.node_count();
        if (is_counted_) return steps_.take(begin, end, jobs.demand(job));
        const View<const int64_t> asked = jobs.requests.row(job), draws = jobs.draws.row(job);
        Numbers amounts(static_cast<size_t>(asked.size()));
        for (int64_t node = 0; node < nodes; ++node) {
            if (placed[node] == 0) continue;
            for (int64_t r = 0; r < asked.size(); ++r) amounts[r] = asked[r] * placed[node];
            profile_.take(node, begin, end, amounts);
        }
        for (int64_t p = 0; p < draws.size(); ++p)
            if (draws[p] > 0) profile_.take(nodes + p, begin, end, {&draws[p], 1});
    }

    /// Have less than nothing free from a time on: every job has to end before.
    void close_from(int64_t time, const ModelJobs& jobs)
    {
        if (is_counted_) {
            steps_.begin_step(time);
            return steps_.add_to_last(-1 - steps_.free(steps_.size() - 1));
        }
        for (int64_t node = 0; node < jobs.node_count(); ++node) {
            const View<const int64_t> capacity = jobs.capacity.of_node.row(node);
            Numbers amounts(capacity.begin(), capacity.end());
            for (int64_t& amount : amounts) ++amount;
            profile_.take(node, time, never, amounts);
        }
    }

private:
    bool is_counted_ = false;
    Profile profile_;
    Steps steps_;

    int64_t earliest_in_shared(int64_t begin, int64_t run_time, View<const int64_t> draws,
                               int64_t nodes) const
    {
        // Round robin over the shared resources until all of them agree on one start.
        int64_t agreed = 0, p = 0;
        while (agreed < draws.size()) {
            int64_t later = begin;
            if (draws[p] > 0) {
                later = earliest_in_one(profile_, nodes + p, begin, run_time, draws[p]);
                if (later == never) return never;
            }
            agreed = later == begin ? agreed + 1 : 1;
            begin = later;
            p = (p + 1) % draws.size();
        }
        return begin;
    }

    /// Choose the nodes of a job that begins then, by preference; as many units on each as fit.
    void choose_nodes(int64_t job, const ModelJobs& jobs, int64_t begin, View<int64_t> placed)
    {
        const UnitRequest request = jobs.request(job);
        const int64_t nodes = jobs.node_count(), end = begin + jobs.run_times[job];
        Numbers fits(request.on_idle.begin(), request.on_idle.end());
        Table<double> ranks(2, nodes);
        for (int64_t node = 0; node < nodes; ++node) {
            placed[node] = 0;
            if (fits[node] == 0) continue;
            const int64_t first = profile_.segment_at(node, begin);
            // The fewest units of any segment that the job would touch.
            for (int64_t s = first; fits[node] != 0 && s != none && profile_.start(s) < end;
                 s = profile_.after(s))
                fits[node] =
                    std::min(fits[node], profile_.units_during(s, node, request, jobs.capacity));
            if (fits[node] != 0)
                std::tie(ranks(0, node), ranks(1, node)) =
                    profile_.preference(node, first, end, request.asked, jobs.capacity);
        }
        Placement rooms;
        for (int64_t node = 0; node < nodes; ++node) rooms.emplace_back(node, node + 1, fits[node]);
        for (const Span& span : fill_by_rank(jobs.units[job], rooms, ranks))
            std::fill(placed.begin() + span.first, placed.begin() + span.end, span.units);
    }
};

/// Plan each job of an order at its earliest start beside those before it; false if one has none.
inline bool plan_in_order(View<const int64_t> order, const ModelJobs& jobs, FreeResources free,
                          View<int64_t> starts, Matrix<int64_t> placed)
{
    for (const int64_t job : order) {
        starts[job] = free.plan_job(job, jobs, placed.row(job));
        if (starts[job] == never) return false;
    }
    return true;
}

/// Plans of many orders of the same jobs, which have `run_times`. Free resources plan a job, return
/// its earliest start, and count their segments.
template <class Jobs, class Free>
class OrderPlans {
public:
    struct Outcome {
        double cost;  // infinite where the order was given up
        int64_t planned;  // number of jobs
    };

    /// The state before a position of an order, to go on from there.
    struct Kept {
        Free free;
        double paid = 0.0;  // cost of the jobs so far
        int64_t ended = 0;  // last end so far
    };

    /// `least` is the least cost of each job, `kinds` equal numbers for jobs that are exchangeable,
    /// and `others_end` the last end of jobs that are not in the orders of `count` jobs. `placed`
    /// receives the units of each job on each node in the plan made last, `[J, N]`.
    OrderPlans(const Jobs& jobs, const StartTimeCosts& costs, View<const double> least,
               View<const int64_t> kinds, int64_t others_end, Free free, int64_t count,
               Matrix<int64_t> placed)
        : jobs_(jobs),
          costs_(costs),
          least_(least),
          kinds_(kinds),
          others_end_(others_end),
          kept_(static_cast<size_t>(count)),
          placed_(placed)
    {
        if (count > 0) kept_[0].free = std::move(free);
    }

    /// Plan an order from position `first` on.
    ///
    /// The cost is infinite where a job cannot be planned, where it must come to more than `limit`,
    /// or where the jobs up to position `last` start as in `known`, but for exchangeable jobs, so
    /// that the plan is as good as before (`last` -1: no comparison). The least cost of the
    /// remaining jobs is counted in, so that few orders are planned to the end. With `keeping` the
    /// state before each position is kept.
    Outcome go_on(int64_t first, View<const int64_t> order, double limit, bool keeping,
                  View<int64_t> starts, int64_t last = -1, View<const int64_t> known = {})
    {
        scratch_ = kept_[first].free;
        double cost = kept_[first].paid;
        int64_t end = kept_[first].ended;
        double rest = 0.0;
        for (int64_t k = first; k < order.size(); ++k) rest += least_[order[k]];
        const auto of_end = [&] {
            return costs_.makespan * static_cast<double>(std::max(end, others_end_));
        };
        for (int64_t k = first; k < order.size(); ++k) {
            if (keeping) keep(k, cost, end);
            const int64_t job = order[k], planned = k + 1 - first;
            const int64_t start = scratch_.plan_job(job, jobs_, placed_.row(job));
            if (start == never) return {infinite, planned};
            starts[job] = start;
            end = std::max(end, start + costs_.run_times[job]);
            cost += costs_.cost_at(job, start);
            // From here the job counts with its real cost, no longer with its least.
            rest -= least_[job];
            // A lower bound of the whole order: the cut that makes the search affordable.
            if (cost + rest + of_end() > limit) return {infinite, planned};
            if (k == last && is_as_before(first, last, order, known, starts))
                return {infinite, planned};
        }
        return {cost + of_end(), order.size() - first};
    }

    /// Keep the present state as the one before a position.
    void keep(int64_t k, double paid, int64_t ended) { kept_[k] = {scratch_, paid, ended}; }

    const Kept& kept(int64_t k) const { return kept_[k]; }
    Free& scratch() { return scratch_; }

private:
    const Jobs& jobs_;
    const StartTimeCosts& costs_;
    View<const double> least_;
    View<const int64_t> kinds_;
    int64_t others_end_;
    std::vector<Kept> kept_;
    Free scratch_;
    Matrix<int64_t> placed_;

    /// Whether the jobs at some positions start as in `known`, up to an exchange of equal jobs.
    bool is_as_before(int64_t first, int64_t last, View<const int64_t> order,
                      View<const int64_t> known, View<const int64_t> starts) const
    {
        for (int64_t k = first; k <= last; ++k) {
            const int64_t kind = kinds_[order[k]], start = starts[order[k]];
            int64_t more = 0;
            for (int64_t i = first; i <= last; ++i)
                if (kinds_[order[i]] == kind)
                    more += (starts[order[i]] == start) - (known[order[i]] == start);
            if (more != 0) return false;
        }
        return true;
    }
};

}  // namespace hpcsched
