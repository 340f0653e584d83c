#include "bindings/state_bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/job_fields.hpp"
#include "core/places.hpp"

using namespace nanobind::literals;

namespace hpcsched {

namespace {

void bind_search(nb::module_& core)
{
    nb::enum_<Weight>(core, "Weight", "What the wait of a job is weighed by in an objective.")
        .value("NONE", Weight::none)
        .value("AREA", Weight::area)
        .value("RUN_TIME", Weight::run_time, "One over its run time.");
    nb::class_<SearchSettings>(core, "SearchSettings", R"(What `ORDER_SEARCH` minimises, and how it searches.

Parameters
----------
terms
    Weight, factor and least response time in seconds, for which waiting costs nothing, of each
    term of the objective.
makespan
    Cost of a second of the last end.
alpha
    Exponent of a ratio of sums, which then stands for all terms; None without one.
seed
    Seed of the random numbers, from 0 to 2⁶² − 1.
)")
        .def(
            "__init__",
            [](SearchSettings* self,
               const std::vector<std::tuple<Weight, double, int64_t>>& terms, double makespan,
               std::optional<double> alpha, double dinkelbach_parameter,
               double discount_time_constant, double area_exponent, double hold,
               double front_bias,
               bool warm_start, int64_t budget, int64_t queue_length, int64_t seed) {
                new (self) SearchSettings{{},
                                          makespan,
                                          alpha,
                                          dinkelbach_parameter,
                                          discount_time_constant,
                                          area_exponent,
                                          front_bias,
                                          hold,
                                          warm_start,
                                          budget,
                                          queue_length,
                                          seed};
                for (const auto& [weight, factor, tau] : terms)
                    self->terms.push_back({weight, factor, tau});
            },
            nb::kw_only(), "terms"_a, "makespan"_a, "alpha"_a.none(), "dinkelbach_parameter"_a,
            "discount_time_constant"_a, "area_exponent"_a, "hold"_a, "front_bias"_a, "warm_start"_a,
            "budget"_a, "queue_length"_a, "seed"_a)
        .def("__deepcopy__", [](const SearchSettings& self, nb::handle) { return self; }, "memo"_a)
        .def_ro("budget", &SearchSettings::budget)
        .def_ro("seed", &SearchSettings::seed);
    nb::class_<SearchMemory>(core, "SearchMemory", "What `ORDER_SEARCH` knows of earlier rounds.")
        .def("__deepcopy__", [](const SearchMemory& self, nb::handle) { return self; }, "memo"_a);
}

void bind_choices(nb::module_& core)
{
    bind_search(core);
    nb::enum_<Rule> rules(core, "Rule", "Rules of the core; `IN_PYTHON` stands for a dispatcher.");
    for (const auto& [name, rule] : rule_names) rules.value(name, rule);
    nb::enum_<Compression>(core, "Compression", "Order in which reservations are moved up.")
        .value("BY_ARRIVAL", Compression::by_arrival)
        .value("BY_RESERVATION", Compression::by_reservation);
    nb::enum_<Allocator>(core, "Allocator", "Allocators of the core; `EXTERNAL` is Python's.")
        .value("EXTERNAL", Allocator::external)
        .value("FIRST_FIT", Allocator::first_fit)
        .value("BEST_FIT", Allocator::best_fit)
        .value("KEEP_SCARCE", Allocator::keep_scarce)
        .value("WEIGHTED", Allocator::weighted)
        .value("BALANCED", Allocator::balanced)
        .value("HYBRID", Allocator::hybrid)
        .value("FGD", Allocator::fgd)
        .value("GPU_PACKING", Allocator::gpu_packing)
        .value("GPU_CLUSTERING", Allocator::gpu_clustering)
        .value("DOT_PRODUCT", Allocator::dot_product)
        .value("GPU_BEST_FIT", Allocator::gpu_best_fit)
        .value("RANDOM", Allocator::random);
    nb::enum_<Correction>(core, "Correction", "Corrections of outlived predictions.")
        .value("ONE_SECOND", Correction::one_second)
        .value("DOUBLING", Correction::doubling)
        .value("TO_REQUESTED_TIME", Correction::to_requested_time)
        .value("ASKED_FOR", Correction::asked_for);
    nb::enum_<OrderKind>(core, "OrderKind", "How a queue is sorted.")
        .value("BY_KEYS", OrderKind::by_keys)
        .value("BY_WAIT", OrderKind::by_wait)
        .value("BY_PRIORITY", OrderKind::by_priority);
    nb::enum_<Reason>(core, "WaitReason", nb::is_arithmetic(), "Why a job waits.")
        .value("NO_ROOM", Reason::no_room)
        .value("RESERVED_FOR", Reason::reserved_for)
        .value("BEHIND", Reason::behind)
        .value("BEYOND_DEPTH", Reason::beyond_depth)
        .value("SHORT_OF_SHARED", Reason::short_of_shared)
        .value("BEYOND_QUEUE_DEPTH", Reason::beyond_queue_depth)
        .value("HELD", Reason::held)
        .value("LIMIT", Reason::limit);
    nb::enum_<Counted>(core, "Counted", "What a limit counts of running jobs.")
        .value("AMOUNT", Counted::amount)
        .value("NODES", Counted::nodes)
        .value("REMAINING", Counted::remaining, "Amounts times the time that may still be taken.")
        .value("COMMITTED", Counted::committed, "Amounts times the time of all jobs so far, at most.");
    nb::class_<Limits>(core, "Limits", "Limits of groups of jobs, and what counts against them.")
        .def(nb::init<>());
    nb::class_<Choices>(core, "Choices", R"(Rule, allocator and options.

Parameters
----------
depth
    Maximum number of reservations of `BACKFILL`; -1: no maximum.
own_backfill_order
    Whether jobs behind the head job are tried in an order of their own.
relaxation
    Maximum delay of the head job of `RELAXED` as a share of its expected wait.
order, behind_order
    How the queue is sorted, and the jobs behind its head.
scarce
    Whether each resource type is scarce, `[R]`; empty for allocators without such types.
compression
    For rules that keep reservations from round to round.
slack_share, least_slack
    Slack of a promise with `SLACK` as a share of the promised wait, and more in seconds.
window
    Seconds from now up to which `BACKFILL` makes reservations; None: no limit.
search
    Settings of `ORDER_SEARCH`.
learns_run_times
    Whether expected run times are learnt; they are where events are noted, or keys have powers.
key_powers, behind_key_powers
    For each two sort keys, powers of the expected run time by which they are multiplied at the
    submission; empty: no keys are.
default_queue_depth, bf_interval, bf_max_job_test, bf_max_job_user, bf_resolution
    Settings of `SLURM_BACKFILL`, in seconds and jobs.
)")
        .def(
            "__init__",
            [](Choices* self, Rule rule, int64_t depth, bool own_backfill_order,
               Allocator allocator, Correction correction, bool writes_places, double relaxation,
               OrderKind order, OrderKind behind_order, std::vector<bool> scarce,
               std::optional<Compression> compression, double slack_share, int64_t least_slack,
               std::optional<int64_t> window, const SearchSettings* search, bool learns_run_times,
               Numbers key_powers, Numbers behind_key_powers, int64_t queue_depth, int64_t interval,
               int64_t most_tested, int64_t most_of_user, int64_t resolution) {
                new (self) Choices{rule,       depth,       own_backfill_order, allocator,
                                   correction, writes_places, relaxation,       order,
                                   behind_order, std::move(scarce), compression, slack_share,
                                   least_slack, window,
                                   {queue_depth, interval, most_tested, most_of_user, resolution},
                                   search ? *search : SearchSettings{}, learns_run_times,
                                   std::move(key_powers), std::move(behind_key_powers)};
            },
            "rule"_a, nb::kw_only(), "depth"_a = -1, "own_backfill_order"_a = false,
            "allocator"_a = Allocator::first_fit, "correction"_a = Correction::one_second,
            "writes_places"_a = false, "relaxation"_a = 0.0, "order"_a = OrderKind::by_keys,
            "behind_order"_a = OrderKind::by_keys, "scarce"_a = std::vector<bool>(),
            "compression"_a = nb::none(), "slack_share"_a = 0.0, "least_slack"_a = 0,
            "window"_a = nb::none(), "search"_a = nb::none(), "learns_run_times"_a = false,
            "key_powers"_a = Numbers(), "behind_key_powers"_a = Numbers(),
            "default_queue_depth"_a = 0, "bf_interval"_a = 0,
            "bf_max_job_test"_a = 0, "bf_max_job_user"_a = 0, "bf_resolution"_a = 1)
        .def("__deepcopy__", [](const Choices& self, nb::handle) { return self; }, "memo"_a)
        .def_ro("rule", &Choices::rule)
        .def_ro("allocator", &Choices::allocator)
        .def_ro("correction", &Choices::correction)
        .def_ro("depth", &Choices::depth)
        .def_ro("order", &Choices::order)
        .def_ro("behind_order", &Choices::behind_order);
}

void bind_devices(nb::module_& core)
{
    nb::class_<DeviceRequest>(core, "DeviceRequest", R"(Devices that a unit asks for.

Parameters
----------
count
    Number of devices; 0: it asks for none.
amount
    Amount of each part that it takes.
parts
    Number of parts of a device.
positions
    Sets of parts of a device that it may take, as bits; they do not overlap, and the first ones
    are preferred.
)")
        .def(nb::init<int64_t, int64_t, int64_t, Numbers>(), "count"_a = 0, "amount"_a = 0,
             "parts"_a = 1, "positions"_a = Numbers())
        .def(
            "units_that_fit",
            [](const DeviceRequest& self, const Numbers& free) { return self.units_that_fit(free); },
            "free"_a, "Return the number of units that fit, given what is free of each part, `[D]`.");
}

void bind_expected_run_times(nb::module_& core)
{
    nb::class_<ExpectedRunTimes>(core, "ExpectedRunTimes", R"(Expected run times of jobs, learnt from those that have ended.

They are shares of predicted run times, in decayed averages over alike jobs: by class of the
prediction; user; user and prediction. Users of unknown number are -1; predictions are at least 1.
)")
        .def(nb::init<>())
        .def(
            "__deepcopy__", [](const ExpectedRunTimes& self, nb::handle) { return self; }, "memo"_a)
        .def("learn", &ExpectedRunTimes::learn, "user"_a, "predicted"_a, "run_time"_a,
             "Learn from a job that has ended after `run_time` seconds.")
        .def("share", &ExpectedRunTimes::share, "user"_a, "predicted"_a,
             "Return the expected run time as a share of the prediction, above 0 and at most 1.")
        .def("expected", &ExpectedRunTimes::expected, "user"_a, "predicted"_a,
             "Return the expected run time, in seconds, at least 1.");
}

void announce(State& state, const Array<const int64_t>& start, const Array<const int64_t>& end,
              const Array<const int64_t>& first, const Array<const int64_t>& nodes)
{
    Outages& outages = state.outages;
    outages.any_announced = start.shape(0) != 0;
    outages.start = Column<int64_t>(view_of(start));
    outages.end = Column<int64_t>(view_of(end));
    outages.first = Column<int64_t>(view_of(first));
    outages.nodes = Column<int64_t>(view_of(nodes));
}

void set_outages(State& state, const Array<const int64_t>& time, const Array<const int64_t>& sign,
                 const Array<const int64_t>& first, const Array<const int64_t>& nodes, bool requeue)
{
    Outages& outages = state.outages;
    outages.any = true;
    outages.change_time = Column<int64_t>(view_of(time));
    outages.change_sign = Column<int64_t>(view_of(sign));
    outages.change_first = Column<int64_t>(view_of(first));
    outages.change_nodes = Column<int64_t>(view_of(nodes));
    outages.down = Column<int64_t>(state.node_count());
    outages.closed = outages.missed = Column<Flag>(state.node_count());
    // They are computed before the first instant.
    outages.clear_until = Column<int64_t>(state.node_count(), -1);
    outages.requeue = requeue;
    outages.may_use = Table<Flag>(0, state.node_count());
    state.counters.altered = true;
}

void set_preemption(State& state, const Array2<const bool>& may_preempt,
                    const Array2<const int64_t>& classes, const Array<const bool>& released,
                    bool by_order, bool youngest_first, int64_t requeue_delay)
{
    Preemption& preemption = state.preemption;
    preemption.any = true;
    preemption.by_order = by_order;
    preemption.youngest_first = youngest_first;
    preemption.requeue_delay = requeue_delay;
    const auto count = static_cast<int64_t>(may_preempt.shape(0));
    preemption.may_preempt = Table<Flag>(
        Matrix(reinterpret_cast<const Flag*>(may_preempt.data()), count, count));
    for (int64_t c = 0; c < count; ++c) {
        const View<const int64_t> of = matrix_of(classes).row(c);
        preemption.mode.add(of[0]);
        preemption.exempt.add(of[1]);
        preemption.grace.add(of[2]);
        preemption.priority.add(of[3]);
    }
    preemption.released = flags_of(released);
}

void set_shared_resources(State& state, const Array<const int64_t>& capacity,
                          const Array<const int64_t>& first, const Array<const int64_t>& at,
                          const Array<const int64_t>& offer, const Array<const int64_t>& every,
                          int64_t period, int64_t settled, const Array<const int64_t>& node,
                          int64_t rounds)
{
    SharedResources& shared = state.shared;
    shared.any = true;
    shared.capacity = Column<int64_t>(view_of(capacity));
    shared.first = Column<int64_t>(view_of(first));
    shared.at = Column<int64_t>(view_of(at));
    shared.offer = Column<int64_t>(view_of(offer));
    shared.every = Column<int64_t>(view_of(every));
    shared.period = period;
    shared.settled = settled;
    shared.node = Column<int64_t>(view_of(node));
    shared.own = Table<int64_t>(state.jobs.size(), shared.count());
    shared.drawn = Column<int64_t>(shared.count());
    shared.jobs_on = shared.on_until = Column<int64_t>(state.node_count());
    shared.levels = Table<int64_t>(0, 1 + shared.count());
    shared.rounds = rounds;
}

void add_shapes(State& state, const Array2<const int64_t>& asked,
                const Array2<const int64_t>& on_idle, const Array<const bool>& exclusive,
                const Array<const bool>& uncountable, const Array<const int64_t>& kind,
                const Array2<const bool>& may_use, const std::vector<DeviceRequest>& devices,
                const Numbers& alike)
{
    for (const int64_t kind : alike) state.scores->add_kind(kind);
    Outages& outages = state.outages;
    // Requests on fewer nodes stand behind all others, and are found anew.
    keep_shapes(state, state.counters.requests);
    for (std::size_t k = 0; k < asked.shape(0); ++k) {
        const auto row = static_cast<int64_t>(k);
        add_shape(state, {matrix_of(asked).row(row), matrix_of(on_idle).row(row), exclusive(k),
                          devices.empty() ? nullptr : &devices[k]},
                  uncountable(k));
        if (!outages.any) continue;
        outages.kind.add(kind(k));
        Column<Flag> open(state.node_count());
        for (int64_t node = 0; node < open.size(); ++node)
            open[node] = may_use(k, static_cast<std::size_t>(node));
        outages.may_use.add(open);
        outages.room.add(0);
        outages.narrowed.add(none);
        outages.narrowed_span.add(0);
    }
    state.counters.requests = state.shapes.count();
    if (!outages.any) return;
    std::ranges::fill(state.shapes.waiting, 0);
    state.shapes.active.clear();
    state.counters.stale = true;
}

void add_counters(State& state, const std::vector<std::tuple<Counted, int64_t, double>>& counters)
{
    Limits& limits = state.limits;
    for (const auto& [counted, resource, before] : counters) {
        Limits::Counter& counter =
            limits.counters.emplace_back(Limits::Counter{counted, resource, before, before});
        if (counted == Counted::nodes) counter.jobs_on = Column<int64_t>(state.node_count());
        limits.any_over_time |= counter.is_of_time();
    }
}

void add_limits(State& state, const Numbers& counters,
                const std::vector<std::pair<int64_t, double>>& bounds)
{
    Limits& limits = state.limits;
    limits.any = true;
    Numbers numbers;
    for (const auto& [counter, most] : bounds) {
        numbers.push_back(static_cast<int64_t>(limits.bounds.size()));
        limits.bounds.push_back({counter, most});
    }
    limits.sets.push_back({counters, numbers});
}

NewArray<int64_t> jobs(State& state, std::string_view name, const Array<const int64_t>& rows)
{
    Column<int64_t> values;
    for (const int64_t row : view_of(rows)) values.add(field_of(state.jobs[row], name));
    return given<int64_t>(std::move(values));
}

void set_jobs(State& state, std::string_view name, const Array<const int64_t>& rows,
              const Array<const int64_t>& values)
{
    if (rows.shape(0) != values.shape(0)) throw nb::value_error("rows and values");
    for (std::size_t k = 0; k < rows.shape(0); ++k)
        field_of(state.jobs[rows(k)], name) = values(k);
}

UnitPlaces places(const State& state, int64_t row)
{
    UnitPlaces found;
    for (int64_t cell = state.jobs[row].cell; cell != none; cell = state.cells[cell].next)
        found.emplace_back(state.cells[cell].node, state.cells[cell].units,
                           state.cells[cell].devices);
    return found;
}

State* copy_of(const State& state)
{
    auto* copy = new State(state);
    // Predictions are written into the batch.
    if (!state.batch->is_predicted) copy->batch = std::make_shared<Batch>(*state.batch);
    return copy;
}

NewArray<int64_t> copied_rows(View<const int64_t> rows)
{
    return given<int64_t>(Column<int64_t>(rows));
}

}  // namespace

nb::class_<State> bind_state(nb::module_& core)
{
    bind_choices(core);
    bind_devices(core);
    bind_expected_run_times(core);
    core.attr("NEVER") = never;
    nb::class_<State> state(core, "State", R"(State of a replay, or of a single problem.

A row is a job in the system. Times are in seconds.

Parameters
----------
capacity
    Of each node, `[N, R]`, and of the parts of its devices behind these, `[N, R + D]`.
first_slot
    First slot of each node, `[N + 1]`; `[0]` where units are placed node by node.
types
    Number of resource types; None: there are no devices.
keys, behind_keys
    Numbers of sort keys of a job, for the queue and behind its head.
by_python
    Whether Python makes the decisions.
takes_time
    Whether decisions take simulated time.
follows, tells
    Whether events are noted, and observers are told of each instant.
holds_jobs
    Whether Python holds jobs back.
plans_past_outages
    Whether rounds are shown jobs that wait for the end of announced outages.
shows_startable
    Whether only jobs are shown that may all start together by their limits.
)");
    state
        .def(
            "__init__",
            [](State* self, const Array2<const int64_t>& capacity,
               const Array<const int64_t>& first_slot, const Choices& choices,
               std::optional<int64_t> types, int64_t keys,
               int64_t behind_keys, bool by_python, bool takes_time, bool follows, bool tells,
               bool holds_jobs, bool plans_past_outages,
               bool shows_startable) {
                new (self) State(matrix_of(capacity), types.value_or(matrix_of(capacity).columns()),
                                 view_of(first_slot), choices,
                                 {by_python, takes_time, follows, tells, holds_jobs, plans_past_outages,
                                  shows_startable},
                                 keys, behind_keys);
            },
            "capacity"_a, "first_slot"_a, "choices"_a, nb::kw_only(),
            "types"_a = nb::none(), "keys"_a = 0,
            "behind_keys"_a = 0, "by_python"_a = false, "takes_time"_a = false,
            "follows"_a = false, "tells"_a = false, "holds_jobs"_a = false,
            "plans_past_outages"_a = false, "shows_startable"_a = false)
        .def("copy", &copy_of, "Return a copy.")
        .def(
            "__deepcopy__", [](const State& self, nb::handle) { return copy_of(self); }, "memo"_a)
        .def(
            "set_priority",
            [](State& self, const Multifactor& priority, bool behind) {
                (behind ? self.behind_priority : self.priority) = priority;
            },
            "priority"_a, "behind"_a, "Set the order of the queue, or behind its head, as it is now.")
        .def("announce", &announce, "start"_a, "end"_a, "first"_a, "nodes"_a,
             "Set the announced outages, by start: k is on nodes[first[k]] to before first[k + 1].")
        .def("set_outages", &set_outages, "time"_a, "sign"_a, "first"_a, "nodes"_a, "requeue"_a,
             R"(Set the begins (sign 1) and ends (-1) of outages.

Parameters
----------
requeue
    Whether jobs that lose a node are put back into the queue.
)")
        .def("set_preemption", &set_preemption, "may_preempt"_a, "classes"_a, "released"_a,
             "by_order"_a, "youngest_first"_a, "requeue_delay"_a, R"(Set which jobs preempt others, and how.

Parameters
----------
may_preempt
    Whether jobs of a class preempt those of another, `[C, C]`.
classes
    Mode (0 off, 1 requeue, 2 cancel, 3 suspend), exempt time, grace time and priority, `[C, 4]`.
released
    Resource types that suspended jobs do not keep, `[R]`.
by_order
    Whether jobs preempt those that come later in the order of the queue, whatever their class.
requeue_delay
    Time until a job that was requeued may start again, in seconds.
)")
        .def("set_checkpoints", [](State& self, int64_t every, int64_t cost, int64_t restart) {
                self.checkpoints = {every, cost, restart};
            }, "every"_a, "cost"_a, "restart"_a, "Set the checkpoints of jobs, in seconds.")
        .def_rw("ranks", &State::ranks, "Whether jobs differ in rank.")
        .def("set_shared_resources", &set_shared_resources, "capacity"_a, "first"_a, "at"_a,
             "offer"_a, "every"_a, "period"_a, "settled"_a, "node"_a, "rounds"_a,
             R"(Set the shared resources, `[P]`.

Parameters
----------
capacity
    Until the first change: those of p are first[p] to before first[p + 1].
at, offer
    Time and new capacity of each change.
every
    Period of the changes, 0 if they do not recur; `period` is common to all.
settled
    Second from which on all periods are equal.
node
    Draw of a node that is switched on.
rounds
    Number of periods after which decisions have seen all capacities.
)")
        .def(
            "set_scores",
            [](State& self, const Numbers& order, const std::vector<bool>& weighed, int64_t seed,
               int64_t parts) {
                self.scores.emplace(self.choices.allocator, self.node_capacity, order, weighed,
                                    seed, parts);
            },
            "order"_a, "weighed"_a, "seed"_a, "parts"_a = 1, R"(Set how an allocator by scores compares nodes.

Parameters
----------
order
    Place of each node among those with equal scores, `[N]`.
weighed
    Whether each resource type counts in scores, `[R]`.
seed
    Seed of what is drawn, from 0 to 2⁶² − 1.
parts
    Number of parts of a device.
)")
        .def("add_shapes", &add_shapes, "asked"_a, "on_idle"_a, "exclusive"_a, "uncountable"_a,
             "kind"_a, "may_use"_a, "devices"_a, "alike"_a,
             R"(Append shapes: distinct requests of a unit.

Parameters
----------
asked
    Amounts, `[S, R]`.
on_idle
    Units that fit on each idle node, `[S, N]`.
uncountable
    Whether units cannot be planned by number, `[S]`.
kind
    The same for requests that differ in their nodes only, `[S]`; empty without outages.
may_use
    Nodes that a job may use, `[S, N]`; empty without outages.
devices
    Devices of a unit, `[S]`; empty where nodes have none.
alike
    The same for requests that differ only in types that scores do not weigh, `[S]`; empty without
    scores.
)")
        .def("add_counters", &add_counters, "counters"_a,
             R"(Append counters of what groups of running jobs hold.

Parameters
----------
counters
    What each counts, its resource type or -1 for 1 a job, and what was counted before the replay.
)")
        .def("add_limits", &add_limits, "counters"_a, "bounds"_a,
             R"(Append a set of limits.

Parameters
----------
counters
    Counters in which jobs with these limits count.
bounds
    Counters that they must keep to, with their maximum; all bounds are numbered in turn.
)")
        .def_rw("limits", &State::limits, "Limits, and what counts against them now.")
        .def("jobs", &jobs, "name"_a, "rows"_a, "Return a number of each of some jobs.")
        .def("set_jobs", &set_jobs, "name"_a, "rows"_a, "values"_a, "Set a number of some jobs.")
        .def_prop_ro(
            "needs_owners", [](const State& self) { return self.owners.columns() != 0; },
            "Whether batches tell users and partitions.")
        .def(
            "held",
            [](const State& self, int64_t row) {
                const int64_t held = self.jobs[row].held;
                return std::tuple((held & held_by_outages) != 0, (held & held_by_others) != 0,
                                  (held & held_by_limits) != 0, (held & held_by_begin) != 0);
            },
            "row"_a, "Return whether outages, Python, limits, or its begin time hold a job back.")
        .def("places", &places, "row"_a, "Return a job's nodes with units, where it is placed node by node.")
        .def_prop_ro(
            "queue",
            [](const State& self) { return copied_rows(self.queue.first(self.counters.queued)); },
            nb::rv_policy::move, "Rows of waiting jobs in the order in which they are considered.")
        .def_prop_ro(
            "running_rows",
            [](const State& self) { return copied_rows(self.running.first(self.counters.running)); },
            nb::rv_policy::move, "Rows of running jobs by predicted end.")
        .def_prop_ro(
            "started",
            [](const State& self) {
                const View<const int64_t> rows = self.started.first(self.counters.started);
                return Numbers(rows.begin(), rows.end());
            },
            "Rows of the jobs that the last round started, in order.")
        .def_prop_ro(
            "available",
            [](const State& self) {
                const Matrix<const int64_t> all = self.available;
                return copied(Matrix(all.data(), self.type_count(), all.columns()));
            },
            nb::rv_policy::move, "Free amounts, `[R, N]`.")
        .def_prop_ro(
            "allocated", [](const State& self) { return copied_rows(self.running_amounts); },
            nb::rv_policy::move, "Amounts that running jobs hold, `[R]`.")
        .def_prop_ro(
            "waiting_amounts", [](const State& self) { return copied_rows(self.waiting_amounts); },
            nb::rv_policy::move, "Amounts that waiting jobs request, `[R]`.")
        .def_prop_ro(
            "drawn", [](const State& self) { return copied_rows(self.shared.drawn); },
            nb::rv_policy::move, "Amounts drawn from shared resources, `[P]`.")
        .def_prop_ro(
            "down", [](const State& self) { return copied_rows(self.outages.down); },
            nb::rv_policy::move, "Present outages of each node, `[N]`.")
        .def_prop_ro(
            "clear_until", [](const State& self) { return copied_rows(self.outages.clear_until); },
            nb::rv_policy::move, "Begin of each node's next announced outage, `[N]`.")
        .def(
            "open_nodes",
            [](const State& self, int64_t shape) {
                Numbers nodes;
                for (int64_t node = 0; node < self.node_count(); ++node)
                    if (self.outages.may_use(shape, node) != 0) nodes.push_back(node);
                return nodes;
            },
            "shape"_a, "Return the nodes that a shape may use, beside outages.");
    const auto number = [&](const char* name, auto member, const char* what) {
        state.def_prop_ro(
            name, [member](const State& self) { return self.counters.*member; }, what);
    };
    number("now", &Counters::now, "Present second.");
    number("round", &Counters::round, "Number of the last round.");
    number("submitted", &Counters::submitted, "Number of submitted jobs.");
    number("waiting", &Counters::queued, "Number of waiting jobs.");
    number("running", &Counters::running, "Number of running jobs.");
    number("held_back", &Counters::held_back, "Number of jobs that are held back.");
    number("requests", &Counters::requests, "Number of shapes.");
    state.def_prop_ro(
        "between_instants",
        [](const State& self) {
            return self.counters.phase == Phase::next_instant ||
                   self.counters.phase == Phase::flight;
        },
        "Whether an instant is over.");
    return state;
}

}  // namespace hpcsched
