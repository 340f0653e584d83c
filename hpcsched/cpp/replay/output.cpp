#include "replay/output.hpp"

#include <algorithm>

#include "core/job_events.hpp"
#include "core/places.hpp"
#include "replay/preemption.hpp"

namespace hpcsched {

namespace {

/// Note an event of a job, which may change the set of jobs that are held back.
void note_job(State& state, EventKind kind, int64_t row, int64_t value)
{
    const Job& job = state.jobs[row];
    if (job.watched != 0) state.counters.changed = true;
    state.followed.events.add({kind, state.now(), job.sequence, row, value, job.expected});
}

/// Write a job that leaves without a run; it has no places.
void write_unrun(State& state, int64_t sequence, int64_t predicted, int64_t how, int64_t requeues,
                 int64_t lost_time)
{
    const int64_t now = state.now();
    state.output.jobs.add({sequence, now, now, predicted, state.output.places.size(),
                           how, requeues, lost_time, none, 0, 0, 0});
}

}  // namespace

void write_job(State& state, int64_t row, Left how)
{
    Output& output = state.output;
    const Job& job = state.jobs[row];
    const bool has_run = how != Left::suspended;
    const int64_t begin = has_run ? job.start : job.suspended_since;
    const int64_t ran = has_run ? elapsed(job, state.now()) : 0;
    const auto write = [&](Column<LeftJob>& jobs, Places& places, int64_t lost_time) {
        if (state.choices.writes_places) write_places(state, job.cell, places);
        jobs.add({job.sequence, begin, state.now(), job.predicted, places.size(),
                  static_cast<int64_t>(how), job.requeues, lost_time, job.preemptor, ran,
                  job.run_time, job.backfilled});
    };
    // An attempt that is repeated is lost, but its job has not left; other lost ones are both.
    const int64_t saved = how == Left::requeued ? state.checkpoints.saved(job, ran) : 0;
    if (how != Left::ended) write(output.lost, output.lost_places, ran - saved);
    if (how != Left::requeued && has_run) write(output.jobs, output.places, job.lost_time);
}

void end_attempt(State& state, int64_t row, Left how)
{
    if (state.jobs[row].suspended_since != none) stop_suspension(state, row);
    write_job(state, row, how);
    note_end(state, EventKind::lost_job, row, static_cast<int64_t>(how));
    const Job& job = state.jobs[row];
    if (state.manner.follows)
        state.followed.events.back().expected = elapsed(job, state.now());
    drop_end(state, row);
    give_back(state, row);
    if (how != Left::requeued) forget(state, row);
}

void write_dismissed(State& state, RejectedBy by)
{
    const auto cause = static_cast<int64_t>(by);
    for (const int64_t row : state.flight.dismissed) {
        note_end(state, EventKind::dismissed_job, row, cause);
        const Job& job = state.jobs[row];
        write_unrun(state, job.sequence, job.predicted, static_cast<int64_t>(Left::rejected) + cause,
                    job.requeues, job.lost_time);
        forget(state, row);
    }
    state.flight.dismissed.clear();
}

bool is_refused(const State& state, int64_t k)
{
    return !state.batch->refused.empty() && state.batch->refused[k] >= 0;
}

void write_refusal(State& state, int64_t k)
{
    write_unrun(state, state.counters.submitted++, state.batch->predicted[k],
                static_cast<int64_t>(Left::rejected) + state.batch->refused[k], 0, 0);
}

void write_withdrawn(State& state, int64_t row)
{
    const Job& job = state.jobs[row];
    write_unrun(state, job.sequence, job.predicted, static_cast<int64_t>(Left::withdrawn), 0, 0);
    if (state.manner.follows) note_job(state, EventKind::withdrawn_job, row, 0);
}

void write_round(State& state, double seconds, int64_t queued, int64_t running)
{
    const Counters& counters = state.counters;
    state.output.rounds.add({counters.round, counters.now, queued, running, counters.started,
                             counters.queued, 0, counters.call_again});
    Column<int64_t> amounts(state.output.amounts.columns());
    std::ranges::copy(state.waiting_amounts, amounts.begin());
    std::ranges::copy(state.free_amounts, amounts.begin() + state.type_count());
    add_released(state, {amounts.begin() + state.type_count(), state.type_count()});
    state.output.amounts.add(amounts);
    state.output.decision_times.add(seconds);
}

void write_flight(State& state)
{
    const Counters& counters = state.counters;
    RoundRecord& round = state.output.rounds.back();
    round.now = counters.asked;
    round.latency = counters.now - counters.asked;
    const View<int64_t> amounts = state.output.amounts.row(state.output.amounts.rows() - 1);
    std::ranges::copy(state.flight.lost, amounts.begin() + 2 * state.type_count());
}

void note_submission(State& state, int64_t k, int64_t row)
{
    if (!state.manner.follows) return;
    Job& job = state.jobs[row];
    job.watched = state.batch->watched[k];
    note_job(state, EventKind::submitted_job, row, job.predicted);
}

void note_refusal(State& state, int64_t k)
{
    if (!state.manner.follows) return;
    if (state.batch->watched[k] != 0) state.counters.changed = true;
    state.followed.events.add({EventKind::rejected_job, state.now(), state.counters.submitted - 1,
                               state.batch->refused[k], state.batch->predicted[k]});
}

void note_end(State& state, EventKind kind, int64_t row, int64_t value)
{
    if (state.manner.follows) note_job(state, kind, row, value);
}

void note_asked(State& state)
{
    if (state.manner.follows && state.counters.queued != 0)
        state.followed.events.add(
            {EventKind::asked_round, state.now(), state.counters.round, 0, 0});
}

void note_round(State& state)
{
    if (!state.manner.follows) return;
    for (const int64_t row : state.started.first(state.counters.started)) {
        write_places(state, state.jobs[row].cell, state.followed.starts);
        note_job(state, EventKind::started_job, row, state.followed.starts.size());
        state.followed.events.back().expected = state.jobs[row].backfilled;
    }
    write_dismissed(state, RejectedBy::dispatcher);
    const int64_t number = state.output.rounds.size() - 1;
    state.followed.events.add({EventKind::held_round, state.now(), number, 0, 0});
}

}  // namespace hpcsched
