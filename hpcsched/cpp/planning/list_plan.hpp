#pragma once

#include "core/profile.hpp"
#include "core/steps.hpp"
#include "planning/start_time_costs.hpp"

namespace hpcsched {

/// List scheduling over the data of a model: one job, an order, and the rest of an order.

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
};

/// Free resources over time: steps where units are counted, otherwise a profile of nodes. Shared
/// resources are rows behind those of the nodes, with the first resource type alone. Where nothing
/// is free for ever, a job may never fit.
class FreeResources {
public:
    FreeResources() = default;
    explicit FreeResources(Profile profile) : profile_(std::move(profile)) {}
    explicit FreeResources(Steps steps) : is_counted_(true), steps_(std::move(steps)) {}

    /// Number of segments in use, a measure of the work of a look at them.
    int64_t size() const { return is_counted_ ? steps_.size() : profile_.size(); }

    /// Return the earliest start of a job with enough nodes and shared resources; `never` if none.
    int64_t earliest_start(int64_t job, const ModelJobs& jobs) const;

    /// Reserve a job's earliest start, which is returned; `never` if there is none. Writes the
    /// units on each node, `[N]`.
    int64_t plan_job(int64_t job, const ModelJobs& jobs, View<int64_t> placed);

    /// Take what a job holds on nodes, and draws, from `begin` on.
    void take(int64_t job, const ModelJobs& jobs, int64_t begin, View<const int64_t> placed);

private:
    bool is_counted_ = false;
    Profile profile_;
    Steps steps_;

    int64_t earliest_in_shared(int64_t begin, int64_t run_time, View<const int64_t> draws,
                               int64_t nodes) const;
    void choose_nodes(int64_t job, const ModelJobs& jobs, int64_t begin, View<int64_t> placed);
};

/// Plan each job of an order at its earliest start beside those before it; false if one has none.
bool plan_in_order(View<const int64_t> order, const ModelJobs& jobs, FreeResources free,
                   View<int64_t> starts, Matrix<int64_t> placed);

/// Plans of many orders of the same jobs.
class OrderPlans {
public:
    struct Outcome {
        double cost;  // infinite where the order was given up
        int64_t planned;  // number of jobs
    };

    /// The state before a position of an order, to go on from there.
    struct Kept {
        FreeResources free;
        double paid = 0.0;  // cost of the jobs so far
        int64_t ended = 0;  // last end so far
    };

    /// `least` is the least cost of each job, `kinds` equal numbers for jobs that are exchangeable,
    /// and `others_end` the last end of jobs that are not in the orders of `count` jobs. `placed`
    /// receives the units of each job on each node in the plan made last, `[J, N]`.
    OrderPlans(const ModelJobs& jobs, const StartTimeCosts& costs, View<const double> least,
               View<const int64_t> kinds, int64_t others_end, FreeResources free, int64_t count,
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
                  View<int64_t> starts, int64_t last = -1, View<const int64_t> known = {});

    /// Keep the present state as the one before a position.
    void keep(int64_t k, double paid, int64_t ended) { kept_[k] = {scratch_, paid, ended}; }

    const Kept& kept(int64_t k) const { return kept_[k]; }
    FreeResources& scratch() { return scratch_; }

private:
    const ModelJobs& jobs_;
    const StartTimeCosts& costs_;
    View<const double> least_;
    View<const int64_t> kinds_;
    int64_t others_end_;
    std::vector<Kept> kept_;
    FreeResources scratch_;
    Matrix<int64_t> placed_;

    bool is_as_before(int64_t first, int64_t last, View<const int64_t> order,
                      View<const int64_t> known, View<const int64_t> starts) const;
};

}  // namespace hpcsched
