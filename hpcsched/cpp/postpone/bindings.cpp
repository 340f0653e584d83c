#include "postpone/bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "bindings/fields.hpp"
#include "postpone/search.hpp"

using namespace nanobind::literals;

namespace hpcsched::postpone {

namespace {

using Pairs = std::vector<std::pair<int, int>>;
using Closed = std::tuple<int, int64_t, int64_t>;

void expect(bool right, const char* what)
{
    if (!right) throw std::invalid_argument(std::string("wrong shape or number: ") + what);
}

template <class T>
T value_of(nb::handle object, const char* name)
{
    return nb::cast<T>(object.attr(name));
}

Amounts row(Matrix<const int64_t> table, int64_t number)
{
    return Amounts(table.row(number).begin(), table.row(number).end());
}

std::vector<Corner> corners(nb::handle curve)
{
    const auto at = value_of<Amounts>(curve, "at"), cost = value_of<Amounts>(curve, "cost");
    auto slopes = value_of<Amounts>(curve, "slopes");
    slopes.push_back(slopes.empty() ? 0 : slopes.back());  // the last piece goes on
    std::vector<Corner> made;
    for (std::size_t k = 0; k < at.size(); ++k) made.push_back({at[k], cost[k], slopes[k]});
    return made;
}

void set_nodes(Problem& problem, nb::handle model, const Fields& data, bool last_first)
{
    if (problem.mode == Mode::aggregated) return;
    const auto capacity = data.matrix<const int64_t>("capacity");
    const auto free =
        data.matrix<const int64_t>(problem.mode == Mode::now ? "available" : "not_allocated");
    const int count = static_cast<int>(capacity.rows());
    const auto place = [&](int64_t n) {
        return static_cast<int>(last_first ? count - 1 - n : n);
    };
    for (int n = 0; n < count; ++n)
        problem.nodes.push_back({place(n), row(capacity, place(n)), row(free, place(n))});
    if (!problem.by_node()) return;
    for (const auto& [n, begin, end] : value_of<std::vector<Closed>>(model, "closed"))
        problem.nodes.at(place(n)).outages.push_back({begin, end});
    // Running jobs, those of one node that end together as one.
    const auto until = data.view<const int64_t>("allocated_until");
    const auto on = data.view<const int64_t>("allocated_on");
    const auto amounts = data.matrix<const int64_t>("allocated");
    std::map<std::pair<int64_t, int>, Amounts> held;
    for (int64_t k = 0; k < until.size(); ++k) {
        Amounts& of_node = held[{until[k], place(on[k])}];
        of_node.resize(problem.type_count);
        for (int r = 0; r < problem.type_count; ++r) of_node[r] += amounts(k, r);
    }
    for (const auto& [key, of_node] : held)
        problem.held.push_back({key.first, key.second, of_node});
}

void set_jobs(Problem& problem, nb::handle model, const Fields& data,
              Matrix<const int64_t> demands, const std::vector<int>& numbers)
{
    const auto units = data.view<const int64_t>("units");
    const auto run_times = data.view<const int64_t>("run_times");
    const auto latest_starts = data.view<const int64_t>("latest_starts");
    const auto requests = data.matrix<const int64_t>("requests");
    const auto idle_room = data.matrix<const int64_t>("room");
    const auto room = data.matrix<const int64_t>(problem.mode == Mode::now ? "room_now" : "room");
    const auto weights = data.matrix<const int64_t>("weights");
    const auto free = data.matrix<const int64_t>("free");
    const nb::object curves = model.attr("curves");
    expect(room.columns() == data.matrix<const int64_t>("capacity").rows(), "room");
    for (const int j : numbers) {
        Job job{units[j],         run_times[j],    latest_starts[j],
                row(requests, j), row(demands, j), row(idle_room, j)};
        expect(job.units >= 1 && job.run_time >= 1, "units or run times of jobs");
        for (const Node& node : problem.nodes) job.room.push_back(room(j, node.number));
        for (int64_t t = 0; t < weights.rows(); ++t)
            job.terms.push_back({weights(t, j), free(t, j)});
        if (!curves.is_none()) job.curve = corners(curves[j]);
        problem.jobs.push_back(std::move(job));
    }
}

Problem read_problem(nb::handle model, nb::handle cumulatives, const std::vector<int>& jobs,
                     Mode mode, bool back_to_start, bool last_node_first,
                     const std::optional<Pairs>& dominations)
{
    Fields::Owners owners;
    const Fields data(model, owners), shared(cumulatives, owners);
    Problem problem{mode, back_to_start, data.number<int64_t>("makespan"),
                    data.number<int64_t>("horizon")};
    problem.type_count = value_of<int>(model, "type_count");
    const auto total = shared.view<const int64_t>("total");
    const auto used_at = shared.view<const int64_t>("used_at");
    problem.total.assign(total.begin(), total.end());
    for (int64_t f = 0; f < used_at.size(); ++f)
        problem.used.push_back({used_at[f], row(shared.matrix<const int64_t>("used"), f)});
    set_nodes(problem, model, data, last_node_first);
    set_jobs(problem, model, data, shared.matrix<const int64_t>("demands"), jobs);
    for (const auto& [first, second] : dominations.value_or(Pairs{}))
        problem.jobs.at(second).dominators.push_back(first);
    const auto ends = data.view<const int64_t>("allocated_until");
    // Twins that dominate one another are in order already.
    problem.complete({ends.begin(), ends.end()}, !dominations && model.attr("curves").is_none());
    return problem;
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
                       R"(The search tree of schedule-or-postpone. Not for several threads at once.

Parameters
----------
data, cumulatives
    A `ModelData`, and its `Cumulatives`.
jobs
    Numbers of the `J` jobs with a free start; by these they are counted from here on.
order
    The jobs in the order of decisions, `[J]`.
mode
    Jobs whose nodes a plan names.
back_to_start
    Whether a failure leads to another start of a job rather than to other nodes for it.
last_node_first
    Whether nodes are tried from the last one on.
dominations
    Pairs of a job and one that starts no sooner; None where the plan need not keep to any.
)")
        .def(
            "__init__",
            [](Search* self, nb::handle data, nb::handle cumulatives, const std::vector<int>& jobs,
               const std::vector<int>& order, Mode mode, bool back_to_start, bool last_node_first,
               const std::optional<Pairs>& dominations) {
                expect(order.size() == jobs.size(), "order");
                new (self) Search(read_problem(data, cumulatives, jobs, mode, back_to_start,
                                               last_node_first, dominations),
                                  order);
            },
            "data"_a, "cumulatives"_a, "jobs"_a, "order"_a, nb::kw_only(), "mode"_a,
            "back_to_start"_a, "last_node_first"_a, "dominations"_a.none())
        .def(
            "restart",
            [](Search& self, const std::vector<int>& order) {
                expect(order.size() == self.problem().jobs.size(), "order");
                self.restart(order);
            },
            "order"_a, "Begin anew with another order; counts and the best plan stay.")
        .def("advance", &Search::advance, nb::call_guard<nb::gil_scoped_release>(), "nodes"_a,
             "fails"_a, "seconds"_a,
             "Go on up to numbers, since the first order, of nodes or fails, or for some seconds; "
             "say whether the tree is done.")
        .def("improve_on", &Search::improve_on, "cost"_a, "Look only for plans that cost less.")
        .def_prop_ro("nodes", &Search::nodes, "Decisions and their changes so far.")
        .def_prop_ro("fails", &Search::fails, "Dead ends so far.")
        .def_prop_ro("left_out", &Search::left_out,
                     "Whether a placement was left out that may have led to a better plan.")
        .def_prop_ro(
            "starts", [](const Search& self) { return self.best().starts; },
            "Starts of the best plan that was found, `[J]`; None without any.")
        .def_prop_ro(
            "placed", [](const Search& self) { return self.best().placed; },
            "Job, node and units of each of its placements, where it names nodes.")
        .def_prop_ro(
            "best_cost",
            [](const Search& self) {
                const int64_t cost = self.best().cost;
                return cost == never ? std::nullopt : std::optional(cost);
            },
            "Cost that a plan has to stay below; None without any.");
}

}  // namespace hpcsched::postpone
