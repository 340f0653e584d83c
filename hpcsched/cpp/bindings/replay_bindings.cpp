#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>

#include "bindings/state_bindings.hpp"
#include "core/estimated_ends.hpp"
#include "core/places.hpp"
#include "replay/event_loop.hpp"
#include "replay/futures.hpp"

using namespace nanobind::literals;

namespace hpcsched {

namespace {

using Row = Array<const int64_t>;

void make_batch(Batch* self, const Row& number, const Row& submit_time, const Row& run_time,
                const Row& predicted, const Row& requested_time, const Row& units,
                const Row& shape, const Array2<const int64_t>& keys,
                const Array2<const int64_t>& behind_keys, const Array<const bool>& watched,
                const Row& refused, const Array2<const int64_t>& draws,
                const Array2<const int64_t>& owners, const Row& limits,
                const Array2<const int64_t>& precedence,
                const Array2<const int64_t>& waiting_times, bool is_predicted, bool last)
{
    new (self) Batch{
        .number = Column<int64_t>(view_of(number)),
        .submit_time = Column<int64_t>(view_of(submit_time)),
        .run_time = Column<int64_t>(view_of(run_time)),
        .predicted = Column<int64_t>(view_of(predicted)),
        .requested_time = Column<int64_t>(view_of(requested_time)),
        .units = Column<int64_t>(view_of(units)),
        .shape = Column<int64_t>(view_of(shape)),
        .keys = Table<int64_t>(matrix_of(keys)),
        .behind_keys = Table<int64_t>(matrix_of(behind_keys)),
        .watched = flags_of(watched),
        .is_predicted = is_predicted,
        .last = last,
        .refused = Column<int64_t>(view_of(refused)),
        .draws = Table<int64_t>(matrix_of(draws)),
        .owners = Table<int64_t>(matrix_of(owners)),
        .limits = Column<int64_t>(view_of(limits)),
        .precedence = Table<int64_t>(matrix_of(precedence)),
        .waiting_times = Table<int64_t>(matrix_of(waiting_times)),
    };
}

Pause advance_released(State& state, const Hooks& hooks, double seconds)
{
    const nb::gil_scoped_release released;
    return advance(state, hooks, seconds);
}

/// Return the places of a job with the devices of each unit, and take these from the `left` ones of
/// nodes: those that are given and free, or else the first choice.
UnitPlaces with_devices(const State& state, int64_t row, const UnitPlaces& places,
                        std::map<int64_t, Numbers>& left)
{
    const UnitRequest request = state.shapes.request(state.jobs[row].shape);
    if (request.devices == nullptr || request.exclusive) return places;
    UnitPlaces found;
    for (const auto& [node, units, given] : places) {
        const auto [own, is_new] = left.try_emplace(node);
        for (int64_t r = state.type_count(); is_new && r < state.column_count(); ++r)
            own->second.push_back(state.available(r, node));
        for (int64_t unit = 0; unit < units; ++unit) {
            if (request.devices->units_that_fit(own->second) == 0)
                throw nb::value_error(
                    ("job " + std::to_string(state.jobs[row].number) + ": node " +
                     std::to_string(node) + " has no device that is free for a unit").c_str());
            const bool is_known =
                given != 0 && DeviceRequest::least_of(own->second, given) >= request.devices->amount;
            const int64_t devices = is_known ? given : request.devices->choose(own->second);
            request.devices->take(own->second, devices);
            found.emplace_back(node, 1, devices);
        }
    }
    return found;
}

void answer(State& state, const Numbers& rows, const std::vector<UnitPlaces>& places,
            const std::vector<bool>& backfilled, const Numbers& dismissed, int64_t call_again,
            double seconds)
{
    std::map<int64_t, Numbers> left;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        state.jobs[rows[k]].cell =
            add_cells(state, with_devices(state, rows[k], places[k], left));
        state.started[static_cast<int64_t>(k)] = rows[k];
        state.jobs[rows[k]].backfilled = backfilled[k];
    }
    state.counters.decided = static_cast<int64_t>(rows.size());
    state.flight.dismissed = dismissed;
    state.flight.decision_seconds = seconds;
    state.counters.call_again = call_again;
}

using Records = NewArray<int64_t>;
using Nodes = NewArray<int32_t>;

std::tuple<Nodes, Nodes, Records> given_places(Places& places)
{
    return {given<int32_t>(std::move(places.nodes)), given<int32_t>(std::move(places.units)),
            given<int64_t>(std::move(places.devices))};
}

std::tuple<Records, std::tuple<Nodes, Nodes, Records>, Records, std::tuple<Nodes, Nodes, Records>,
           Records, Records, NewArray<double>, Records>
take_output(State& state)
{
    Output& output = state.output;
    const auto amounts = copied<int64_t>(output.amounts);
    const auto levels = copied<int64_t>(state.shared.levels);
    auto taken = std::tuple(
        given<int64_t>(std::move(output.jobs)), given_places(output.places),
        given<int64_t>(std::move(output.lost)), given_places(output.lost_places),
        given<int64_t>(std::move(output.rounds)), amounts,
        given<double>(std::move(output.decision_times)), levels);
    output.clear();
    state.shared.levels.resize(0);
    return taken;
}

std::tuple<Records, Nodes, Nodes, Records> take_events(State& state)
{
    Followed& followed = state.followed;
    auto taken = std::tuple_cat(std::tuple(given<int64_t>(std::move(followed.events))),
                                given_places(followed.starts));
    followed = {};
    return taken;
}

NewArray<int64_t> starts_in_futures(const State& state, const Row& rows,
                                    const Array2<const int64_t>& run_times, const Row& wanted,
                                    decltype(Futures::later) later, decltype(Futures::ended) ended,
                                    int64_t threads)
{
    const Futures futures{view_of(rows), matrix_of(run_times), view_of(wanted), std::move(later),
                          std::move(ended)};
    Table<int64_t> starts;
    {
        const nb::gil_scoped_release released;
        starts = future_starts(state, futures, threads);
    }
    return copied<int64_t>(starts);
}

}  // namespace

void bind_replay(nb::module_& core, nb::class_<State>& state)
{
    nb::enum_<Pause>(core, "Pause", "Why a replay returns.")
        .value("OVER", Pause::over)
        .value("JOBS_NEEDED", Pause::jobs_needed)
        .value("TIME_UP", Pause::time_up)
        .value("FOUND", Pause::found);
    nb::enum_<EventKind>(core, "EventKind", nb::is_arithmetic(), "Events for observers.")
        .value("SUBMITTED_JOB", EventKind::submitted_job)
        .value("REJECTED_JOB", EventKind::rejected_job)
        .value("STARTED_JOB", EventKind::started_job)
        .value("LOST_JOB", EventKind::lost_job)
        .value("ENDED_JOB", EventKind::ended_job)
        .value("ASKED_ROUND", EventKind::asked_round)
        .value("HELD_ROUND", EventKind::held_round)
        .value("DISMISSED_JOB", EventKind::dismissed_job)
        .value("WITHDRAWN_JOB", EventKind::withdrawn_job);
    nb::class_<Batch>(core, "Batch", R"(Jobs in order of submission, `[B]`.

Parameters
----------
keys, behind_keys
    Sort keys, ascending, `[B, K]`; of orders by wait, the first is the divisor of the wait.
watched
    Whether a job's submission, start or end may change the set of jobs that are held back.
refused
    Cause of a refusal at submission, -1 without one; empty if none is.
draws
    Draws on shared resources that do not depend on nodes, `[B, P]`.
owners
    User and partition, -1 if unknown, `[B, 2]`; see `State.needs_owners`.
limits
    Set of limits, -1 if a job has none, `[B]`; empty without limits.
precedence
    Rank and class in preemption, `[B, 2]`; empty: all jobs are alike.
waiting_times
    Seconds before which a job may not start, and at which it is withdrawn, `NEVER` if it is not,
    `[B, 2]`; empty without any.
is_predicted
    Whether predictions are known; otherwise they are asked for at submission.
last
    Whether no other batch follows.
)")
        .def("__init__", &make_batch, nb::kw_only(), "number"_a, "submit_time"_a, "run_time"_a,
             "predicted"_a, "requested_time"_a, "units"_a, "shape"_a, "keys"_a, "behind_keys"_a,
             "watched"_a, "refused"_a, "draws"_a, "owners"_a, "limits"_a, "precedence"_a,
             "waiting_times"_a, "is_predicted"_a, "last"_a);
    nb::class_<Hooks>(core, "Hooks", R"(What a replay asks of Python where it is needed.

Parameters
----------
predict
    Job of the batch → predicted run time, sort keys in both orders, cause of a refusal or -1.
correct
    Rows of jobs that have outlived their prediction → estimated ends.
look
    Rows to hold back or to release, and when that changes by itself.
look_again
    Whether a job is free that was held back in the last round, and the same time.
decide
    Gives the decision of a round with `State.answer`.
charge
    Number of jobs shown, real seconds → simulated seconds that a decision takes.
pass_instant
    Whether the replay goes on after an instant.
)")
        .def(
            "__init__",
            [](Hooks* self, decltype(Hooks::predict) predict, decltype(Hooks::correct) correct,
               decltype(Hooks::look) look, decltype(Hooks::look_again) look_again,
               decltype(Hooks::decide) decide, decltype(Hooks::charge) charge,
               decltype(Hooks::pass_instant) pass_instant) {
                new (self) Hooks{std::move(predict),    std::move(correct), std::move(look),
                                 std::move(look_again), std::move(decide),  std::move(charge),
                                 std::move(pass_instant)};
            },
            nb::kw_only(), "predict"_a, "correct"_a, "look"_a, "look_again"_a, "decide"_a,
            "charge"_a, "pass_instant"_a);
    state
        .def(
            "begin_batch",
            [](State& self, std::shared_ptr<Batch> batch) { begin_batch(self, std::move(batch)); },
            "batch"_a, "Begin the next batch of jobs.")
        .def("advance", &advance_released, "hooks"_a, "seconds"_a,
             R"(Replay until the batch is used up, the replay is over, or time is up.

Parameters
----------
seconds
    Real time after which the loop pauses between two instants. The next call goes on there.
)")
        .def("answer", &answer, nb::kw_only(), "rows"_a, "places"_a, "backfilled"_a,
             "dismissed"_a, "call_again"_a, "seconds"_a, R"(Give the decision of a round.

Parameters
----------
rows, places, backfilled
    Jobs to start, their nodes with units and devices, and whether one ahead of them waits on.
dismissed
    Rows of rejected jobs.
seconds
    Real time that the decision took.
)")
        .def("take_output", &take_output, R"(Return what was written since the last call.

Returns
-------
tuple
    Jobs that have left, `[J, 12]`; nodes, units and devices of their places; lost attempts,
    `[I, 12]`, and theirs; rounds, `[K, 8]`; their waiting, free and idle amounts, `[K, 3R]`; decision
    times, `[K]`; levels of shared resources with their times, `[L, 1 + P]`.
)")
        .def("take_events", &take_events,
             "Return the events since the last call, `[E, 6]`, and nodes, units and devices of starts.")
        .def(
            "keep_finished", [](State& self) { self.output.keep_finished(); },
            "Drop what was written after the last instant.")
        .def(
            "left_since",
            [](const State& self, int64_t first) {
                return given<int64_t>(
                    Column<LeftJob>(self.output.jobs.part(first, self.output.jobs.size())));
            },
            "first"_a, "Return the jobs that have left from one on, `[J, 12]`.")
        .def(
            "round_record",
            [](const State& self, int64_t k) {
                const RoundRecord& round = self.output.rounds[k];
                const View<const int64_t> amounts = self.output.amounts.row(k);
                return std::tuple(round.number, round.now, round.queued, round.running,
                                  round.started, round.waiting, round.latency, round.call_again,
                                  Numbers(amounts.begin(), amounts.end()),
                                  double{self.output.decision_times[k]});
            },
            "k"_a, "Return the numbers of a round, its amounts, and its decision time.")
        .def_prop_ro(
            "written",
            [](const State& self) {
                return std::pair(self.output.jobs.size(), self.output.rounds.size());
            },
            "Numbers of jobs and rounds that are written.")
        .def_prop_rw(
            "release", [](const State& self) { return self.counters.release; },
            [](State& self, int64_t time) { self.counters.release = time; },
            "When the jobs that are held back change even without an event.")
        .def("seek", [](State& self, const Numbers& jobs) {
                self.sought = {jobs, Numbers(jobs.size(), -1), static_cast<int64_t>(jobs.size())};
            }, "jobs"_a, R"(Pause once some jobs have started.

Parameters
----------
jobs
    Places among all submitted, ascending.
)")
        .def_prop_ro("sought", [](const State& self) { return self.sought.starts; },
            "Start times of the jobs that are sought; -1 of those that have not started.")
        .def("set_run_times", [](State& self, const Row& rows, const Row& run_times) {
                set_run_times(self, view_of(rows), view_of(run_times));
            }, "rows"_a, "run_times"_a,
            "Set the run times of jobs; running ones end later than now.")
        .def("future_starts", &starts_in_futures, "rows"_a, "run_times"_a, "wanted"_a, "later"_a,
             "ended"_a, "threads"_a, R"(Return start times in futures of the replay, `[F, W]`.

No part of the replay may be Python's. Jobs that do not start have -1.

Parameters
----------
rows, run_times
    Present jobs, `[J]`, and their run times in each future, `[F, J]`.
wanted
    Places of jobs among all submitted, ascending, `[W]`.
later
    Future and number → that batch of the jobs submitted later.
ended
    Called with the number of futures so far.
)")
        .def(
            "corrected_end",
            [](const State& self, int64_t row) {
                return corrected_end(self.jobs[row], self.now(), self.choices.correction);
            },
            "row"_a, "Return the estimated end of a job that has outlived its prediction.");
}

}  // namespace hpcsched
