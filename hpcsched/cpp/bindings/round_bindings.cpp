#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "bindings/planning_bindings.hpp"
#include "bindings/state_bindings.hpp"
#include "core/allocators.hpp"
#include "core/fit_counts.hpp"
#include "core/places.hpp"
#include "core/shared_resources.hpp"
#include "rules/filling.hpp"
#include "rules/round.hpp"
#include "rules/starts.hpp"

using namespace nanobind::literals;

namespace hpcsched {

namespace {

using Row = Array<const int64_t>;
using Rows = Array2<const int64_t>;
using NodeUnits = std::vector<std::pair<int64_t, int64_t>>;

/// An allocator that is a Python object, for the time of a call.
class PythonAllocator : public ExternalAllocator {
public:
    PythonAllocator(State& state, nb::handle allocator) : state_(state), allocator_(allocator)
    {
        state.external = this;
    }
    ~PythonAllocator() override { state_.external = nullptr; }
    PythonAllocator(const PythonAllocator&) = delete;
    PythonAllocator& operator=(const PythonAllocator&) = delete;

    Numbers place(int64_t row, View<const int64_t> fits,
                  Matrix<const int64_t> available) override
    {
        const auto placed = nb::cast<Row>(allocator_.attr("place")(
            row, given<int64_t>(Column<int64_t>(fits)), copied<int64_t>(available)));
        const View<const int64_t> units = view_of(placed);
        return Numbers(units.begin(), units.end());
    }

private:
    State& state_;
    nb::handle allocator_;
};

/// Call a function of a state: with an allocator in Python, or without the interpreter's lock.
template <class Function>
void call(State& state, nb::handle allocator, Function function)
{
    count_fits(state);
    if (allocator.is_none()) {
        const nb::gil_scoped_release released;
        function(state);
        return;
    }
    const PythonAllocator asked(state, allocator);
    function(state);
}

/// Write the jobs of a problem: waiting ones in their order, then running ones.
void fill(State& state, int64_t now, const Rows& waiting, const Rows& running, const Row& behind)
{
    const auto queued = static_cast<int64_t>(waiting.shape(0));
    const auto rows = queued + static_cast<int64_t>(running.shape(0));
    grow_rows(state, rows);
    state.cells.clear();
    Counters& counters = state.counters;
    counters.now = now;
    counters.queued = queued;
    counters.running = rows - queued;
    counters.started = 0;
    counters.free_cell = none;
    for (int64_t row = 0; row < rows; ++row) {
        Job& job = state.jobs[row];
        job = {.why = Reason::no_room, .other = none, .number = row, .sequence = row,
               .cell = none, .promise = never, .when = none, .reserved = never, .limits = none};
        if (row < queued) {
            job.predicted = matrix_of(waiting)(row, 0);
            job.units = matrix_of(waiting)(row, 1);
            job.expected = matrix_of(waiting)(row, 2);
            job.waits = 1;
            state.queue[row] = row;
        } else {
            job.planned_end = job.shown_end = matrix_of(running)(row - queued, 0);
            job.units = matrix_of(running)(row - queued, 1);
            state.running[row - queued] = state.ends[row - queued] = row;
        }
    }
    std::ranges::copy(view_of(behind), state.behind.begin());
}

/// Write the nodes of running jobs and the free amounts.
void fill_nodes(State& state, const Row& shapes, const Row& place_count, const Row& nodes,
                const Row& units, const Row& devices, const Rows& available)
{
    const int64_t queued = state.counters.queued, types = state.type_count();
    for (int64_t r = 0; r < state.available.rows(); ++r)
        for (int64_t node = 0; node < state.node_count(); ++node)
            state.available(r, node) =
                r < types ? matrix_of(available)(r, node) : state.node_capacity(node, r);
    state.nodes.are_current = false;
    std::ranges::fill(state.shapes.waiting, 0);
    state.shapes.active.clear();
    std::ranges::fill(state.waiting_amounts, 0);
    std::ranges::fill(state.running_amounts, 0);
    std::size_t place = 0;
    for (std::size_t k = 0; k < shapes.shape(0); ++k) {
        const auto row = static_cast<int64_t>(k);
        Job& job = state.jobs[row];
        job.shape = job.request = job.later = shapes(k);
        Column<int64_t>& amounts = row < queued ? state.waiting_amounts : state.running_amounts;
        for (int64_t r = 0; r < amounts.size(); ++r)
            amounts[r] += job.units * state.shapes.asked(job.shape, r);
        if (row < queued) continue;
        int64_t previous = none;
        for (int64_t i = 0; i < place_count(k - static_cast<std::size_t>(queued)); ++i, ++place) {
            const int64_t cell = add_cell(state, nodes(place), units(place), devices(place));
            for (int64_t r = types; r < state.available.rows(); ++r)
                state.available(r, nodes(place)) -= allocated_on_node(
                    state, nodes(place), {units(place), devices(place)}, r, job.shape);
            (previous == none ? job.cell : state.cells[previous].next) = cell;
            previous = cell;
        }
    }
}

/// Place units on nodes as an allocator does.
NodeUnits place(Allocator allocator, const std::vector<bool>& scarce, const Rows& capacity,
                const Rows& available, const Row& unit_request, int64_t units, const Row& fits,
                const std::vector<double>& pressure)
{
    const View<const int64_t> room = view_of(fits);
    const int64_t fitting = std::reduce(room.begin(), room.end());
    if (fitting < units)
        throw nb::value_error((std::to_string(units) + " units asked for, " +
                               std::to_string(fitting) + " fit").c_str());
    const Matrix<const int64_t> of_node = matrix_of(capacity);
    Column<int64_t> total(of_node.columns());
    for (int64_t node = 0; node < of_node.rows(); ++node)
        for (int64_t r = 0; r < of_node.columns(); ++r) total[r] += of_node(node, r);
    NodeUnits placed;
    for (const Span& span :
         place_units(allocator, scarce, {of_node, total}, view_of(unit_request), units,
                     NodeRuns(matrix_of(available)), room, pressure))
        for (int64_t node = span.first; node < span.end; ++node)
            placed.emplace_back(node, span.units);
    return placed;
}

/// Write the draws of all jobs that do not depend on their nodes.
void fill_draws(State& state, const Rows& own)
{
    SharedResources& shared = state.shared;
    std::ranges::fill(shared.jobs_on, 0);
    std::ranges::fill(shared.drawn, 0);
    for (int64_t row = 0; row < matrix_of(own).rows(); ++row)
        for (int64_t p = 0; p < shared.count(); ++p) shared.own(row, p) = matrix_of(own)(row, p);
    for (const int64_t row : state.running.first(state.counters.running)) switch_draw(state, row, 1);
}

}  // namespace

void bind_rounds(nb::module_& core, nb::class_<State>& state)
{
    core.def("place_units", &place, "allocator"_a, "scarce"_a, "capacity"_a, "available"_a,
             "unit_request"_a, "units"_a, "fits"_a, "pressure"_a,
             R"(Return the nodes of a job by an allocator, and the units on each.

Parameters
----------
scarce
    Whether each resource type is scarce, `[R]`; empty where the allocator does not look at it.
capacity
    Capacity of each node, `[N, R]`.
available
    Free amounts, `[R, N]`.
fits
    Number of units that fit on each node, `[N]`.
pressure
    Pressure on each resource type, `[R]`.
)");
    state
        .def("fill", &fill, "now"_a, "waiting"_a, "running"_a, "behind"_a,
             R"(Replace all jobs by those of a problem; waiting ones have the first rows.

Parameters
----------
waiting
    Predicted run times, units and expected run times in the order in which jobs are considered,
    `[Q, 3]`.
running
    Predicted ends, ascending, and units, `[K, 2]`.
behind
    Rows in the order behind the head job; empty: the same order.
)")
        .def("fill_nodes", &fill_nodes, "shapes"_a, "place_count"_a, "nodes"_a, "units"_a,
             "devices"_a, "available"_a, R"(Set the shapes of all jobs, and the places of running ones.

Parameters
----------
place_count
    Number of places of each running job, `[K]`; `nodes`, `units` and `devices` follow one after
    another.
available
    Free amounts, `[R, N]`.
)")
        .def("fill_draws", &fill_draws, "own"_a,
             "Set the draws of all jobs that do not depend on their nodes, `[Q + K, P]`.")
        .def(
            "set_places",
            [](State& self, int64_t row, const UnitPlaces& places) {
                self.jobs[row].cell = add_cells(self, places);
            },
            "row"_a, "places"_a, "Note the nodes reserved for a job.")
        .def(
            "decide",
            [](State& self, nb::handle allocator, bool explains) {
                call(self, allocator, [explains](State& s) { hold_round(s, explains); });
            },
            "allocator"_a.none(), "explains"_a, R"(Hold the round of a single problem.

Parameters
----------
allocator
    Python object that places jobs: `place(row, fits, available)`; None for one of the core's.
explains
    Whether to note reasons of waiting jobs.
)")
        .def(
            "start_beside_plan",
            [](State& self, nb::handle allocator, int64_t starting, int64_t planned) {
                self.counters.starting = starting;
                self.counters.planned = planned;
                call(self, allocator, fill_beside_plan);
            },
            "allocator"_a.none(), "starting"_a, "planned"_a,
            R"(Start the first jobs, and those that delay no planned one; see `decide`.

Parameters
----------
starting, planned
    Numbers of jobs that a plan starts now, and at any time; the first ones.
)")
        .def_prop_rw(
            "freed_until", [](const State& self) { return self.counters.freed_until; },
            [](State& self, int64_t time) { self.counters.freed_until = time; },
            "Latest predicted end of jobs that have ended since the last round.")
        .def_prop_rw(
            "last_backfill", [](const State& self) { return self.counters.last_backfill; },
            [](State& self, int64_t time) { self.counters.last_backfill = time; },
            "Time of the last round of Slurm's backfill scheduler; -1: none yet.")
        .def_rw("search", &State::search, "What the search of orders knows of earlier rounds.")
        .def(
            "set_costs",
            [](State& self, nb::handle costs) { self.search.given = owned_costs(costs); },
            "costs"_a, "Set the `StartTimeCosts` of the waiting jobs in order of arrival.")
        .def_prop_ro(
            "call_again", [](const State& self) { return self.counters.call_again; },
            "Time of the next round that the rule asked for; `NEVER` without one.")
        .def(
            "fill_owners",
            [](State& self, const Rows& owners) {
                for (int64_t row = 0; row < matrix_of(owners).rows(); ++row)
                    std::ranges::copy(matrix_of(owners).row(row), self.owners.row(row).begin());
            },
            "owners"_a, "Set user and partition of waiting jobs, -1 if unknown, `[Q, 2]`.")
        .def(
            "open_round",
            [](State& self) {
                count_fits(self);
                compute_pressure(self);
                open_shared(self);
            },
            "Prepare a round whose jobs are started one by one.")
        .def(
            "room_now",
            [](State& self, int64_t row) {
                const NodeRuns& runs = runs_of(self);
                int64_t units = 0;
                for (int64_t run = 0; run < runs.count(); ++run)
                    units += runs.nodes(run) *
                             units_on_run(self, runs, run, self.jobs[row].shape);
                return units;
            },
            "row"_a, "Return the number of a job's units that fit on nodes now.")
        .def(
            "start",
            [](State& self, nb::handle allocator, int64_t row) {
                if (allocator.is_none()) {
                    start(self, row);
                    return;
                }
                const PythonAllocator asked(self, allocator);
                start(self, row);
            },
            "allocator"_a.none(), "row"_a, "Start a job that fits; see `decide`.")
        .def("short_resource", &short_resource, "row"_a, "begin"_a,
             "Return a shared resource that is short for a job from a start on; -1 if none is.");
}

}  // namespace hpcsched
