#include "rules/easy.hpp"

#include <algorithm>
#include <utility>

#include "core/allocators.hpp"
#include "core/estimated_ends.hpp"
#include "core/fit_counts.hpp"
#include "core/job_events.hpp"
#include "core/limits.hpp"
#include "core/shared_resources.hpp"
#include "rules/announced_outages.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Return the latest start of a head job under relaxation, and update its promise, the earliest
/// shadow time that it has had.
int64_t latest_start(State& state, int64_t head, int64_t shadow_time)
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

/// Running jobs by their predicted ends, each passed once.
class Ends {
public:
    explicit Ends(State& state) : state_(state), rows_(state) {}

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
    RunningByEnd rows_;
    int64_t ended_ = 0;
};

/// EASY of a round, node by node.
class NodeBackfill {
public:
    NodeBackfill(State& state, int64_t head)
        : state_(state),
          head_(head),
          head_shape_(state.jobs[head].later),
          then_(runs_in_service(state))
    {
    }

    void run(int64_t next);

private:
    State& state_;
    int64_t head_;
    int64_t head_shape_;
    NodeRuns then_;  // free amounts at the shadow time, less what is reserved beside it

    // Shapes and units of the jobs that cost the head job too much since the last start.
    std::vector<std::pair<int64_t, int64_t>> refused_;

    bool is_refused(const Job& job) const;
    Shadow find_shadow();
    int64_t pass_ends(Ends& ends, int64_t time, int64_t units);
    int64_t take(const Span& span, int64_t shape, int64_t sign);
    int64_t reserve_beside(int64_t row, const Placement& placed, int64_t spare);
    Placement least_loss(int64_t row);
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
        if (row == head_ || !is_tried(state_, row) || !fits_now(state_, row)) continue;
        const bool is_long = state_.now() + job.predicted > time;
        if (is_long && is_refused(job)) {
            note_reserved_for(job, head_);
            continue;
        }
        Placement placed = choose_now(state_, row);
        if (is_long) {
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
                refused_.emplace_back(job.shape, job.units);
                continue;
            }
            spare -= lost;
        }
        start_where_placed(state_, row, placed);
        if (is_full(state_)) return;
        refused_.clear();
    }
}

/// Whether an equal job was refused, and nothing has changed since then.
bool NodeBackfill::is_refused(const Job& job) const
{
    // Jobs draw differently on shared resources, and an allocator in Python may see the job.
    if (state_.shared.any || state_.choices.allocator == Allocator::external) return false;
    return std::ranges::find(refused_, std::pair(job.shape, job.units)) != refused_.end();
}

/// Return the head job's reservation; `then_` becomes the free amounts at its time.
Shadow NodeBackfill::find_shadow()
{
    Ends ends(state_);
    int64_t spare = -state_.jobs[head_].units;
    for (int64_t run = 0; run < then_.count(); ++run)
        spare += then_.nodes(run) * units_on_run(state_, then_, run, head_shape_);
    int64_t time = state_.now();
    while (spare < 0 && ends.any_left()) {
        time = ends.next_time();
        spare = pass_ends(ends, time, spare);
    }
    const Shadow shadow = move_shadow(state_, head_, {time, spare}, then_);
    if (state_.choices.rule != Rule::relaxed || shadow.time == never) return shadow;
    const int64_t latest = latest_start(state_, head_, shadow.time);
    if (latest == shadow.time || !shared_suffice(state_, head_, latest)) return shadow;
    const int64_t left = pass_ends(ends, latest, shadow.spare);
    const Shadow later = move_shadow(state_, head_, {latest, left}, then_);
    if (later.time == latest) return later;
    // Too few nodes stay in service then, so that the reservation is not moved.
    return move_shadow(state_, head_, shadow, then_);
}

/// Take units of a shape from nodes at the shadow time (sign 1), or give them back (-1); return how
/// many more units of the head job fit.
int64_t NodeBackfill::take(const Span& span, int64_t shape, int64_t sign)
{
    int64_t more = 0;
    then_.for_each(span.first, span.end, [&](int64_t run) {
        const int64_t before = units_on_run(state_, then_, run, head_shape_);
        take_from_run(state_, then_, run, span.on_node(), shape, sign);
        more += then_.nodes(run) * (units_on_run(state_, then_, run, head_shape_) - before);
    });
    return more;
}

/// Give back the capacity of jobs that end by a time; return `units` plus the units of the head job
/// that fit more.
int64_t NodeBackfill::pass_ends(Ends& ends, int64_t time, int64_t units)
{
    ends.pass(time, [&](const Job& job) {
        for_each_span(state_, job.cell,
                      [&](const Span& span) { units += take(span, job.shape, -1); });
    });
    return units;
}

/// Reserve room for a job past the shadow time, if enough is left for the head job. Return the head
/// job's units that it costs, or -1 and no reservation if these are more than `spare`.
int64_t NodeBackfill::reserve_beside(int64_t row, const Placement& placed, int64_t spare)
{
    const int64_t shape = state_.jobs[row].shape;
    int64_t lost = 0;
    for (const Span& span : placed) lost -= take(span, shape, 1);
    if (lost <= spare) return lost;
    for (const Span& span : placed) take(span, shape, -1);
    return -1;
}

/// Return a placement that costs the head job little. First come the units that cost nothing, since
/// they fit beside all of the head job's units that a node could hold; then, node by node, those
/// that cost least per unit.
Placement NodeBackfill::least_loss(int64_t row)
{
    const Job& job = state_.jobs[row];
    const NodeRuns& now = runs_of(state_);
    Placement beside, left;
    std::vector<double> cost;
    int64_t without_cost = 0;
    Numbers free;
    const auto units_less = [&](int64_t run, int64_t units, int64_t taken, int64_t shape) {
        // With units of one shape taken, the number of another one that fit.
        free.assign(then_.free(run).begin(), then_.free(run).end());
        const Placement all{{then_.first(run), then_.first(run) + 1, units}};
        if (units != 0)
            for (const Span& span : with_devices(state_, taken, all, then_))
                for (size_t r = 0; r < free.size(); ++r)
                    free[r] -= allocated_on_node(state_, span.first, span.on_node(),
                                                 static_cast<int64_t>(r), taken);
        return units_on_node(state_, then_.first(run), shape, free);
    };
    // Runs now and then begin at different nodes.
    for (int64_t k = 0, run = 0; k < now.count(); ++k) {
        const int64_t fits = units_on_run(state_, now, k, job.shape);
        for (int64_t first = now.first(k); first < now.end(k);) {
            while (then_.end(run) <= first) ++run;
            const int64_t end = std::min(now.end(k), then_.end(run));
            if (fits != 0) {
                const int64_t head_fits = units_on_run(state_, then_, run, head_shape_);
                const int64_t free_of_cost =
                    std::min(fits, units_less(run, head_fits, head_shape_, job.shape));
                // The other way round: the head job's units that go if this job fills the node.
                const int64_t loss = head_fits - units_less(run, fits, job.shape, head_shape_);
                without_cost += free_of_cost * (end - first);
                beside.push_back({first, end, free_of_cost});
                left.push_back({first, end, fits - free_of_cost});
                cost.push_back(static_cast<double>(loss) / static_cast<double>(fits));
            }
            first = end;
        }
    }
    if (without_cost >= job.units)
        return with_devices(state_, job.shape, fill_by_number(job.units, beside), now);
    const Matrix<const double> ranks(cost.data(), 1, static_cast<int64_t>(cost.size()));
    for (const Span& span : fill_by_rank(job.units - without_cost, left, ranks))
        beside.push_back(span);
    return with_devices(state_, job.shape, sum_of(beside), now);
}

}  // namespace

void easy_by_count(State& state, int64_t at, int64_t next)
{
    const int64_t head_row = state.queue[at];
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
        if (job.units > state.counters.free_slots || row == head_row || !is_tried(state, row))
            continue;
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

void easy_on_nodes(State& state, int64_t at, int64_t next)
{
    NodeBackfill(state, state.queue[at]).run(next);
}

}  // namespace hpcsched
