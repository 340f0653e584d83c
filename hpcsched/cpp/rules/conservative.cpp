#include "rules/conservative.hpp"

#include <algorithm>
#include <tuple>

#include "core/limits.hpp"
#include "core/shared_resources.hpp"
#include "rules/announced_outages.hpp"
#include "rules/reservations.hpp"
#include "rules/slack.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Whether a node is back in service since the last round; notes those that are out.
bool any_back(State& state)
{
    Outages& outages = state.outages;
    if (!outages.any) return false;
    bool found = false;
    for (int64_t node = 0; node < outages.closed.size(); ++node) {
        found |= outages.missed[node] && !outages.closed[node];
        outages.missed[node] = outages.closed[node];
    }
    return found;
}

/// Sort rows by the starts of their reservations, ties in order of arrival.
void sort_by_start(const State& state, Numbers& rows)
{
    const auto key = [&](int64_t row) {
        return std::pair(state.jobs[row].reserved, state.jobs[row].sequence);
    };
    std::ranges::sort(rows, std::ranges::less{}, key);
}

/// A round of a rule that keeps reservations.
class Round {
public:
    Round(State& state, RoundPlan plan) : state_(state), plan_(std::move(plan)) {}

    /// Restore all reservations, make those of new jobs, then start jobs. `freed`: whether there is
    /// room that the last round did not foresee. Reservations are moved up into it before new jobs
    /// get theirs.
    void hold_round(bool freed);

    /// Note the reserved starts of waiting jobs, and the obstacles of those that fit now.
    void explain();

private:
    State& state_;
    RoundPlan plan_;

    View<int64_t> queue() const { return state_.queue.first(state_.counters.queued); }
    bool take_up();
    void compress();
    bool may_fit(int64_t row);
    bool start(int64_t row);
    int64_t in_the_way(int64_t row);
};

void Round::hold_round(bool freed)
{
    const View<Job> jobs = state_.jobs;
    const int64_t now = state_.now();
    state_.counters.first_made = state_.counters.last_made = none;
    if (take_up() || freed) compress();
    for (const int64_t row : queue()) {
        if (jobs[row].reserved != never) continue;
        const int64_t begin = reserve(state_, plan_, row, now, never);
        if (begin != never) jobs[row].promise = begin;
    }
    bool again = true;
    while (again) {
        again = false;
        bool left_room = false;
        for (const int64_t row : queue()) {
            if (!is_tried(state_, row) || !may_fit(row)) continue;
            const int64_t reserved = jobs[row].reserved;
            if (start(row)) {
                again = true;
                left_room |= reserved > now || draws_less(state_, row);
            }
        }
        // A job that starts before its reservation leaves room where that one was.
        if (left_room) compress();
    }
}

void Round::explain()
{
    const View<Job> jobs = state_.jobs;
    keep_of_shared(state_, -1);
    for (const int64_t row : queue()) {
        Job& job = jobs[row];
        if (job.waits == 0) continue;
        job.when = job.reserved;
        if (fits_now(state_, row)) {
            job.why = Reason::reserved_for;
        } else {
            job.other = none;
            note_shared_resource(state_, row);
        }
    }
    keep_of_shared(state_, 1);
    if (state_.choices.rule == Rule::slack) return;
    for (const int64_t row : queue())
        if (jobs[row].waits != 0 && jobs[row].why == Reason::reserved_for)
            jobs[row].other = in_the_way(row);
}

/// Whether a job may fit now, regardless of reservations.
bool Round::may_fit(int64_t row)
{
    if (!state_.shared.any) return fits_now(state_, row);
    const Job& job = state_.jobs[row];
    if (job.units > state_.shapes.fitting[job.shape]) return false;
    // Shared resources are asked when the job is tried.
    if (state_.choices.rule != Rule::slack) return true;
    keep_of_shared(state_, -1);
    const bool fits = fits_now(state_, row);
    keep_of_shared(state_, 1);
    return fits;
}

/// Return the first job, by arrival, with a reservation that leaves too little for a start of
/// another now, together with those that arrived before; -1 if none.
int64_t Round::in_the_way(int64_t row)
{
    const View<Job> jobs = state_.jobs;
    const int64_t end = state_.now() + jobs[row].predicted, before = cancel(state_, plan_, row);
    const auto counts = [&](int64_t other) {
        return jobs[other].waits != 0 && other != row && jobs[other].reserved < end;
    };
    for (const int64_t other : queue())
        if (counts(other)) take_reserved(state_, plan_, other, -1);
    int64_t found = none;
    for (const int64_t other : queue()) {
        if (!counts(other)) continue;
        take_reserved(state_, plan_, other, 1);
        if (found == none && !fits_beside(state_, plan_, row)) found = other;
    }
    hold(state_, plan_, row, before);
    return found;
}

/// Restore the reservations of earlier rounds, by start; return whether any had to be moved. One
/// that no longer fits, because running jobs have outlived their predictions, is moved to the
/// earliest later time beside those before it.
bool Round::take_up()
{
    Numbers kept;
    for (const int64_t row : queue())
        if (state_.jobs[row].reserved != never) kept.push_back(row);
    sort_by_start(state_, kept);
    bool moved = false;
    for (const int64_t row : kept) {
        const int64_t begin = std::max(state_.jobs[row].reserved, state_.now());
        if (hold(state_, plan_, row, begin)) continue;
        reserve(state_, plan_, row, begin, never);
        moved = true;
    }
    return moved;
}

/// Move each reservation to the earliest time beside all others, one after the other. None becomes
/// later, since its own room is free when the new one is searched; but for a job that an outage
/// keeps from nodes on which its room was.
void Round::compress()
{
    const int64_t now = state_.now();
    Numbers waiting;
    for (const int64_t row : queue())
        if (state_.jobs[row].waits != 0 && state_.jobs[row].reserved != never)
            waiting.push_back(row);
    if (state_.choices.compression == Compression::by_reservation) sort_by_start(state_, waiting);
    for (const int64_t row : waiting) {
        const int64_t latest = cancel(state_, plan_, row);
        if (reserve(state_, plan_, row, now, latest) == never && latest != never)
            reserve(state_, plan_, row, now, never);
    }
}

/// Start a job that fits now, if reservations allow; return whether it has started.
bool Round::start(int64_t row)
{
    const int64_t before = cancel(state_, plan_, row);
    if (start_beside(state_, plan_, row)) return true;
    hold(state_, plan_, row, before);
    return state_.choices.rule == Rule::slack && push_aside(state_, plan_, row);
}

}  // namespace

void keep_promises(State& state, bool explains)
{
    Counters& counters = state.counters;
    const int64_t count = counters.queued;
    if (count == 0) return;
    bool freed = any_back(state);  // always asked: it notes the nodes that are out now
    freed |= counters.freed_until > counters.now;
    for (int64_t k = count; k < count + counters.held_back; ++k) {
        // A job that a round is not shown loses its reservation, and is promised a start anew.
        Job& job = state.jobs[state.queue[k]];
        freed |= job.reserved != never;
        job.reserved = never;
        drop_places(state, state.queue[k]);
    }
    counters.freed_until = 0;
    counters.last_asked = counters.now;
    compute_pressure(state);
    open_shared(state);
    const bool counted = counts_units(state);
    if (state.by_node && counted)
        for (int64_t k = 0; k < count; ++k) drop_places(state, state.queue[k]);
    Round round(state, open_plan(state, counted));
    round.hold_round(freed);
    if (explains) round.explain();
}

}  // namespace hpcsched
