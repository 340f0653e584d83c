#include "postpone/bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "postpone/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hpcsched::postpone {

namespace {

using Row = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Curve = std::tuple<std::vector<int64_t>, std::vector<int64_t>, std::vector<int64_t>>;
using Closed = std::tuple<int, int64_t, int64_t>;
using Pairs = std::vector<std::pair<int, int>>;

void expect(bool right, const char* what)
{
    if (!right) throw std::invalid_argument(std::string("wrong shape or number: ") + what);
}

void expect_shape(const Table& table, std::size_t rows, std::size_t columns, const char* what)
{
    expect(table.shape(0) == rows && table.shape(1) == columns, what);
}

Amounts row(const Table& table, std::size_t number)
{
    const int64_t* first = table.data() + number * table.shape(1);
    return Amounts(first, first + table.shape(1));
}

std::vector<Corner> corners(const Curve& curve)
{
    const auto& [at, cost, slopes] = curve;
    expect(cost.size() == at.size() && slopes.size() + 1 == at.size(), "a curve");
    std::vector<Corner> made;
    for (std::size_t k = 0; k < at.size(); ++k) {
        const int64_t slope =
            slopes.empty() ? 0 : slopes[std::min(k, slopes.size() - 1)];
        made.push_back({at[k], cost[k], slope});
    }
    return made;
}

void set_jobs(Problem& problem, std::size_t node_count, const Row& units, const Row& run_times,
              const Row& latest_starts, const Table& requests, const Table& idle_room,
              const Table& room, const Table& demands, const Table& weights,
              const Table& free_until, const std::vector<Curve>& curves)
{
    const std::size_t count = units.shape(0);
    expect(run_times.shape(0) == count && latest_starts.shape(0) == count, "times of jobs");
    expect_shape(requests, count, static_cast<std::size_t>(problem.type_count), "requests");
    expect_shape(idle_room, count, node_count, "idle_room");
    expect_shape(room, count, node_count, "room");
    expect_shape(demands, count, problem.total.size(), "demands");
    expect_shape(weights, weights.shape(0), count, "weights");
    expect_shape(free_until, weights.shape(0), count, "free_until");
    expect(curves.empty() || curves.size() == count, "curves");
    for (std::size_t j = 0; j < count; ++j) {
        Job job{units.data()[j], run_times.data()[j], latest_starts.data()[j]};
        expect(job.units >= 1 && job.run_time >= 1, "units or run times of jobs");
        job.request = row(requests, j);
        job.demand = row(demands, j);
        job.idle_room = row(idle_room, j);
        for (const Node& node : problem.nodes)
            job.room.push_back(room.data()[j * room.shape(1) + node.number]);
        for (std::size_t t = 0; t < weights.shape(0); ++t)
            job.terms.push_back({weights.data()[t * count + j], free_until.data()[t * count + j]});
        if (!curves.empty()) job.curve = corners(curves[j]);
        problem.jobs.push_back(std::move(job));
    }
}

void set_nodes(Problem& problem, const Table& capacity, const Table& free, bool last_first,
               const std::vector<Closed>& closed)
{
    if (problem.mode == Mode::aggregated) return;
    expect_shape(free, capacity.shape(0), capacity.shape(1), "free");
    const int count = static_cast<int>(capacity.shape(0));
    const auto place = [&](int n) { return last_first ? count - 1 - n : n; };
    for (int n = 0; n < count; ++n) {
        const auto number = static_cast<std::size_t>(place(n));
        problem.nodes.push_back({place(n), row(capacity, number), row(free, number), {}});
    }
    if (!problem.by_node()) return;
    for (const auto& [n, begin, end] : closed)
        problem.nodes.at(place(n)).outages.push_back({begin, end});
}

/// Running jobs, those of one node that end together as one.
void set_held(Problem& problem, const Row& until, const Row& on, const Table& amounts)
{
    expect(on.shape(0) == until.shape(0), "nodes of running jobs");
    expect_shape(amounts, until.shape(0), static_cast<std::size_t>(problem.type_count),
                 "amounts of running jobs");
    if (!problem.by_node()) return;
    std::vector<int> place(problem.nodes.size());
    for (std::size_t n = 0; n < place.size(); ++n)
        place[problem.nodes[n].number] = static_cast<int>(n);
    for (std::size_t k = 0; k < until.shape(0); ++k)
        problem.held.push_back({until.data()[k], place.at(on.data()[k]), row(amounts, k)});
    const auto key = [](const Held& held) { return std::pair(held.end, held.node); };
    std::ranges::stable_sort(problem.held, std::ranges::less{}, key);
    std::vector<Held> merged;
    for (Held& held : problem.held) {
        if (merged.empty() || key(merged.back()) != key(held)) {
            merged.push_back(std::move(held));
            continue;
        }
        for (int r = 0; r < problem.type_count; ++r) merged.back().amounts[r] += held.amounts[r];
    }
    problem.held = std::move(merged);
}

void set_shared(Problem& problem, const Row& total, const Row& used_at, const Table& used)
{
    problem.total.assign(total.data(), total.data() + total.shape(0));
    expect_shape(used, used_at.shape(0), total.shape(0), "used");
    expect(used_at.shape(0) > 0 && used_at.data()[0] == 0, "used_at");
    for (std::size_t f = 0; f < used_at.shape(0); ++f)
        problem.used.push_back({used_at.data()[f], row(used, f)});
}

}  // namespace

void bind(nb::module_& core)
{
    nb::enum_<Mode>(core, "PostponeMode", "Jobs whose nodes a plan of `PostponeSearch` names.")
        .value("AGGREGATED", Mode::aggregated, "None.")
        .value("NOW", Mode::now, "Those that start now.")
        .value("COUNTS", Mode::counts, "All, by units on each node.")
        .value("POSITIONS", Mode::positions, "All, by positions of units on nodes.");

    nb::class_<Search>(core, "PostponeSearch",
                       R"(The search tree of schedule-or-postpone.

Times are in steps from now. `J` jobs by priority, `N` nodes, `R` resource types, `G`
cumulative resources, `T` terms of the objective. Not for several threads at once.

Parameters
----------
mode
    Jobs whose nodes a plan names.
back_to_start
    Whether a failure leads to another start of a job rather than to other nodes for it.
last_node_first
    Whether nodes are tried from the last one on.
order
    Numbers of the jobs in the order of decisions, `[J]`.
units, run_times, latest_starts, requests
    Units of the jobs, their run times and latest starts, `[J]`; requests of a unit, `[J, R]`.
idle_room, room
    Units of each job that a node can hold when it is idle, and in this mode, `[J, N]`.
capacity, free
    Capacity of the nodes, and the amounts free now, `[N, R]`.
closed
    Node, begin and end of outages.
held_until, held_on, held
    Ends and nodes of running jobs, `[K]`, and the amounts that they hold, `[K, R]`.
total, demands
    The cumulative resources, `[G]`, and the jobs' demands, `[J, G]`.
used_at, used
    Amounts used by others from the steps `used_at` on, ascending from 0, `[F]`, `[F, G]`.
weights, free_until, makespan, curves
    The objective: Σ weights · max(start, free_until), `[T, J]`, + makespan · last end,
    + start-time cost functions: corners, costs there, slopes between them; empty without any.
horizon
    Step after which no job needs to end.
dominations
    Pairs of a job and one that starts no sooner; None where the plan need not keep to any.
)")
        .def(
            "__init__",
            [](Search* self, Mode mode, bool back_to_start, bool last_node_first,
               const std::vector<int>& order, const Row& units, const Row& run_times,
               const Row& latest_starts, const Table& requests, const Table& idle_room,
               const Table& room, const Table& capacity, const Table& free,
               const std::vector<Closed>& closed, const Row& held_until, const Row& held_on,
               const Table& held, const Row& total, const Table& demands, const Row& used_at,
               const Table& used, const Table& weights, const Table& free_until, int64_t makespan,
               const std::vector<Curve>& curves, int64_t horizon,
               const std::optional<Pairs>& dominations) {
                Problem problem{mode, back_to_start, makespan, horizon};
                problem.type_count = static_cast<int>(capacity.shape(1));
                set_shared(problem, total, used_at, used);
                set_nodes(problem, capacity, free, last_node_first, closed);
                set_jobs(problem, capacity.shape(0), units, run_times, latest_starts, requests,
                         idle_room, room, demands, weights, free_until, curves);
                set_held(problem, held_until, held_on, held);
                const std::vector<int64_t> ends(held_until.data(),
                                                held_until.data() + held_until.shape(0));
                // Twins that dominate one another are in order already.
                const bool twins_trade = !dominations && curves.empty();
                problem.complete(ends, twins_trade, dominations.value_or(Pairs{}));
                expect(order.size() == problem.jobs.size(), "order");
                new (self) Search(std::move(problem), order);
            },
            nb::kw_only(), "mode"_a, "back_to_start"_a, "last_node_first"_a, "order"_a, "units"_a,
            "run_times"_a, "latest_starts"_a, "requests"_a, "idle_room"_a, "room"_a, "capacity"_a,
            "free"_a, "closed"_a, "held_until"_a, "held_on"_a, "held"_a, "total"_a, "demands"_a,
            "used_at"_a, "used"_a, "weights"_a, "free_until"_a, "makespan"_a, "curves"_a,
            "horizon"_a, "dominations"_a.none())
        .def(
            "restart",
            [](Search& self, const std::vector<int>& order) {
                expect(order.size() == self.problem().jobs.size(), "order");
                self.restart(order);
            },
            "order"_a, "Begin anew with another order; counts and the best plan stay.")
        .def("advance", &Search::advance, nb::call_guard<nb::gil_scoped_release>(), "nodes"_a,
             "fails"_a, "seconds"_a,
             R"(Go on up to a number of nodes or fails; say whether the tree is done.

Parameters
----------
nodes, fails
    Numbers, since the first order, at which to pause.
seconds
    Time after which to pause all the same.
)")
        .def("improve_on", &Search::improve_on, "cost"_a, "Look only for plans that cost less.")
        .def_prop_ro("nodes", &Search::nodes, "Decisions and their changes so far.")
        .def_prop_ro("fails", &Search::fails, "Dead ends so far.")
        .def_prop_ro("left_out", &Search::left_out,
                     "Whether a placement was left out that may have led to a better plan.")
        .def_prop_ro(
            "starts",
            [](const Search& self) -> std::optional<std::vector<int64_t>> {
                if (!self.has_plan()) return std::nullopt;
                return self.best().starts;
            },
            "Starts of the best plan that was found, `[J]`; None without any.")
        .def_prop_ro(
            "placed",
            [](const Search& self) {
                std::vector<std::tuple<int, int, int64_t>> entries;
                for (const Placed& placed : self.best().placed)
                    entries.emplace_back(placed.job, placed.node, placed.units);
                return entries;
            },
            "Job, node and units of each of its placements, where it names nodes.")
        .def_prop_ro("best_cost", [](const Search& self) -> std::optional<int64_t> {
            if (self.best().cost == never) return std::nullopt;
            return self.best().cost;
        }, "Cost that a plan has to stay below; None without any.");
}

}  // namespace hpcsched::postpone
