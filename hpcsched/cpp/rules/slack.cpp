#include "rules/slack.hpp"

#include "core/job_events.hpp"
#include "rules/reservations.hpp"

namespace hpcsched {

namespace {

/// Return the latest start of a job: its promise plus its slack.
int64_t latest_start(const State& state, int64_t row)
{
    const Job& job = state.jobs[row];
    return job.promise + state.choices.least_slack +
           share_of_wait(job, job.promise, state.choices.slack_share);
}

/// Cancel the reservations that keep a job from starting now, and return their rows. All
/// reservations in the job's time are made again in their order, except those beside which,
/// together with those made before, the job does not fit.
Numbers clear_way(State& state, RoundPlan& plan, int64_t row)
{
    const View<Job> jobs = state.jobs;
    const int64_t end = state.now() + jobs[row].predicted;
    for (int64_t other = state.counters.first_made; other != none; other = jobs[other].made_after)
        if (jobs[other].reserved < end) take_reserved(state, plan, other, -1);
    Numbers cancelled;
    int64_t other = state.counters.first_made;
    while (other != none) {
        const int64_t after = jobs[other].made_after;
        if (jobs[other].reserved < end) {
            take_reserved(state, plan, other, 1);
            if (!fits_beside(state, plan, row)) {
                cancel(state, plan, other);
                cancelled.push_back(other);
            }
        }
        other = after;
    }
    return cancelled;
}

/// The nodes noted for a job and the units on each.
std::vector<Cell> places_of(const State& state, int64_t row)
{
    std::vector<Cell> places;
    for (int64_t cell = state.jobs[row].cell; cell != none; cell = state.cells[cell].next)
        places.push_back(state.cells[cell]);
    return places;
}

}  // namespace

bool push_aside(State& state, RoundPlan& plan, int64_t row)
{
    const View<Job> jobs = state.jobs;
    const int64_t before = cancel(state, plan, row);
    Numbers moved = clear_way(state, plan, row);
    const size_t count = moved.size();
    moved.push_back(row);
    // Nodes are copied first, since making a reservation again overwrites them.
    std::vector<std::vector<Cell>> places;
    Numbers starts;
    for (const int64_t one : moved) {
        places.push_back(places_of(state, one));
        starts.push_back(one == row ? before : jobs[one].reserved);
    }
    drop_places(state, row);
    hold(state, plan, row, state.now());
    bool late = false;
    size_t replaced = 0;
    while (replaced < count && !late) {
        const int64_t other = moved[replaced++];
        late = reserve(state, plan, other, state.now(), never) > latest_start(state, other);
        jobs[row].other = other;
    }
    cancel(state, plan, row);
    if (!late) return start_beside(state, plan, row);
    for (size_t k = 0; k < replaced; ++k) cancel(state, plan, moved[k]);
    for (const int64_t one : moved) drop_places(state, one);
    for (size_t k = 0; k < moved.size(); ++k)
        for (const Cell& place : places[k]) 
            note_place(state, moved[k], place.node, {place.units, place.devices});
    for (size_t k = 0; k < moved.size(); ++k) hold(state, plan, moved[k], starts[k]);
    return false;
}

}  // namespace hpcsched
