#include "bindings/replay_bindings.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bound_state.hpp"
#include "core/estimated_ends.hpp"
#include "core/fit_counts.hpp"
#include "core/shared_resources.hpp"
#include "replay/event_loop.hpp"
#include "rules/announced_outages.hpp"
#include "rules/filling.hpp"
#include "rules/node_plan.hpp"
#include "rules/reservations.hpp"
#include "rules/round.hpp"
#include "rules/starts.hpp"

using namespace nanobind::literals;

namespace hpcsched {

namespace {

/// An allocator that is a Python object, for the time of a call.
class PythonAllocator : public ExternalAllocator {
public:
    explicit PythonAllocator(nb::handle allocator) : allocator_(allocator) {}

    Numbers place(int64_t row, View<const int64_t> fits,
                  Matrix<const int64_t> available) override
    {
        // Without an owner, they are copied for Python.
        const nb::ndarray<nb::numpy, const int64_t> fitting(
            fits.data(), {static_cast<size_t>(fits.size())});
        const nb::ndarray<nb::numpy, const int64_t> free(
            available.data(),
            {static_cast<size_t>(available.rows()), static_cast<size_t>(available.columns())});
        const auto placed =
            nb::cast<Array<const int64_t>>(allocator_.attr("place")(row, fitting, free));
        return Numbers(placed.data(), placed.data() + placed.shape(0));
    }

    int64_t take_slots(int64_t units) override
    {
        return nb::cast<int64_t>(allocator_.attr("take_slots")(units));
    }

private:
    nb::handle allocator_;
};

/// Call a function of a state: with an allocator in Python, or without the interpreter's lock.
template <class Function>
void call(State& state, nb::handle allocator, Function function)
{
    if (state.by_node) count_fits(state);
    if (allocator.is_none()) {
        const nb::gil_scoped_release released;
        function(state);
        return;
    }
    PythonAllocator asked(allocator);
    state.choices.external = &asked;
    function(state);
}

void decide(BoundState& bound, nb::handle allocator, bool explains)
{
    call(bound.state(), allocator, [explains](State& state) { hold_round(state, explains); });
}

void start_beside_plan(BoundState& bound, nb::handle allocator)
{
    call(bound.state(), allocator, fill_beside_plan);
}

/// A plan of a single problem, asked about one job after another.
class BoundPlan {
public:
    explicit BoundPlan(BoundState& bound) : state_(bound.state())
    {
        if (state_.by_node) count_fits(state_);
        hpcsched::open_shared(state_);
        counts_units(state_);
        compute_pressure(state_);
    }

    void open(bool counted)
    {
        state_.counters.first_made = state_.counters.last_made = none;
        plan_ = open_plan(state_, counted);
    }

    State& state() { return state_; }
    RoundPlan& plan() { return plan_; }

private:
    State& state_;
    RoundPlan plan_{};
};

nb::ndarray<nb::numpy, int64_t> copied(const Numbers& numbers, std::vector<size_t> shape)
{
    auto* owned = new Numbers(numbers);
    const nb::capsule owner(owned, [](void* data) noexcept { delete static_cast<Numbers*>(data); });
    return {owned->data(), shape.size(), shape.data(), owner};
}

auto segments(BoundPlan& bound)
{
    const Profile& profile = bound.plan().profile;
    const auto count = static_cast<size_t>(profile.size());
    Numbers head, start, after, free;
    for (int64_t run = 0; run < profile.run_count(); ++run)
        head.insert(head.end(), static_cast<size_t>(profile.nodes(run)), profile.head(run));
    for (int64_t s = 0; s < profile.size(); ++s) {
        start.push_back(profile.start(s));
        after.push_back(profile.after(s));
        for (int64_t r = 0; r < profile.type_count(); ++r) free.push_back(profile.free(s, r));
    }
    return std::tuple(copied(head, {head.size()}), copied(start, {count}), copied(after, {count}),
                      copied(free, {count, static_cast<size_t>(profile.type_count())}));
}

void bind_plan(nb::module_& core)
{
    nb::class_<BoundPlan>(core, "RoundPlan",
                          R"(Plan of a single problem, asked about one job after another.

Jobs may be started before the plan is opened and, beside reservations, afterwards.

Parameters
----------
state
    A state without an allocator in Python.
)")
        .def(nb::init<BoundState&>(), "state"_a, nb::keep_alive<1, 2>())
        .def("open", &BoundPlan::open, "counted"_a,
             "Open the plan: by count of units, or node by node.")
        .def(
            "fits_now", [](BoundPlan& b, int64_t row) { return fits_now(b.state(), row); }, "row"_a,
            "Return whether a job could be placed now, whatever is reserved.")
        .def(
            "start", [](BoundPlan& b, int64_t row) { start(b.state(), row); }, "row"_a,
            "Start a job, before the plan is opened.")
        .def(
            "start_on",
            [](BoundPlan& b, int64_t row, const Array<const int64_t>& placed) {
                start_where_placed(b.state(), row, placement_of(view_of(placed)));
            },
            "row"_a, "placed"_a, "Start a job with units on nodes, `[N]`.")
        .def(
            "fits_beside",
            [](BoundPlan& b, int64_t row) { return fits_beside(b.state(), b.plan(), row); },
            "row"_a, "Return whether a job fits until its predicted end, beside all reservations.")
        .def(
            "start_beside",
            [](BoundPlan& b, int64_t row) { return start_beside(b.state(), b.plan(), row); },
            "row"_a, "Start a job beside all reservations; return whether it fitted.")
        .def(
            "earliest",
            [](BoundPlan& b, int64_t row) {
                return earliest_beside_shared(b.state(), row, b.state().now(), never,
                                              b.plan().profile);
            },
            "row"_a, "Return the earliest start of a job, node by node.")
        .def(
            "reserve",
            [](BoundPlan& b, int64_t row, int64_t release) {
                return reserve(b.state(), b.plan(), row, release, never);
            },
            "row"_a, "release"_a, "Reserve room for a job at the earliest time, which is returned.")
        .def(
            "hold",
            [](BoundPlan& b, int64_t row, int64_t begin) {
                return hold(b.state(), b.plan(), row, begin);
            },
            "row"_a, "begin"_a, "Reserve room for a job from a time on; return whether it fits.")
        .def(
            "cancel", [](BoundPlan& b, int64_t row) { cancel(b.state(), b.plan(), row); }, "row"_a,
            "Cancel the reservation of a job, whose nodes stay noted.")
        .def("segments", &segments,
             R"(Return the first segment of each node, `[N]`, and the segments.

Segments have starts, `[S]`, successors, `[S]`, and free amounts, `[S, R]`. Equal nodes share them.
)");
}

}  // namespace

void bind_replay(nb::module_& core)
{
    nb::class_<BoundState>(core, "State", R"(State of a replay or of a round, over arrays of Python.

Parameters
----------
tables, shapes, choices, outages, followers, flight, shared_resources, batch, output
    Records of `hpcsched.dispatching.core.state`.
by_node
    Whether units are placed node by node; otherwise slots are counted.
)")
        .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle,
                      nb::handle, nb::handle, nb::handle, bool>(),
             "tables"_a, "shapes"_a, "choices"_a, "outages"_a, "followers"_a, "flight"_a,
             "shared_resources"_a, "batch"_a, "output"_a, "by_node"_a)
        .def(
            "advance",
            [](BoundState& bound, double seconds) {
                const nb::gil_scoped_release released;
                return static_cast<int64_t>(advance(bound.state(), seconds));
            },
            "seconds"_a, R"(Replay until something is needed or the replay is over.

Parameters
----------
seconds
    Real time after which the loop pauses between two instants; negative: after each instant.

Returns
-------
int
    Code of the cause of the return. The next call continues where this one stopped.
)")
        .def("decide", &decide, "allocator"_a.none(), "explains"_a,
             R"(Hold the round of a single problem.

Parameters
----------
allocator
    Python object that places jobs: `place(row, fits, available)` and `take_slots(units)`; None
    for one of the core's.
explains
    Whether to note reasons of waiting jobs.
)")
        .def("start_beside_plan", &start_beside_plan, "allocator"_a.none(),
             "Start planned jobs of a single problem, and those that fit beside; see `decide`.")
        .def(
            "open_shared", [](BoundState& bound) { open_shared(bound.state()); },
            "Find the free amounts of shared resources from now on.")
        .def(
            "short_resource",
            [](BoundState& bound, int64_t row, int64_t begin) {
                return short_resource(bound.state(), row, begin);
            },
            "row"_a, "begin"_a,
            "Return a shared resource that is short for a job from a start on; -1 if none is.")
        .def(
            "earliest_in_shared",
            [](BoundState& bound, int64_t row, int64_t begin) {
                return earliest_in_shared(bound.state(), row, begin);
            },
            "row"_a, "begin"_a,
            "Return the earliest start of a job at which shared resources suffice.")
        .def(
            "reserve_shared",
            [](BoundState& bound, int64_t row, int64_t begin, int64_t sign) {
                reserve_shared(bound.state(), row, begin, sign);
            },
            "row"_a, "begin"_a, "sign"_a,
            "Reserve a job's draw from a start on (sign 1), or give it back (-1).")
        .def(
            "shared_steps",
            [](BoundState& bound) {
                const SharedResources::Steps& steps = bound.state().shared.steps;
                return std::pair(steps.time, steps.free);
            },
            "Return the starts of steps, and the free amounts of shared resources in each.")
        .def(
            "draw_for_start",
            [](BoundState& bound, int64_t row, const Array<const int64_t>& placed) {
                draw_for_start(bound.state(), row, placement_of(view_of(placed)));
            },
            "row"_a, "placed"_a,
            "Subtract the draw of a job that starts now with units on nodes, `[N]`.");
    core.def(
        "corrected_end",
        [](const Array<const int64_t>& job, int64_t now, int64_t correction) {
            if (job.shape(0) * sizeof(int64_t) != sizeof(Job)) throw nb::value_error("job");
            return corrected_end(*reinterpret_cast<const Job*>(job.data()), now,
                                 static_cast<Correction>(correction));
        },
        "job"_a, "now"_a, "correction"_a,
        "Return the end, after now, of a job that has outlived its prediction, from its row.");
    bind_plan(core);
}

}  // namespace hpcsched
