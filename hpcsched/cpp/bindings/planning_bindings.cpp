#include "bindings/planning_bindings.hpp"

#include <nanobind/stl/pair.h>

#include "bindings/fields.hpp"
#include "offline/list_replay.hpp"
#include "offline/multipliers.hpp"
#include "offline/neighbourhoods.hpp"
#include "planning/order_search.hpp"

using namespace nanobind::literals;

namespace hpcsched {

namespace {

using Row = Array<const int64_t>;

/// A Python record of arrays, read for one call.
class ModelJobsRecord {
public:
    explicit ModelJobsRecord(nb::handle record) : jobs(read(Fields(record, owners_))) {}

private:
    Fields::Owners owners_;

    static ModelJobs read(const Fields& fields)
    {
        return {
            .aggregated = fields.number<bool>("aggregated"),
            .units = fields.view<const int64_t>("units"),
            .requests = fields.matrix<const int64_t>("requests"),
            .run_times = fields.view<const int64_t>("run_times"),
            .room = fields.matrix<const int64_t>("room"),
            .capacity = {fields.matrix<const int64_t>("capacity"),
                         fields.view<const int64_t>("totals")},
            .draws = fields.matrix<const int64_t>("draws"),
            .releases = fields.view<const int64_t>("releases"),
        };
    }

public:
    ModelJobs jobs;
};

class CostsRecord {
public:
    explicit CostsRecord(nb::handle record) : costs(read(Fields(record, owners_))) {}

private:
    Fields::Owners owners_;

    static StartTimeCosts read(const Fields& fields)
    {
        return {
            .weights = fields.matrix<const double>("weights"),
            .free = fields.matrix<const double>("free"),
            .makespan = fields.number<double>("makespan"),
            .discount_time_constant = fields.number<double>("discount_time_constant"),
            .alpha = fields.number<double>("alpha"),
            .dinkelbach_parameter = fields.number<double>("dinkelbach_parameter"),
            .amounts = fields.view<const double>("amounts"),
            .submit = fields.view<const int64_t>("submit"),
            .run_times = fields.view<const int64_t>("run_times"),
        };
    }

public:
    StartTimeCosts costs;
};

FreeResources open_resources(int64_t now, const Array2<const int64_t>& available, const Row& times,
                             const Row& nodes, const Array2<const int64_t>& amounts)
{
    Profile profile(now, matrix_of(available));
    for (int64_t k = 0; k < view_of(times).size(); ++k) {
        const int64_t segment = profile.begin_segment(nodes.data()[k], times.data()[k]);
        for (int64_t r = 0; r < profile.type_count(); ++r)
            profile.free(segment, r) += matrix_of(amounts)(k, r);
    }
    return FreeResources(std::move(profile));
}

void take(FreeResources& free, int64_t begin, int64_t end, const Row& nodes,
          const Array2<const int64_t>& amounts)
{
    for (int64_t k = 0; k < view_of(nodes).size(); ++k)
        free.profile().take(nodes.data()[k], begin, end, matrix_of(amounts).row(k));
}

bool plan_jobs(const Row& order, nb::handle jobs, const FreeResources& free,
               const Array<int64_t>& starts, const Array2<int64_t>& placed)
{
    const ModelJobsRecord record(jobs);
    FreeResources left = free.for_jobs(record.jobs);
    const nb::gil_scoped_release released;
    return plan_in_order(view_of(order), record.jobs, left, view_of(starts), matrix_of(placed));
}

std::pair<double, bool> search(const Array2<const int64_t>& orders, nb::handle jobs,
                               const FreeResources& free, nb::handle costs, int64_t budget,
                               double front_bias, const Array<int64_t>& random,
                               const Array<int64_t>& order, const Array<int64_t>& starts,
                               const Array2<int64_t>& placed)
{
    const ModelJobsRecord record(jobs);
    const CostsRecord costs_record(costs);
    const nb::gil_scoped_release released;
    const auto [cost, is_proved] =
        search_orders(matrix_of(orders), record.jobs, free, costs_record.costs,
                      {budget, front_bias}, random.data()[0], view_of(order));
    FreeResources left = free.for_jobs(record.jobs);
    plan_in_order(view_of(order), record.jobs, left, view_of(starts), matrix_of(placed));
    return {cost, is_proved};
}

double cost_at(nb::handle costs, int64_t job, int64_t start)
{
    return CostsRecord(costs).costs.cost_at(job, start);
}

void find_costs(nb::handle costs, const Row& starts, const Array<double>& found)
{
    const CostsRecord record(costs);
    for (int64_t job = 0; job < view_of(starts).size(); ++job)
        found.data()[job] = record.costs.cost_at(job, starts.data()[job]);
}

void find_cheapest(nb::handle costs, const Array<int64_t>& starts, const Array<double>& least)
{
    const CostsRecord record(costs);
    for (int64_t job = 0; job < view_of(starts).size(); ++job) {
        starts.data()[job] = record.costs.cheapest_start(job, record.costs.submit[job]);
        least.data()[job] = record.costs.cost_at(job, starts.data()[job]);
    }
}

std::pair<double, double> least_of_all(const Row& demands, const Row& cheapest, nb::handle costs,
                                       const Row& edges, const Array<const double>& rates,
                                       const Array<const double>& upto, const Array<double>& used)
{
    const CostsRecord record(costs);
    const Multipliers multipliers{view_of(edges), view_of(rates), view_of(upto)};
    const auto [total, size] = least_with_multipliers(
        view_of(demands), view_of(cheapest), record.costs, multipliers, view_of(used));
    return {total, size};
}

int64_t improve_trace(const Row& seeds, int64_t width, int64_t budget,
                      const Array<int64_t>& random, nb::handle jobs, nb::handle costs,
                      const Array<const double>& least, const Array<int64_t>& order,
                      const Array<int64_t>& starts, const Array2<int64_t>& placed)
{
    const ModelJobsRecord record(jobs);
    const CostsRecord costs_record(costs);
    const nb::gil_scoped_release released;
    const Pass pass{view_of(seeds), width, budget, random.data()[0]};
    return search_neighbourhoods(pass, record.jobs, costs_record.costs, view_of(least),
                                 {view_of(order), view_of(starts), matrix_of(placed)});
}

}  // namespace

void bind_planning(nb::module_& core)
{
    nb::class_<FreeResources>(core, "FreeResources",
                              R"(Free resources over time, before any job is planned.

Parameters
----------
now
    First step.
available
    Amounts free now, `[R, N + P]`; shared resources are rows behind the nodes.
times, nodes, amounts
    Later releases, by time: `[K]`, `[K]` and `[K, R]`.
)")
        .def(
            "__init__",
            [](FreeResources* self, int64_t now, const Array2<const int64_t>& available,
               const Row& times, const Row& nodes, const Array2<const int64_t>& amounts) {
                new (self) FreeResources(open_resources(now, available, times, nodes, amounts));
            },
            "now"_a, "available"_a, "times"_a, "nodes"_a, "amounts"_a)
        .def("__copy__", [](const FreeResources& free) { return FreeResources(free); })
        .def(
            "close",
            [](FreeResources& free, int64_t begin, int64_t end, const Row& nodes) {
                free.profile().close(view_of(nodes), begin, end);
            },
            "begin"_a, "end"_a, "nodes"_a, "Set the free amounts of nodes to 0 for a time.")
        .def("take", &take, "begin"_a, "end"_a, "nodes"_a, "amounts"_a,
             "Take amounts, `[K, R]`, of nodes for a time.")
        .def(
            "draw",
            [](FreeResources& free, int64_t begin, int64_t end, const Row& draws, int64_t nodes) {
                free.draw(begin, end, view_of(draws), nodes);
            },
            "begin"_a, "end"_a, "draws"_a, "nodes"_a,
            "Take draws, `[P]`, from the shared resources behind `nodes` nodes for a time.");
    core.def("plan_in_order", &plan_jobs, "order"_a, "jobs"_a, "free"_a, "starts"_a, "placed"_a,
             R"(Plan each job of an order at its earliest start beside those before it.

Parameters
----------
order
    Numbers of the jobs.
jobs
    A `ModelJobs`.
free
    Free resources; unchanged.
starts, placed
    Receive the start of each job, `[J]`, and its units on each node, `[J, N]`.

Returns
-------
bool
    Whether all jobs could be planned.
)");
    core.def("search_orders", &search, "orders"_a, "jobs"_a, "free"_a, "costs"_a, "budget"_a,
             "front_bias"_a, "random"_a, "order"_a, "starts"_a, "placed"_a,
             R"(Search for the order with the cheapest list plan, from the best of some orders on.

Parameters
----------
orders
    Numbers of the jobs, `[K, J]`.
jobs, free, costs
    A `ModelJobs`, its free resources, and `StartTimeCosts`.
budget
    Number of segments looked through, in making plans, at which the search ends.
front_bias
    How much more often moves take a job from the front of the order; 1: from anywhere alike.
random
    State of the random numbers, `[1]`; changed.
order, starts, placed
    Receive the best order, `[J]`, and its plan.

Returns
-------
tuple[float, bool]
    Cost of the plan, and whether no order can cost less.
)");
    core.def("cost_at", &cost_at, "costs"_a, "job"_a, "start"_a,
             "Return the cost of a job at a start.");
    core.def("find_costs", &find_costs, "costs"_a, "starts"_a, "found"_a,
             "Write the cost of each job at its start, `[J]`.");
    core.def("find_cheapest", &find_cheapest, "costs"_a, "starts"_a, "least"_a,
             "Write each job's start of least cost from its submission on, and that cost, `[J]`.");
    core.def("least_with_multipliers", &least_of_all, "demands"_a, "cheapest"_a, "costs"_a,
             "edges"_a, "rates"_a, "upto"_a, "used"_a,
             R"(Return the least cost plus price of jobs, each by itself, and the size of its terms.

Parameters
----------
demands
    Units that each job holds of the resource type, `[J]`.
cheapest
    Start of least cost of each job without multipliers, in seconds, `[J]`.
costs
    The `StartTimeCosts`.
edges, rates, upto
    The multipliers: borders of pieces of time, `[B + 1]`, price within each, `[B]`, and price of
    one unit up to each edge, `[B + 1]`.
used
    Receives the use of each piece of time, in units × seconds, `[B]`.
)");
    core.def(
        "replay_list",
        [](const Row& rank, const Row& submit, const Row& demands, const Row& run_times,
           int64_t capacity, const Array<int64_t>& starts) {
            replay_list(view_of(rank), view_of(submit), view_of(demands), view_of(run_times),
                        capacity, view_of(starts));
        },
        "rank"_a, "submit"_a, "demands"_a, "run_times"_a, "capacity"_a, "starts"_a,
        "Write the starts of list scheduling on-line with reservations for all; by submission.");
    core.def("search_neighbourhoods", &improve_trace, "seeds"_a, "width"_a, "budget"_a, "random"_a,
             "jobs"_a, "costs"_a, "least"_a, "order"_a, "starts"_a, "placed"_a,
             R"(Look for a better plan of a trace in the neighbourhood of each seed.

Parameters
----------
seeds
    Jobs to look around.
width
    Number of jobs that are planned anew together.
budget
    Number of segments that may be looked through.
random
    State of the random numbers, `[1]`; changed.
jobs, costs
    A `ModelJobs` and `StartTimeCosts`.
least
    Least cost of each job, `[J]`.
order
    The jobs by start, `[J]`; changed.
starts, placed
    The plan, `[J]` and `[J, N]`; changed.

Returns
-------
int
    Rest of the budget.
)");
}

}  // namespace hpcsched
