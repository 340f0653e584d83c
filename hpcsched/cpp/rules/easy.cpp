#include "rules/easy.hpp"

#include <algorithm>

#include "core/allocators.hpp"
#include "core/estimated_ends.hpp"
#include "core/fit_counts.hpp"
#include "core/job_events.hpp"
#include "core/shared_resources.hpp"
#include "rules/announced_outages.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Return the latest start of a head job under relaxation, and update its promise, the earliest
/// shadow time that it has had.
int64_t latest_start(const State& state, int64_t head, int64_t shadow_time)
{
    Job& job = state.jobs[head];
    job.promise = std::min(shadow_time, job.promise);
    return std::max(shadow_time,
                    job.promise + share_of_wait(job, job.promise, state.choices.relaxation));
}

/// Return the latest end of a job that passes a chosen one: before its expected start. That is the
/// shadow time of the chosen job when it was chosen.
int64_t latest_end(Job& chosen, int64_t shadow_time)
{
    if (chosen.promise == never) chosen.promise = std::min(shadow_time, never - 1);
    return chosen.promise - 1;
}

void note_reserved_for(Job& job, int64_t head)
{
    job.why = Reason::reserved_for;
    job.other = head;
}

/// Running jobs by their ends, and the units of a head job that fit once they have ended.
class Ends {
public:
    explicit Ends(State& state) : state_(state), rows_(running_by_shown_end(state)) {}

    bool any_left() const { return ended_ < rows_.size(); }
    int64_t next_time() const { return state_.jobs[rows_[ended_]].shown_end; }

    /// Call a function for each job that ends by a time and has not ended before.
    template <class Function>
    void pass(int64_t time, Function function)
    {
        while (any_left() && next_time() <= time) function(state_.jobs[rows_[ended_++]]);
    }

private:
    const State& state_;
    Numbers rows_;
    size_t ended_ = 0;
};

/// EASY of a round, node by node.
class NodeBackfill {
public:
    NodeBackfill(State& state, int64_t head)
        : state_(state),
          head_(head),
          head_shape_(state.jobs[head].shape),
          then_(state.available),
          head_fits_(fits_of(state, head))
    {
    }

    void run(int64_t next);

private:
    State& state_;
    int64_t head_;
    int64_t head_shape_;
    Table<int64_t> then_;  // free amounts at the shadow time, less what is reserved beside it
    Numbers head_fits_;  // units of the head job that fit on each node then

    static Numbers fits_of(const State& state, int64_t head)
    {
        const View<int64_t> fits = state.shapes.fits.row(state.jobs[head].shape);
        return Numbers(fits.begin(), fits.end());
    }

    Shadow find_shadow();
    int64_t pass_ends(Ends& ends, int64_t time, int64_t units);
    int64_t reserve_beside(int64_t row, View<const int64_t> placed, int64_t spare);
    Numbers least_loss(int64_t row);
};

void NodeBackfill::run(int64_t next)
{
    Job& head = state_.jobs[head_];
    auto [time, spare] = find_shadow();
    head.when = time;
    if (state_.choices.rule == Rule::committed_backfill) {
        time = latest_end(head, time);
        spare = -1;
    }
    View<int64_t> queue = state_.queue;
    if (state_.choices.own_backfill_order) {
        queue = state_.behind;
        next = 0;
    }
    for (int64_t k = next; k < state_.counters.queued; ++k) {
        const int64_t row = queue[k];
        Job& job = state_.jobs[row];
        if (job.waits == 0 || row == head_ || !fits_now(state_, row)) continue;
        Numbers placed = choose_now(state_, row);
        if (state_.now() + job.predicted > time) {
            int64_t lost = -1;
            if (spare >= 0 && leaves_shared_to(state_, head_, time, row)) {
                lost = reserve_beside(row, placed, spare);
                if (lost < 0) {
                    // The allocator's own nodes cost the head job too much; others may cost it
                    // less.
                    placed = least_loss(row);
                    lost = reserve_beside(row, placed, spare);
                }
            }
            if (lost < 0) {
                note_reserved_for(job, head_);
                continue;
            }
            spare -= lost;
        }
        start_where_placed(state_, row, placed);
    }
}

/// Return the head job's reservation; `then_` and `head_fits_` become those of its time.
Shadow NodeBackfill::find_shadow()
{
    Ends ends(state_);
    int64_t spare = -state_.jobs[head_].units;
    for (const int64_t fits : head_fits_) spare += fits;
    int64_t time = state_.now();
    while (spare < 0 && ends.any_left()) {
        time = ends.next_time();
        spare = pass_ends(ends, time, spare);
    }
    const Shadow shadow = move_shadow(state_, head_, {time, spare}, then_, head_fits_);
    if (state_.choices.rule != Rule::relaxed || shadow.time == never) return shadow;
    const int64_t latest = latest_start(state_, head_, shadow.time);
    if (latest == shadow.time || !shared_suffice(state_, head_, latest)) return shadow;
    const int64_t left = pass_ends(ends, latest, shadow.spare);
    const Shadow later = move_shadow(state_, head_, {latest, left}, then_, head_fits_);
    if (later.time == latest) return later;
    // Too few nodes stay in service then, so that the reservation is not moved.
    return move_shadow(state_, head_, shadow, then_, head_fits_);
}

/// Give back the capacity of jobs that end by a time; return `units` plus the units of the head job
/// that fit more.
int64_t NodeBackfill::pass_ends(Ends& ends, int64_t time, int64_t units)
{
    ends.pass(time, [&](const Job& job) {
        for (int64_t cell = job.cell; cell != none; cell = state_.cells[cell].next) {
            const int64_t node = state_.cells[cell].node;
            take_from(state_, node, state_.cells[cell].units, job.shape, -1, then_);
            units -= head_fits_[node];
            head_fits_[node] = units_on_node(state_, node, head_shape_, then_);
            units += head_fits_[node];
        }
    });
    return units;
}

/// Reserve room for a job past the shadow time, if enough is left for the head job. Return the head
/// job's units that it costs, or -1 and no reservation if these are more than `spare`.
int64_t NodeBackfill::reserve_beside(int64_t row, View<const int64_t> placed, int64_t spare)
{
    const int64_t shape = state_.jobs[row].shape;
    int64_t lost = 0;
    for (int64_t node = 0; node < placed.size(); ++node) {
        if (placed[node] == 0) continue;
        take_from(state_, node, placed[node], shape, 1, then_);
        lost += head_fits_[node] - units_on_node(state_, node, head_shape_, then_);
    }
    for (int64_t node = 0; node < placed.size(); ++node) {
        if (placed[node] == 0) continue;
        if (lost > spare)
            take_from(state_, node, placed[node], shape, -1, then_);
        else
            head_fits_[node] = units_on_node(state_, node, head_shape_, then_);
    }
    return lost <= spare ? lost : -1;
}

/// Return a placement that costs the head job little, `[N]`. First come the units that cost
/// nothing, since they fit beside all of the head job's units that a node could hold; then, node by
/// node, those that cost least per unit.
Numbers NodeBackfill::least_loss(int64_t row)
{
    const Job& job = state_.jobs[row];
    const View<const int64_t> fits = state_.shapes.fits.row(job.shape);
    Numbers beside(static_cast<size_t>(fits.size()));
    Table<double> cost(1, fits.size());
    int64_t without_cost = 0;
    for (int64_t node = 0; node < fits.size(); ++node) {
        if (fits[node] == 0) continue;
        // With the head job on the node, and taken away again after the count.
        if (head_fits_[node] != 0)
            take_from(state_, node, head_fits_[node], head_shape_, 1, then_);
        beside[node] = std::min(fits[node], units_on_node(state_, node, job.shape, then_));
        if (head_fits_[node] != 0)
            take_from(state_, node, head_fits_[node], head_shape_, -1, then_);
        without_cost += beside[node];
        // The other way round: how many units of the head job go if this job fills the node.
        take_from(state_, node, fits[node], job.shape, 1, then_);
        const int64_t loss = head_fits_[node] - units_on_node(state_, node, head_shape_, then_);
        take_from(state_, node, fits[node], job.shape, -1, then_);
        cost(0, node) = static_cast<double>(loss) / static_cast<double>(fits[node]);
    }
    if (without_cost >= job.units) {
        Numbers placed(static_cast<size_t>(fits.size()));
        fill_by_number(job.units, beside, placed);
        return placed;
    }
    Numbers left;
    for (int64_t node = 0; node < fits.size(); ++node) left.push_back(fits[node] - beside[node]);
    fill_by_rank(job.units - without_cost, left, cost, beside);
    return beside;
}

}  // namespace

void backfill_by_slot(State& state, int64_t place, int64_t next)
{
    const int64_t head_row = state.queue[place];
    Job& head = state.jobs[head_row];
    const auto count_ended = [](Ends& ends, int64_t time, int64_t units) {
        ends.pass(time, [&](const Job& job) { units += job.units; });
        return units;
    };
    // The shadow time: the earliest at which the head job fits, all ends of that instant counted.
    Ends ends(state);
    int64_t time = state.now(), spare = state.counters.free_slots - head.units;
    while (spare < 0 && ends.any_left()) {
        time = ends.next_time();
        spare = count_ended(ends, time, spare);
    }
    if (state.choices.rule == Rule::relaxed) {
        time = latest_start(state, head_row, time);
        spare = count_ended(ends, time, spare);
    }
    head.when = time;
    if (state.choices.rule == Rule::committed_backfill) {
        time = latest_end(head, time);
        spare = -1;
    }
    View<int64_t> queue = state.queue;
    if (state.choices.own_backfill_order) {
        queue = state.behind;
        next = 0;
    }
    for (int64_t k = next; k < state.counters.queued && state.counters.free_slots > 0; ++k) {
        const int64_t row = queue[k];
        Job& job = state.jobs[row];
        // In an own backfill order the head job and started jobs come up again.
        if (job.units > state.counters.free_slots || job.waits == 0 || row == head_row) continue;
        if (state.now() + job.predicted > time) {
            if (job.units > spare) {
                note_reserved_for(job, head_row);
                continue;
            }
            spare -= job.units;
        }
        start(state, row);
    }
}

void backfill_by_node(State& state, int64_t place, int64_t next)
{
    NodeBackfill(state, state.queue[place]).run(next);
}

}  // namespace hpcsched
