#pragma once

#include <optional>

#include "core/counters.hpp"
#include "core/job.hpp"
#include "core/node_runs.hpp"
#include "core/views.hpp"

namespace hpcsched {

/// `N` nodes, `R` resource types, `S` shapes (distinct requests of a unit), `P` shared resources.

struct State;

/// An allocator that is a Python object.
class ExternalAllocator {
public:
    virtual ~ExternalAllocator() = default;

    /// Return the units of a job on each node, `[N]`, given those that fit and the free amounts.
    virtual Numbers place(int64_t row, View<const int64_t> fits,
                          Matrix<const int64_t> available) = 0;

    /// Take slots for a job; return the first cell of their list.
    virtual int64_t take_slots(int64_t units) = 0;
};

/// Rule, allocator and options.
struct Choices {
    Rule rule;
    int64_t depth;  // maximum number of reservations of `backfill`; -1: no maximum
    bool own_backfill_order;
    Allocator allocator;
    Correction correction;
    bool writes_places;
    double relaxation;
    OrderKind order;
    OrderKind behind_order;
    View<const bool> scarce;  // of each resource type; empty for allocators without classes
    ExternalAllocator* external = nullptr;  // while Python places jobs
    std::optional<Compression> compression;  // of rules that keep reservations
    double slack_share;
    int64_t least_slack;
    std::optional<int64_t> window;
};

/// Capacity of each node, `[N, R]`, and of all, `[R]`.
struct Capacity {
    Matrix<const int64_t> of_node;
    View<const int64_t> total;
};

/// Request of a unit: amounts, `[R]`, and units that fit on each idle node, `[N]`.
struct UnitRequest {
    View<const int64_t> asked;
    View<const int64_t> on_idle;
    bool exclusive;
};

struct Shapes {
    Matrix<int64_t> asked;  // [S, R]
    Matrix<int64_t> on_idle;  // [S, N]
    View<bool> exclusive;
    View<bool> uncountable;  // cannot be planned by number
    View<int64_t> fitting;  // units that fit now, of active shapes
    View<int64_t> waiting;  // number of queued jobs
    View<int64_t> active;

    UnitRequest request(int64_t shape) const
    {
        return {asked.row(shape), on_idle.row(shape), exclusive[shape]};
    }
};

struct Outages {
    bool any_announced;
    View<const int64_t> start;  // announced ones, by start
    View<const int64_t> end;
    View<const int64_t> first;  // outage k is on nodes[first[k]] to before nodes[first[k + 1]]
    View<const int64_t> nodes;

    bool any;  // what follows is there
    View<const int64_t> change_time;  // begins and ends of all, announced or not
    View<const int64_t> change_sign;
    View<const int64_t> change_first;
    View<const int64_t> change_nodes;
    View<int64_t> down;  // current outages of each node
    View<bool> closed;  // nodes without free capacity for that reason
    View<bool> missed;  // those of the last round that made reservations
    View<int64_t> clear_until;  // begin of each node's next announced outage
    View<int64_t> limits;  // these times, each once, ascending
    bool requeue;
    View<int64_t> kind;  // the same for requests that differ in their nodes only, [S]
    Matrix<bool> may_use;  // [S, N]
    View<int64_t> room;  // units that fit on idle nodes, [S]
    View<int64_t> narrowed;  // shape of which a shape is a narrower one
    View<int64_t> narrowed_span;

    View<const int64_t> nodes_of(int64_t k) const { return nodes.part(first[k], first[k + 1]); }
};

struct SharedResources {
    bool any;
    View<const int64_t> capacity;  // until the first change
    View<const int64_t> first;  // changes of resource p: first[p] to before first[p + 1]
    View<const int64_t> at;
    View<const int64_t> offer;
    View<const int64_t> every;  // period of the changes; 0: they do not recur
    int64_t period;  // common to all
    int64_t settled;  // from here on all periods are equal
    Matrix<int64_t> own;  // draw of the job of a row wherever it runs
    View<const int64_t> node;  // draw of a node that is on
    View<int64_t> nodes;  // idle nodes that can hold a unit of a shape, [S]
    View<int64_t> drawn;
    View<int64_t> jobs_on;  // number of jobs on each node
    View<int64_t> on_until;  // until when each node is on in the plans of a round
    Matrix<int64_t> levels;  // output: times and draws
    int64_t rounds;  // periods after which decisions have seen all capacities

    int64_t count() const { return node.size(); }

    /// Free amounts in plans: `free[k]`, `[P]`, from `time[k]` to before the next, the last for
    /// ever. Changes of capacity are merged in up to `merged_until`, as they may recur without end.
    struct Steps {
        Numbers time;
        std::vector<Numbers> free;
        int64_t merged_until;
        int64_t last;  // end of the last job
    } steps;
};

/// Jobs in order of submission.
struct Batch {
    View<const int64_t> number;
    View<const int64_t> submit_time;
    View<const int64_t> run_time;
    View<const int64_t> predicted;
    View<const int64_t> requested_time;
    View<const int64_t> units;
    View<const int64_t> shape;
    Matrix<const int64_t> keys;
    Matrix<const int64_t> behind_keys;
    View<const bool> watched;
    bool last;
    View<const int64_t> refused;  // cause of the refusal, -1 without one; empty if none is
    Matrix<const int64_t> draws;
};

struct Output {
    View<LeftJob> jobs;
    View<int32_t> nodes;
    View<int32_t> units;
    Matrix<int64_t> rounds;
    View<double> decision_times;
};

/// Output for observers, and what Python holds back.
struct Followers {
    bool any;
    View<Event> events;
    View<int32_t> start_nodes;
    View<int32_t> start_units;
    bool hold_jobs;
    View<int64_t> turned;  // rows to hold back or to release
};

/// Decisions that are pending, or made by Python.
struct Flight {
    bool takes_time;  // of the simulation
    View<int64_t> lost;  // idle capacity × seconds meanwhile, [R]
    bool by_python;
    View<int64_t> dismissed;  // rows of the jobs that Python rejects
    View<double> decision_seconds;
};

/// Nodes by what is free now; see core/fit_counts.hpp.
struct CountedNodes {
    bool are_current = false;
    NodeRuns runs;
    std::vector<int32_t> bounds;  // reasons for a run to begin at a node, [N + 1]
    std::vector<bool> known;  // shapes whose bounds are among them
};

/// State of a replay. All arrays are Python's, which replaces them when they must be longer.
struct State {
    bool by_node;  // otherwise slots are counted
    Counters& counters;
    Capacity capacity;
    Matrix<int64_t> available;  // [R, N]
    View<int64_t> free_amounts;
    View<int64_t> waiting_amounts;
    View<int64_t> held_amounts;  // the part of jobs that are held back
    View<int64_t> running_amounts;
    View<Job> jobs;
    Matrix<int64_t> keys;
    Matrix<int64_t> behind_keys;
    View<int64_t> queue;  // waiting rows in the order in which they are considered
    View<int64_t> behind;  // the same in the backfill order
    View<int64_t> running;  // by predicted end
    View<int64_t> ends;  // the same as a heap by real end
    View<int64_t> started;  // by the last round, in order
    View<Cell> cells;
    View<int64_t> interval_low;  // intervals of free slots
    View<int64_t> interval_high;
    View<const int64_t> first_slot;  // of each node, [N + 1]
    Shapes shapes;
    Choices choices;
    Outages outages;
    Followers followers;
    Flight flight;
    SharedResources shared;
    Batch batch;
    Output output;
    CountedNodes nodes = {};
    std::vector<double> pressure = {};  // on each resource type in this round, [R]

    int64_t now() const { return counters.now; }
    int64_t node_count() const { return available.columns(); }
    int64_t type_count() const { return available.rows(); }
};

}  // namespace hpcsched
