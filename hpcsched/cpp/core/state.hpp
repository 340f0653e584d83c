#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "core/checkpoints.hpp"
#include "core/counters.hpp"
#include "core/devices.hpp"
#include "core/expected_run_times.hpp"
#include "core/job.hpp"
#include "core/multifactor.hpp"
#include "core/node_runs.hpp"
#include "core/node_scores.hpp"
#include "core/search_settings.hpp"
#include "core/views.hpp"

namespace hpcsched {

/// `N` nodes, `R` resource types, `D` parts of devices of a node, `S` shapes (distinct requests of a unit), `P` shared resources.

/// An allocator that is a Python object.
class ExternalAllocator {
public:
    virtual ~ExternalAllocator() = default;

    /// Return the units of a job on each node, `[N]`, given those that fit and the free amounts.
    virtual Numbers place(int64_t row, View<const int64_t> fits,
                          Matrix<const int64_t> available) = 0;
};

/// Settings of Slurm's schedulers, in seconds and jobs.
struct SlurmBackfill {
    int64_t queue_depth = 0;  // jobs that the main scheduler tries
    int64_t interval = 0;  // least time between two rounds of the backfill scheduler
    int64_t most_tested = 0;  // jobs that it tries
    int64_t most_of_user = 0;  // of one user; 0: no limit
    int64_t resolution = 1;  // to whose multiples it rounds predicted ends up
};

/// Rule, allocator and options.
struct Choices {
    Rule rule = Rule::easy;
    int64_t depth = -1;  // maximum number of reservations of `backfill`; -1: no maximum
    bool own_backfill_order = false;
    Allocator allocator = Allocator::first_fit;
    Correction correction = Correction::one_second;
    bool writes_places = false;
    double relaxation = 0.0;  // maximum delay of the head job as a share of its expected wait
    OrderKind order = OrderKind::by_keys;
    OrderKind behind_order = OrderKind::by_keys;
    std::vector<bool> scarce = {};  // of each resource type; empty for allocators without classes
    std::optional<Compression> compression = {};  // of rules that keep reservations
    double slack_share = 0.0;  // slack of a promise as a share of the promised wait
    int64_t least_slack = 0;
    std::optional<int64_t> window = {};  // seconds from now up to which `backfill` reserves
    SlurmBackfill slurm = {};
    SearchSettings search = {};
    bool learns_run_times = false;  // also where events are noted, and for keys with powers
    Numbers key_powers = {};  // of the expected run time, one a pair of sort keys; see `raise_keys`
    Numbers behind_key_powers = {};
};

/// What a replay does beside its rule.
struct Manner {
    bool by_python = false;  // Python makes the decisions
    bool takes_time = false;  // decisions take simulated time
    bool follows = false;  // events are noted
    bool tells = false;  // observers are told of each instant
    bool holds_jobs = false;  // Python holds jobs back
    bool plans_past_outages = false;  // jobs are shown that wait for the end of announced outages
    bool shows_startable = false;  // only jobs that may all start together, by their limits
};

/// Capacity of each node, `[N, R + D]`, and of all, `[R]`.
struct Capacity {
    Matrix<const int64_t> of_node;
    View<const int64_t> total;
};

/// Request of a unit: amounts, `[R]`, and units that fit on each idle node, `[N]`.
struct UnitRequest {
    View<const int64_t> asked;
    View<const int64_t> on_idle;
    bool exclusive;
    const DeviceRequest* devices = nullptr;

    /// Return the number of units that fit on a node with free amounts, `[R + D]`.
    int64_t units_that_fit(const Capacity& capacity, int64_t node, View<const int64_t> free) const;

    /// Return what units hold of a resource type, or of a part of a device behind these.
    int64_t held(const Capacity& capacity, int64_t node, Held units, int64_t type) const
    {
        if (exclusive) return capacity.of_node(node, type);
        if (type < asked.size()) return units.units * asked[type];
        return (units.devices >> (type - asked.size()) & 1) * (devices ? devices->amount : 0);
    }
};

inline int64_t UnitRequest::units_that_fit(const Capacity& capacity, int64_t node,
                                           View<const int64_t> free) const
{
    // The fit on the idle node also holds restrictions that amounts do not show.
    int64_t fits = on_idle[node];
    if (fits == 0) return 0;
    if (exclusive) {
        for (int64_t r = 0; r < free.size(); ++r)
            if (free[r] != capacity.of_node(node, r)) return 0;
        return fits;
    }
    for (int64_t r = 0; r < asked.size(); ++r) {
        if (asked[r] == 0) continue;
        if (free[r] < asked[r]) return 0;
        // Where at most one unit fits, the check above is enough, and the division is saved.
        if (fits > 1) fits = std::min(fits, free[r] / asked[r]);
    }
    if (devices != nullptr)
        fits = std::min(fits, devices->units_that_fit(free.part(asked.size(), free.size())));
    return fits;
}

struct Shapes {
    Table<int64_t> asked;  // [S, R]
    Table<int64_t> on_idle;  // [S, N]
    Column<Flag> exclusive;
    std::vector<DeviceRequest> devices;  // [S]; empty where nodes have no devices
    Column<Flag> uncountable;  // cannot be planned by number
    Column<int64_t> fitting;  // units that fit now, of active shapes
    Column<int64_t> waiting;  // number of queued jobs
    Column<int64_t> nodes;  // idle nodes that can hold a unit
    Column<int64_t> active;  // those of queued jobs

    int64_t count() const { return asked.rows(); }
    UnitRequest request(int64_t shape) const
    {
        const bool any = !devices.empty() && devices[shape].count != 0;
        return {asked.row(shape), on_idle.row(shape), exclusive[shape] != 0,
                any ? &devices[shape] : nullptr};
    }
};

struct Outages {
    bool any_announced = false;
    Column<int64_t> start;  // announced ones, by start
    Column<int64_t> end;
    Column<int64_t> first;  // outage k is on nodes[first[k]] to before nodes[first[k + 1]]
    Column<int64_t> nodes;

    bool any = false;  // what follows is there
    Column<int64_t> change_time;  // begins and ends of all, announced or not
    Column<int64_t> change_sign;
    Column<int64_t> change_first;
    Column<int64_t> change_nodes;
    Column<int64_t> down;  // current outages of each node
    Column<int64_t> failed;  // those of them that are not announced
    bool any_failed = false;
    Column<Flag> closed;  // nodes without free capacity for that reason
    Column<Flag> missed;  // those of the last round that made reservations
    Column<int64_t> clear_until;  // begin of each node's next announced outage
    Column<int64_t> limits;  // these times, each once, ascending
    bool requeue = false;
    Column<int64_t> kind;  // the same for requests that differ in their nodes only, [S]
    Table<Flag> may_use;  // [S, N]
    Column<int64_t> room;  // units that fit on idle nodes, [S]
    Column<int64_t> narrowed;  // shape of which a shape is a narrower one
    Column<int64_t> narrowed_span;

    View<const int64_t> nodes_of(int64_t k) const { return nodes.part(first[k], first[k + 1]); }
};

struct SharedResources {
    bool any = false;
    Column<int64_t> capacity;  // until the first change
    Column<int64_t> first;  // changes of resource p: first[p] to before first[p + 1]
    Column<int64_t> at;
    Column<int64_t> offer;
    Column<int64_t> every;  // period of the changes; 0: they do not recur
    int64_t period = 0;  // common to all
    int64_t settled = 0;  // from here on all periods are equal
    Table<int64_t> own;  // draw of the job of a row wherever it runs
    Column<int64_t> node;  // draw of a node that is on
    Column<int64_t> drawn;
    Column<int64_t> jobs_on;  // number of jobs on each node
    Column<int64_t> on_until;  // until when each node is on in the plans of a round
    Table<int64_t> levels;  // output: times and draws
    int64_t rounds = 1;  // periods after which decisions have seen all capacities

    int64_t count() const { return node.size(); }

    /// Free amounts in plans: `free[k]`, `[P]`, from `time[k]` to before the next, the last for
    /// ever. Changes of capacity are merged in up to `merged_until`, as they may recur without end.
    struct Steps {
        Numbers time;
        std::vector<Numbers> free;
        int64_t merged_until = 0;
        int64_t last = 0;  // end of the last job
    } steps;
};

/// Limits of groups of jobs; see core/limits.hpp. Amounts are exact up to 2^53.
struct Limits {
    /// What a group of jobs holds.
    struct Counter {
        Counted counted;
        int64_t resource;  // none: 1 for each job
        double ended = 0.0;  // part of ended jobs
        double value = 0.0;
        Column<int64_t> jobs_on = {};  // number of the group's jobs on each node, where nodes count

        bool is_of_time() const
        {
            return counted == Counted::remaining || counted == Counted::committed;
        }
    };

    struct Bound {
        int64_t counter;
        double most;
    };

    /// Counters in which a job counts, and bounds that it must keep to.
    struct Set {
        Numbers counters;
        Numbers bounds;
    };

    bool any = false;
    bool any_over_time = false;
    int64_t release = never;  // when a held job may be within its limits even without an event
    std::vector<Counter> counters;
    std::vector<Bound> bounds;
    std::vector<Set> sets;
};

/// Preemption; see replay/preemption.hpp. Of each class of jobs, `[C]`, what is done to its jobs.
struct Preemption {
    bool any = false;
    bool by_order = false;  // later jobs of the queue's order may be preempted, of all classes
    bool youngest_first = false;
    Table<Flag> may_preempt;  // by the class of the preemptor, [C, C]
    Column<int64_t> mode;  // `PreemptMode`
    Column<int64_t> exempt;  // seconds of run time before a job may be preempted
    Column<int64_t> grace;  // seconds until its end
    Column<int64_t> priority;  // the lowest is preempted first
    Column<Flag> released;  // resource types that suspended jobs do not keep, [R]
    int64_t requeue_delay = 0;  // seconds until a job that was preempted may start again
    Numbers suspended;  // rows, in order
    std::vector<std::pair<int64_t, int64_t>> requeued;  // rows that may not start yet, until when
};

/// Jobs in order of submission.
struct Batch {
    Column<int64_t> number;
    Column<int64_t> submit_time;
    Column<int64_t> run_time;
    Column<int64_t> predicted;
    Column<int64_t> requested_time;
    Column<int64_t> units;
    Column<int64_t> shape;
    Table<int64_t> keys;
    Table<int64_t> behind_keys;
    Column<Flag> watched;
    bool is_predicted = true;  // otherwise Python is asked at submission
    bool last = false;
    Column<int64_t> refused;  // cause of the refusal, -1 without one; empty if none is
    Table<int64_t> draws;
    Table<int64_t> owners;
    Column<int64_t> limits;  // set of limits, none: -1; empty without limits
    Table<int64_t> precedence;  // `Job::rank` and `Job::kind`; empty: all are alike
    Table<int64_t> waiting_times;  // begin time and `Job::leave`; empty without any
};

/// Nodes of jobs, one job after another.
struct Places {
    Column<int32_t> nodes;
    Column<int32_t> units;
    Column<int64_t> devices;  // parts that a unit takes; empty where nodes have no devices

    int64_t size() const { return nodes.size(); }
};

struct Output {
    /// Numbers of jobs, lost attempts and rounds at the end of the last instant.
    struct Finished {
        int64_t jobs = 0;
        int64_t lost = 0;
        int64_t rounds = 0;
    } finished;
    Column<LeftJob> jobs;
    Places places;
    Column<LeftJob> lost;  // attempts, with places of their own
    Places lost_places;
    Column<RoundRecord> rounds;
    Table<int64_t> amounts;  // of each round: waiting, free and idle amounts
    Column<double> decision_times;

    void clear()
    {
        Table<int64_t> none(0, amounts.columns());
        *this = {};
        amounts = std::move(none);
    }
    void finish_instant() { finished = {jobs.size(), lost.size(), rounds.size()}; }

    /// Drop what was written after the last instant.
    void keep_finished();
};

/// Output for observers.
struct Followed {
    Column<Event> events;
    Places starts;
};

/// Decisions that are pending, or made by Python.
struct Flight {
    Column<int64_t> lost;  // idle capacity × seconds meanwhile, [R]
    Numbers dismissed;  // rows of the jobs that Python rejects
    double decision_seconds = 0.0;
};

/// Jobs whose starts are sought: places among all submitted, ascending, and start times.
struct Sought {
    Numbers jobs;
    Numbers starts;
    int64_t missing = -1;  // number of those that have not started
};

/// Nodes by what is free now; see core/fit_counts.hpp.
struct CountedNodes {
    bool are_current = false;
    NodeRuns runs;
    std::vector<int32_t> bounds;  // reasons for a run to begin at a node, [N + 1]
    std::vector<bool> known;  // shapes whose bounds are among them
};

/// State of a replay, or of a single problem.
struct State {
    bool by_node = true;  // otherwise slots are counted
    Manner manner;
    Choices choices;
    Counters counters;
    Table<int64_t> node_capacity;  // [N, R + D], with parts of devices behind the resource types
    Column<int64_t> total_capacity;
    Table<int64_t> available;  // [R + D, N]
    Column<int64_t> free_amounts;
    Column<int64_t> waiting_amounts;
    Column<int64_t> held_amounts;  // the part of jobs that are held back
    Column<int64_t> running_amounts;
    Column<Job> jobs;
    Table<int64_t> keys;
    Table<int64_t> behind_keys;
    Table<int64_t> owners;  // user and partition of each row, -1 if unknown, where one is needed
    std::optional<ExpectedRunTimes> expected_run_times;  // where run times are learnt
    std::optional<Multifactor> priority;  // of orders by priority
    std::optional<Multifactor> behind_priority;
    Column<int64_t> queue;  // waiting rows in the order in which they are considered
    Column<int64_t> behind;  // the same in the backfill order
    Column<int64_t> running;  // by predicted end
    Column<int64_t> ends;  // the same as a heap by real end
    Column<int64_t> started;  // by the last round, in order
    Column<Cell> cells;
    Column<int64_t> interval_low;  // intervals of free slots
    Column<int64_t> interval_high;
    Column<int64_t> first_slot;  // of each node, [N + 1]
    Shapes shapes;
    Outages outages;
    Preemption preemption;
    Checkpoints checkpoints;
    bool ranks = false;  // whether jobs differ in rank
    Followed followed;
    Flight flight;
    SharedResources shared;
    Limits limits;
    std::shared_ptr<Batch> batch = std::make_shared<Batch>();  // copies of a state share it
    Output output;
    Sought sought;
    CountedNodes nodes;
    std::vector<Timer> timers;  // begin times and withdrawals, as a heap
    std::optional<NodeScores> scores;  // of allocators by scores
    std::vector<double> pressure;  // on each resource type in this round, [R]
    SearchMemory search;
    ExternalAllocator* external = nullptr;  // while Python places jobs

    /// An idle system without jobs, of `types` resource types; what nodes have beside them are parts
    /// of devices. `first_slot` is `[0]` where slots are not counted; jobs have so
    /// many sort keys in each order.
    State(Matrix<const int64_t> of_node, int64_t types, View<const int64_t> first_slot, Choices choices,
          Manner manner, int64_t keys, int64_t behind_keys);

    int64_t now() const { return counters.now; }
    Capacity capacity() const { return {node_capacity, total_capacity}; }
    int64_t node_count() const { return available.columns(); }
    int64_t type_count() const { return total_capacity.size(); }
    int64_t column_count() const { return available.rows(); }  // with parts of devices
};

/// Extend the table of jobs to at least a number of rows; rows in use keep their numbers.
void grow_rows(State& state, int64_t rows);

/// Begin the next batch of jobs.
void begin_batch(State& state, std::shared_ptr<Batch> batch);

/// Append a shape, without waiting jobs.
void add_shape(State& state, const UnitRequest& request, bool uncountable);

/// Forget all shapes but the first.
void keep_shapes(State& state, int64_t count);

}  // namespace hpcsched
