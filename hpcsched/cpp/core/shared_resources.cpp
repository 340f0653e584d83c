#include "core/shared_resources.hpp"

#include <algorithm>

#include "core/estimated_ends.hpp"

namespace hpcsched {

namespace {

/// A job's draw at most, `[P]`: as if no other job ran on its nodes.
Numbers most_draw(const State& state, int64_t row)
{
    const SharedResources& shared = state.shared;
    const Job& job = state.jobs[row];
    const int64_t nodes = std::min(job.units, state.shapes.nodes[job.later]);
    Numbers draw;
    for (int64_t p = 0; p < shared.count(); ++p)
        draw.push_back(shared.own(row, p) + nodes * shared.node[p]);
    return draw;
}

/// Return the step that begins at a time, made if needed; the number of steps for `never`.
int64_t split(SharedResources::Steps& steps, int64_t time)
{
    auto k = static_cast<int64_t>(steps.time.size());
    if (time == never) return k;
    while (steps.time[k - 1] > time) --k;
    if (steps.time[k - 1] == time) return k - 1;
    steps.time.insert(steps.time.begin() + k, time);
    const Numbers before = steps.free[k - 1];
    steps.free.insert(steps.free.begin() + k, before);
    return k;
}

/// Subtract a draw, `[P]`, from the free amounts from `begin` to `end`; add it with sign -1.
void take(SharedResources::Steps& steps, int64_t begin, int64_t end, View<const int64_t> draw,
          int64_t sign)
{
    const int64_t first = split(steps, begin), last = split(steps, end);
    for (int64_t k = first; k < last; ++k)
        for (int64_t p = 0; p < draw.size(); ++p) steps.free[k][p] -= sign * draw[p];
}

/// Merge in the changes of capacity before a time.
void merge_changes(SharedResources& shared, int64_t until)
{
    SharedResources::Steps& steps = shared.steps;
    Numbers more(static_cast<size_t>(shared.count()));
    int64_t change = next_offer(shared, steps.merged_until);
    while (change < until) {
        for (int64_t p = 0; p < shared.count(); ++p)
            more[p] = offered(shared, p, change) - offered(shared, p, steps.merged_until);
        take(steps, change, never, more, -1);
        steps.merged_until = change;
        change = next_offer(shared, change);
    }
}

bool is_short(View<const int64_t> draw, View<const int64_t> free, int64_t p)
{
    return draw[p] != 0 && draw[p] > free[p];
}

/// Return the last step from `begin` to `end` with too little for a draw; -1 if none.
int64_t last_lack(State& state, int64_t begin, int64_t end, View<const int64_t> draw)
{
    merge_changes(state.shared, end);
    const SharedResources::Steps& steps = state.shared.steps;
    auto k = static_cast<int64_t>(steps.time.size()) - 1;
    while (k >= 0 && steps.time[k] >= end) --k;
    for (; k >= 0; --k) {
        for (int64_t p = 0; p < draw.size(); ++p)
            if (is_short(draw, steps.free[k], p)) return k;
        if (steps.time[k] <= begin) return none;
    }
    return none;
}

/// Return the first time that is equivalent to another for jobs that start then. Once nothing is
/// taken any more, each period equals the one before, so that changes of capacity need not be
/// merged in up to distant times.
int64_t as_soon(const SharedResources& shared, int64_t time)
{
    if (shared.period == 0) return time;
    const int64_t alike = std::max(shared.steps.last, shared.settled);
    return time - std::max(time - alike, int64_t{0}) / shared.period * shared.period;
}

}  // namespace

int64_t offered(const SharedResources& shared, int64_t p, int64_t time)
{
    const int64_t first = shared.first[p], last = shared.first[p + 1], every = shared.every[p];
    const int64_t period = every != 0 ? floor_divide(time, every) : 0;
    const int64_t within = every != 0 ? floor_modulo(time, every) : time;
    int64_t k = first;
    while (k < last && shared.at[k] <= within) ++k;
    if (k > first) return shared.offer[k - 1];
    if (period != 0 && last > first) return shared.offer[last - 1];
    return shared.capacity[p];
}

int64_t next_offer(const SharedResources& shared, int64_t time)
{
    int64_t found = never;
    for (int64_t p = 0; p < shared.every.size(); ++p) {
        const int64_t first = shared.first[p], last = shared.first[p + 1], every = shared.every[p];
        const int64_t within = every != 0 ? floor_modulo(time, every) : time;
        int64_t k = first;
        while (k < last && shared.at[k] <= within) ++k;
        if (k < last)
            found = std::min(found, time - within + shared.at[k]);
        else if (every != 0 && last > first)
            found = std::min(found, time - within + every + shared.at[first]);
    }
    return found;
}

int64_t earlier_offer(State& state, int64_t event)
{
    const SharedResources& shared = state.shared;
    if (!shared.any) return event;
    Counters& counters = state.counters;
    if (counters.queued != 0) {
        const int64_t change = next_offer(shared, counters.now);
        const int64_t last =
            std::max(counters.last_event, shared.settled) + shared.rounds * shared.period;
        if (event == never && change > last) return never;
        if (change < event) return change;
    }
    if (event != never) counters.last_event = event;
    return event;
}

void store_draw(State& state, int64_t k, int64_t row)
{
    SharedResources& shared = state.shared;
    if (!shared.any) return;
    for (int64_t p = 0; p < shared.count(); ++p) shared.own(row, p) = state.batch->draws(k, p);
}

void switch_draw(State& state, int64_t row, int64_t sign)
{
    SharedResources& shared = state.shared;
    if (!shared.any) return;
    int64_t nodes = 0;
    for (int64_t cell = state.jobs[row].cell; cell != none; cell = state.cells[cell].next) {
        int64_t& on = shared.jobs_on[state.cells[cell].node];
        const int64_t before = on;
        on += sign;
        // A node draws while at least one job is on it, however many there are.
        if (before == 0 || on == 0) ++nodes;
    }
    for (int64_t p = 0; p < shared.count(); ++p)
        shared.drawn[p] += sign * (shared.own(row, p) + nodes * shared.node[p]);
    state.counters.moved = true;
    // A job that starts may end at once, without an instant of its own.
    if (sign == 1) state.counters.last_event = state.counters.now;
}

void write_level(State& state)
{
    SharedResources& shared = state.shared;
    if (!shared.any || !state.counters.moved) return;
    Numbers level{state.now()};
    level.insert(level.end(), shared.drawn.begin(), shared.drawn.end());
    shared.levels.add(level);
    state.counters.moved = false;
}

bool overdraws(const State& state, int64_t row)
{
    const SharedResources& shared = state.shared;
    if (!shared.any) return false;
    int64_t nodes = 0;
    for (int64_t cell = state.jobs[row].cell; cell != none; cell = state.cells[cell].next)
        nodes += shared.jobs_on[state.cells[cell].node] == 0;
    for (int64_t p = 0; p < shared.count(); ++p) {
        const int64_t draw = shared.own(row, p) + nodes * shared.node[p];
        if (draw != 0 && draw > offered(shared, p, state.now()) - shared.drawn[p]) return true;
    }
    return false;
}

void open_shared(State& state)
{
    SharedResources& shared = state.shared;
    if (!shared.any) return;
    const View<Job> jobs = state.jobs;
    const int64_t now = state.now();
    const RunningByEnd ends(state);
    const View<int64_t> on_until = shared.on_until;
    std::fill(on_until.begin(), on_until.end(), now);
    // Ends ascend, so the last job that is seen on a node is the one that frees it.
    Numbers last(static_cast<size_t>(on_until.size()));
    for (int64_t k = 0; k < ends.size(); ++k) {
        const Job& job = jobs[ends[k]];
        for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next) {
            on_until[state.cells[cell].node] = job.shown_end;
            last[state.cells[cell].node] = k;
        }
    }
    Numbers free;
    for (int64_t p = 0; p < shared.count(); ++p)
        free.push_back(offered(shared, p, now) - shared.drawn[p]);
    SharedResources::Steps& steps = shared.steps;
    steps = {{now}, {free}, now, now};
    for (int64_t k = 0; k < ends.size(); ++k) {
        const Job& job = jobs[ends[k]];
        // Jobs that end in the same second make one step.
        if (job.shown_end != steps.time.back()) {
            steps.time.push_back(job.shown_end);
            steps.free.push_back(free);
        }
        int64_t nodes = 0;
        for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next)
            nodes += last[state.cells[cell].node] == k;
        for (int64_t p = 0; p < shared.count(); ++p)
            free[p] += shared.own(ends[k], p) + nodes * shared.node[p];
        steps.free.back() = free;
        steps.last = job.shown_end;
    }
}

bool shared_suffice(State& state, int64_t row, int64_t begin)
{
    if (!state.shared.any) return true;
    begin = as_soon(state.shared, begin);
    const int64_t end = begin + state.jobs[row].predicted;
    return last_lack(state, begin, end, most_draw(state, row)) == none;
}

int64_t short_resource(State& state, int64_t row, int64_t begin)
{
    if (!state.shared.any) return none;
    const Numbers draw = most_draw(state, row);
    const int64_t k = last_lack(state, begin, begin + state.jobs[row].predicted, draw);
    if (k == none) return none;
    for (int64_t p = 0; p < state.shared.count(); ++p)
        if (is_short(draw, state.shared.steps.free[k], p)) return p;
    return none;
}

int64_t earliest_in_shared(State& state, int64_t row, int64_t begin)
{
    SharedResources& shared = state.shared;
    if (!shared.any) return begin;
    const int64_t run_time = state.jobs[row].predicted;
    const Numbers draw = most_draw(state, row);
    const int64_t sooner = begin - as_soon(shared, begin);
    begin -= sooner;
    SharedResources::Steps& steps = shared.steps;
    // Later on nothing is taken, and each period is like the one before.
    const int64_t limit = std::max({begin, steps.last, shared.settled}) + shared.period;
    int64_t start = begin;
    while (start <= limit) {
        const int64_t found = last_lack(state, start, start + run_time, draw);
        if (found == none) return start + sooner;
        // The step ends with the next one, or with a change that is not merged in yet.
        start = next_offer(shared, steps.merged_until);
        if (found + 1 < static_cast<int64_t>(steps.time.size()))
            start = std::min(start, steps.time[found + 1]);
    }
    return never;
}

void reserve_shared(State& state, int64_t row, int64_t begin, int64_t sign)
{
    if (!state.shared.any || begin == never) return;
    const int64_t end = begin + state.jobs[row].predicted;
    SharedResources::Steps& steps = state.shared.steps;
    steps.last = std::max(steps.last, end);
    take(steps, begin, end, most_draw(state, row), sign);
}

void draw_for_start(State& state, int64_t row, const Placement& placed)
{
    SharedResources& shared = state.shared;
    if (!shared.any) return;
    SharedResources::Steps& steps = shared.steps;
    const int64_t now = state.now(), end = now + state.jobs[row].predicted;
    steps.last = std::max(steps.last, end);
    take(steps, now, end, shared.own.row(row), 1);
    // A node that is on already draws more only from when it would have been switched off.
    for (const Span& span : placed) {
        for (int64_t node = span.first; node < span.end; ++node) {
            if (shared.on_until[node] >= end) continue;
            take(steps, shared.on_until[node], end, shared.node, 1);
            shared.on_until[node] = end;
        }
    }
}

bool draws_less(const State& state, int64_t row)
{
    const SharedResources& shared = state.shared;
    if (!shared.any) return false;
    if (std::all_of(shared.node.begin(), shared.node.end(), [](int64_t draw) { return draw == 0; }))
        return false;
    const Job& job = state.jobs[row];
    int64_t nodes = 0;
    for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next)
        nodes += shared.jobs_on[state.cells[cell].node] == 1;
    return nodes < std::min(job.units, state.shapes.nodes[job.later]);
}

bool leaves_shared_to(State& state, int64_t head, int64_t time, int64_t row)
{
    if (!state.shared.any) return true;
    const int64_t now = state.now(), end = now + state.jobs[row].predicted;
    const Numbers draw = most_draw(state, row);
    // Taken for the check and given back, which needs no copy of the steps.
    take(state.shared.steps, now, end, draw, 1);
    const bool leaves = shared_suffice(state, head, time);
    take(state.shared.steps, now, end, draw, -1);
    return leaves;
}

}  // namespace hpcsched
