#include "replay/output.hpp"

#include <algorithm>

#include "core/job_events.hpp"
#include "core/places.hpp"

namespace hpcsched {

namespace {

constexpr int64_t round_columns = sizeof(RoundRecord) / sizeof(int64_t);

RoundRecord& round_at(const State& state, int64_t k)
{
    return *reinterpret_cast<RoundRecord*>(state.output.rounds.row(k).data());
}

/// The amounts that follow a round: waiting ones, free ones, and idle amounts × seconds.
View<int64_t> amounts_at(const State& state, int64_t k, int64_t which)
{
    const int64_t types = state.type_count(), first = round_columns + which * types;
    return state.output.rounds.row(k).part(first, first + types);
}

void note(State& state, const Event& event)
{
    state.followers.events[state.counters.out_events++] = event;
}

/// Note an event of a job, which may change the set of jobs that are held back.
void note_job(State& state, EventKind kind, int64_t row, int64_t value)
{
    const Job& job = state.jobs[row];
    if (job.watched != 0) state.counters.changed = 1;
    note(state, {kind, state.now(), job.sequence, row, value});
}

}  // namespace

bool write_job(State& state, int64_t row, Left how)
{
    Counters& counters = state.counters;
    const Output& output = state.output;
    const Job& job = state.jobs[row];
    int64_t place = counters.out_places;
    if (counters.out_jobs == output.jobs.size()) return false;
    if (state.choices.writes_places) {
        // The bound is checked in advance, since places are written in one go.
        if (place + std::min(job.units, state.node_count()) > output.nodes.size()) return false;
        place = write_places(state, job.cell, place, output.nodes, output.units);
    }
    output.jobs[counters.out_jobs++] = {
        job.sequence,   job.start, counters.now,
        job.predicted,  place,     static_cast<int64_t>(how),
        job.requeues,   job.lost_time,
    };
    counters.out_places = place;
    return true;
}

bool is_refused(const State& state, int64_t k)
{
    return !state.batch.refused.empty() && state.batch.refused[k] >= 0;
}

bool write_refusal(State& state, int64_t k)
{
    Counters& counters = state.counters;
    if (counters.out_jobs == state.output.jobs.size()) return false;
    const int64_t how = static_cast<int64_t>(Left::rejected) + state.batch.refused[k];
    state.output.jobs[counters.out_jobs++] = {
        counters.submitted++, counters.now, counters.now, state.batch.predicted[k],
        counters.out_places,  how,          0,            0,
    };
    return true;
}

namespace {

/// Write a job that the dispatcher rejects, which is the first of the causes; there is room for it.
void write_dismissal(State& state, const Job& job)
{
    Counters& counters = state.counters;
    state.output.jobs[counters.out_jobs++] = {
        job.sequence,        counters.now,
        counters.now,        job.predicted,
        counters.out_places, static_cast<int64_t>(Left::rejected),
        job.requeues,        job.lost_time,
    };
}

}  // namespace

void write_round(State& state, double seconds, int64_t queued, int64_t running)
{
    Counters& counters = state.counters;
    const int64_t k = counters.out_rounds;
    round_at(state, k) = {
        counters.round, counters.now, queued, running, counters.started, counters.queued, 0,
    };
    std::copy(state.waiting_amounts.begin(), state.waiting_amounts.end(),
              amounts_at(state, k, 0).begin());
    std::copy(state.free_amounts.begin(), state.free_amounts.end(),
              amounts_at(state, k, 1).begin());
    std::fill_n(amounts_at(state, k, 2).begin(), state.type_count(), 0);
    state.output.decision_times[k] = seconds;
    ++counters.out_rounds;
}

void write_flight(State& state)
{
    const Counters& counters = state.counters;
    const int64_t k = counters.out_rounds - 1;
    RoundRecord& round = round_at(state, k);
    round.now = counters.asked;
    round.latency = counters.now - counters.asked;
    std::copy(state.flight.lost.begin(), state.flight.lost.end(), amounts_at(state, k, 2).begin());
}

bool is_full(const State& state)
{
    return state.followers.any && state.counters.out_events == state.followers.events.size();
}

bool has_room_for_round(const State& state)
{
    if (!state.followers.any) return true;
    const Counters& counters = state.counters;
    return counters.out_events + counters.queued + 1 < state.followers.events.size() &&
           counters.out_jobs + counters.dismissed <= state.output.jobs.size() &&
           counters.out_start_places + counters.cell_demand <= state.followers.start_nodes.size();
}

void note_submission(State& state, int64_t k, int64_t row)
{
    if (!state.followers.any) return;
    Job& job = state.jobs[row];
    job.watched = state.batch.watched[k];
    note_job(state, EventKind::submitted_job, row, job.predicted);
}

void note_refusal(State& state, int64_t k)
{
    if (!state.followers.any) return;
    if (state.batch.watched[k]) state.counters.changed = 1;
    note(state, {EventKind::rejected_job, state.now(), state.counters.submitted - 1,
                 state.batch.refused[k], state.batch.predicted[k]});
}

void note_end(State& state, EventKind kind, int64_t row, int64_t value)
{
    if (state.followers.any) note_job(state, kind, row, value);
}

void note_asked(State& state)
{
    if (state.followers.any && state.counters.queued != 0)
        note(state, {EventKind::asked_round, state.now(), state.counters.round, 0, 0});
}

void note_round(State& state)
{
    if (!state.followers.any) return;
    Counters& counters = state.counters;
    for (int64_t k = 0; k < counters.started; ++k) {
        const int64_t row = state.started[k];
        counters.out_start_places =
            write_places(state, state.jobs[row].cell, counters.out_start_places,
                         state.followers.start_nodes, state.followers.start_units);
        note_job(state, EventKind::started_job, row, counters.out_start_places);
    }
    if (state.flight.by_python) {
        for (int64_t k = 0; k < counters.dismissed; ++k) {
            const int64_t row = state.flight.dismissed[k];
            note_job(state, EventKind::dismissed_job, row, 0);
            write_dismissal(state, state.jobs[row]);
            forget(state, row);
        }
    }
    note(state, {EventKind::held_round, state.now(), counters.out_rounds - 1, 0, 0});
}

}  // namespace hpcsched
