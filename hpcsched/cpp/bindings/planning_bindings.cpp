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

using Owners = Fields::Owners;

/// Return the jobs and nodes of a `ModelData`.
ModelJobs jobs_of(nb::handle data, Owners& owners)
{
    const Fields fields(data, owners);
    return {
        .counted = fields.number<bool>("counted"),
        .units = fields.view<const int64_t>("units"),
        .requests = fields.matrix<const int64_t>("requests"),
        .run_times = fields.view<const int64_t>("run_times"),
        .room = fields.matrix<const int64_t>("room"),
        .capacity = {fields.matrix<const int64_t>("capacity"),
                     fields.view<const int64_t>("totals")},
        .draws = fields.matrix<const int64_t>("shared_draws"),
        .releases = fields.view<const int64_t>("releases"),
    };
}

StartTimeCosts costs_of(nb::handle record, Owners& owners)
{
    const Fields fields(record, owners);
    return {
        .weights = fields.matrix<const double>("weights"),
        .free = fields.matrix<const double>("free"),
        .makespan = fields.number<double>("makespan"),
        .discount_time_constant = 0.0,
        .alpha = fields.number<double>("alpha"),
        .dinkelbach_parameter = fields.number<double>("dinkelbach_parameter"),
        .amounts = fields.view<const double>("amounts"),
        .submit = fields.view<const int64_t>("submit"),
        .run_times = fields.view<const int64_t>("run_times"),
    };
}

/// Return what running jobs, outages and the offers of shared resources leave free over time.
FreeResources open_resources(nb::handle data)
{
    Owners owners;
    const Fields fields(data, owners);
    const auto not_allocated = fields.matrix<const int64_t>("not_allocated");
    const auto until = fields.view<const int64_t>("allocated_until");
    const auto on = fields.view<const int64_t>("allocated_on");
    const auto allocated = fields.matrix<const int64_t>("allocated");
    const int64_t nodes = not_allocated.rows(), types = not_allocated.columns();
    if (fields.number<bool>("counted")) {
        Steps steps(0, not_allocated(0, 0));
        for (int64_t k = 0; k < until.size(); ++k) {
            steps.begin_step(until[k]);
            steps.add_to_last(allocated(k, 0));
        }
        return FreeResources(std::move(steps));
    }
    const nb::object shared = data.attr("shared_resources"), outages = data.attr("outages");
    Matrix<const int64_t> offered;
    if (!shared.is_none()) offered = Fields(shared, owners).matrix<const int64_t>("free");
    Table<int64_t> available(types, nodes + offered.columns());
    for (int64_t r = 0; r < types; ++r)
        for (int64_t node = 0; node < nodes; ++node) available(r, node) = not_allocated(node, r);
    for (int64_t p = 0; p < offered.columns(); ++p) available(0, nodes + p) = offered(0, p);
    Profile profile(0, available);
    for (int64_t k = 0; k < until.size(); ++k) {
        const int64_t segment = profile.begin_segment(on[k], until[k]);
        for (int64_t r = 0; r < types; ++r) profile.free(segment, r) += allocated(k, r);
    }
    for (int64_t t = 1; t < offered.rows(); ++t) {
        const auto since = Fields(shared, owners).view<const int64_t>("since");
        for (int64_t p = 0; p < offered.columns(); ++p)
            if (offered(t, p) != offered(t - 1, p))
                profile.free(profile.begin_segment(nodes + p, since[t]), 0) = offered(t, p);
    }
    if (outages.is_none()) return FreeResources(std::move(profile));
    const Fields closed(outages, owners);
    const auto closed_nodes = closed.view<const int64_t>("nodes");
    const auto begins = closed.view<const int64_t>("begins");
    const auto ends = closed.view<const int64_t>("ends");
    for (int64_t k = 0; k < closed_nodes.size(); ++k)
        profile.close({&closed_nodes[k], 1}, begins[k], ends[k]);
    return FreeResources(std::move(profile));
}

bool plan_jobs(const Row& order, nb::handle data, const FreeResources& free,
               const Array<int64_t>& starts, const Array2<int64_t>& placed)
{
    Owners owners;
    const ModelJobs jobs = jobs_of(data, owners);
    const nb::gil_scoped_release released;
    return plan_in_order(view_of(order), jobs, free, view_of(starts), matrix_of(placed));
}

std::pair<double, bool> search(const Array2<const int64_t>& orders, nb::handle data,
                               const FreeResources& free, nb::handle costs, int64_t budget,
                               double front_bias, const Array<int64_t>& random,
                               const Array<int64_t>& order, const Array<int64_t>& starts,
                               const Array2<int64_t>& placed)
{
    Owners owners;
    const ModelJobs jobs = jobs_of(data, owners);
    const StartTimeCosts start_costs = costs_of(costs, owners);
    const nb::gil_scoped_release released;
    OrderSearch searched(jobs, free, start_costs, budget, front_bias, view_of(order));
    const auto found = searched.run(matrix_of(orders), random.data()[0]);
    plan_in_order(view_of(order), jobs, free, view_of(starts), matrix_of(placed));
    return found;
}

double cost_at(nb::handle costs, int64_t job, int64_t start)
{
    Owners owners;
    return costs_of(costs, owners).cost_at(job, start);
}

void find_costs(nb::handle record, const Row& starts, const Array<double>& found)
{
    Owners owners;
    const StartTimeCosts costs = costs_of(record, owners);
    for (int64_t job = 0; job < view_of(starts).size(); ++job)
        found.data()[job] = costs.cost_at(job, starts.data()[job]);
}

void find_cheapest(nb::handle record, const Array<int64_t>& starts, const Array<double>& least)
{
    Owners owners;
    const StartTimeCosts costs = costs_of(record, owners);
    for (int64_t job = 0; job < view_of(starts).size(); ++job) {
        starts.data()[job] = costs.cheapest_start(job, costs.submit[job]);
        least.data()[job] = costs.cost_at(job, starts.data()[job]);
    }
}

std::pair<double, double> least_of_all(const Row& demands, const Row& cheapest, nb::handle costs,
                                       const Row& edges, const Array<const double>& rates,
                                       const Array<const double>& upto, const Array<double>& used)
{
    Owners owners;
    return least_with_multipliers(view_of(demands), view_of(cheapest), costs_of(costs, owners),
                                  {view_of(edges), view_of(rates), view_of(upto)}, view_of(used));
}

int64_t improve_trace(const Row& seeds, int64_t width, int64_t budget,
                      const Array<int64_t>& random, nb::handle data, nb::handle costs,
                      const Array<const double>& least, const Array<int64_t>& order,
                      const Array<int64_t>& starts, const Array2<int64_t>& placed)
{
    Owners owners;
    const ModelJobs jobs = jobs_of(data, owners);
    const StartTimeCosts start_costs = costs_of(costs, owners);
    const nb::gil_scoped_release released;
    return NeighbourhoodSearch({view_of(seeds), width, budget, random.data()[0]}, jobs, start_costs,
                               view_of(least),
                               {view_of(order), view_of(starts), matrix_of(placed)})
        .run();
}

}  // namespace

OwnedCosts owned_costs(nb::handle record)
{
    Owners owners;
    const StartTimeCosts costs = costs_of(record, owners);
    return {Table<double>(costs.weights),
            Table<double>(costs.free),
            costs.makespan,
            costs.discount_time_constant,
            costs.alpha,
            costs.dinkelbach_parameter,
            {costs.amounts.begin(), costs.amounts.end()},
            {costs.submit.begin(), costs.submit.end()},
            {costs.run_times.begin(), costs.run_times.end()}};
}

void bind_planning(nb::module_& core)
{
    nb::class_<FreeResources>(core, "FreeResources", "Free resources of a `ModelData` over time.")
        .def(
            "__init__",
            [](FreeResources* self, nb::handle data) {
                new (self) FreeResources(open_resources(data));
            },
            "data"_a)
        .def("__copy__", [](const FreeResources& free) { return FreeResources(free); })
        .def(
            "take",
            [](FreeResources& free, int64_t job, nb::handle data, int64_t begin,
               const Row& placed) {
                Owners owners;
                const ModelJobs jobs = jobs_of(data, owners);
                free.take(job, jobs, begin, begin + jobs.run_times[job], view_of(placed));
            },
            "job"_a, "data"_a, "begin"_a, "placed"_a,
            "Take what a job holds from a step on, with units on nodes, `[N]`.");
    core.def("plan_in_order", &plan_jobs, "order"_a, "data"_a, "free"_a, "starts"_a, "placed"_a,
             "Write the starts, `[J]`, and units on nodes, `[J, N]`, of the jobs of an order, each "
             "planned at its earliest start beside those before it; say whether all could be.");
    core.def("search_orders", &search, "orders"_a, "data"_a, "free"_a, "costs"_a, "budget"_a,
             "front_bias"_a, "random"_a, "order"_a, "starts"_a, "placed"_a,
             "Write the order with the cheapest list plan, `[J]`, that is found from the best of "
             "`orders`, `[K, J]`, on, and its plan; return its cost, and whether none costs less. "
             "The budget is a number of segments of plans; `random` is the state, `[1]`.");
    core.def("cost_at", &cost_at, "costs"_a, "job"_a, "start"_a,
             "Return the cost of a job at a start.");
    core.def("find_costs", &find_costs, "costs"_a, "starts"_a, "found"_a,
             "Write the cost of each job at its start, `[J]`.");
    core.def("find_cheapest", &find_cheapest, "costs"_a, "starts"_a, "least"_a,
             "Write each job's start of least cost from its submission on, and that cost, `[J]`.");
    core.def("least_with_multipliers", &least_of_all, "demands"_a, "cheapest"_a, "costs"_a,
             "edges"_a, "rates"_a, "upto"_a, "used"_a,
             "Return the least cost plus price of jobs, each by itself, and the size of its terms; "
             "write the use of each piece of time, in units × seconds, `[B]`. The multipliers are "
             "those of `hpcsched.dispatching.offline.bounds`.");
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
             "data"_a, "costs"_a, "least"_a, "order"_a, "starts"_a, "placed"_a,
             "Improve the plan of a trace in the neighbourhoods, of `width` jobs, of some seeds; "
             "return the rest of the budget of segments. `order` has the jobs by start.");
}

}  // namespace hpcsched
