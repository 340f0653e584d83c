#include <algorithm>

#include "core/limits.hpp"
#include "core/shared_resources.hpp"
#include "rules/backfill.hpp"
#include "rules/node_plan.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Number of earlier reservations of a round that bound the start of the next one.
constexpr int64_t looked_at = 64;

/// A round of list scheduling with reservations, node by node.
class NodeReservations {
public:
    NodeReservations(State& state, bool explains)
        : state_(state), explains_(explains), profile_(open_profile(state))
    {
    }

    void run(int64_t at, Numbers candidates);

private:
    struct Placed {
        int64_t begin;
        Placement units;
    };

    State& state_;
    bool explains_;
    Profile profile_;
    Numbers reserved_;
    std::vector<Placement> placed_;  // of the reserved rows, where reasons are requested

    Placed reserve(int64_t row, int64_t release);
    int64_t not_before(int64_t row) const;
    int64_t first_conflict(int64_t row);
    void explain(int64_t row, bool within);
    void reserve_all_shared(int64_t sign);
    bool starts_now(int64_t row)
    {
        return fits_now(state_, row) && fits_in_profile(state_, row, profile_);
    }
};

/// Reserve room for a job at the earliest possible time from `release` on; `never`, without a
/// reservation, where no time within the window will do.
NodeReservations::Placed NodeReservations::reserve(int64_t row, int64_t release)
{
    const std::optional<int64_t> window = state_.choices.window;
    if (is_single(state_, row) && !state_.shared.any && !window) {
        const auto [begin, node] = reserve_unit(state_, row, release, never, profile_);
        return {begin, begin == never ? Placement{} : Placement{{node, node + 1, 1}}};
    }
    const int64_t start = earliest_beside_shared(state_, row, release, never, profile_);
    if (start == never || (window && start > state_.now() + *window)) return {never, {}};
    Placement placed = place_reservation(state_, row, start, profile_);
    reserve_shared(state_, row, start, 1);
    return {start, std::move(placed)};
}

/// Return a lower bound on the time at which a job fits. Within a round free capacity only shrinks,
/// so a job cannot start before one that asks for no more and has a reservation from the same
/// round.
int64_t NodeReservations::not_before(int64_t row) const
{
    int64_t begin = state_.now();
    if (state_.shared.any) return begin;
    const Job& job = state_.jobs[row];
    const auto count = static_cast<int64_t>(reserved_.size());
    for (int64_t k = std::max(count - looked_at, int64_t{0}); k < count; ++k) {
        const Job& other = state_.jobs[reserved_[k]];
        if (other.later == job.later && other.units <= job.units &&
            other.predicted <= job.predicted)
            begin = std::max(begin, other.when);
    }
    return begin;
}

/// Return the first reserved row, in the order in which reservations were made, that leaves too
/// little for a job now together with those before it; -1 if none does. Shared resources hold no
/// reservations here.
int64_t NodeReservations::first_conflict(int64_t row)
{
    const View<Job> jobs = state_.jobs;
    const int64_t end = state_.now() + jobs[row].predicted;
    Profile without = profile_;
    const auto take = [&](size_t k, int64_t sign) {
        const Job& other = jobs[reserved_[k]];
        take_placed(state_, reserved_[k], placed_[k], other.when, other.when + other.predicted,
                    sign, without);
    };
    // Without any reservation at first; they come back one by one, in the order of their making.
    for (size_t k = 0; k < reserved_.size(); ++k) take(k, -1);
    int64_t found = none;
    size_t upto = 0;
    for (; upto < reserved_.size() && found == none; ++upto) {
        const int64_t other = reserved_[upto];
        if (jobs[other].when >= end) continue;
        take(upto, 1);
        reserve_shared(state_, other, jobs[other].when, 1);
        if (!shared_suffice(state_, row, state_.now()) || !fits_in_profile(state_, row, without))
            found = other;
    }
    for (size_t k = 0; k < upto; ++k)
        if (jobs[reserved_[k]].when < end)
            reserve_shared(state_, reserved_[k], jobs[reserved_[k]].when, -1);
    return found;
}

void NodeReservations::reserve_all_shared(int64_t sign)
{
    for (const int64_t row : reserved_) reserve_shared(state_, row, state_.jobs[row].when, sign);
}

/// Note why a job waits, given the reservations.
void NodeReservations::explain(int64_t row, bool within)
{
    if (!explains_) return;
    // Whether there is room now is asked without what is kept for others of shared resources.
    reserve_all_shared(-1);
    note_wait(state_, row, fits_now(state_, row) ? first_conflict(row) : none, within);
    note_shared_resource(state_, row);
    reserve_all_shared(1);
}

void NodeReservations::run(int64_t at, Numbers candidates)
{
    const View<Job> jobs = state_.jobs;
    const View<int64_t> queue = state_.queue;
    const int64_t count = state_.counters.queued, depth = state_.choices.depth;
    // Without a job that could still start, reservations would hold nothing back.
    while (at < count && (explains_ || (!candidates.empty() && candidates.back() >= at))) {
        const int64_t row = queue[at];
        if (!candidates.empty() && candidates.back() == at) candidates.pop_back();
        ++at;
        if (!is_tried(state_, row)) continue;
        const bool within = depth < 0 || static_cast<int64_t>(reserved_.size()) < depth;
        if (starts_now(row)) {
            start_where_placed(state_, row, start_in_profile(state_, row, profile_));
        } else if (within) {
            explain(row, within);
            Placed placed = reserve(row, not_before(row));
            jobs[row].when = placed.begin;
            if (placed.begin != never || !state_.choices.window) {
                reserved_.push_back(row);
                if (explains_) placed_.push_back(std::move(placed.units));
            }
            // It begins when the last candidate would have ended: that one still fits.
            if (!candidates.empty() &&
                placed.begin - state_.now() >= jobs[queue[candidates.back()]].predicted)
                continue;
        } else {
            explain(row, within);
            continue;
        }
        while (!candidates.empty()) {
            const int64_t last = queue[candidates.back()];
            if (jobs[last].waits != 0 && starts_now(last)) break;
            candidates.pop_back();
        }
    }
}

}  // namespace

void backfill_on_nodes(State& state, int64_t at, Numbers candidates, bool explains)
{
    NodeReservations(state, explains).run(at, std::move(candidates));
}

}  // namespace hpcsched
