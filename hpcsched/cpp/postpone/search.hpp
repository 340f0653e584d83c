#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <tuple>

#include "postpone/bound.hpp"
#include "postpone/placing.hpp"

namespace hpcsched::postpone {

/// The clock is looked at after so many steps: a look takes about as long as a cheap one.
constexpr int steps_between_looks = 16;

/// The longest time that is counted, so that no sum with it overflows.
constexpr double longest = 1e9;

/// A plan in which all jobs are started.
struct BestPlan {
    int64_t cost = never;
    std::optional<std::vector<int64_t>> starts;
    // Job, node and units, of jobs whose nodes the plan names.
    std::vector<std::tuple<int, int, int64_t>> placed;
};

/// The tree of schedule-or-postpone, depth first.
///
/// At a level the search takes the first job in order that can start, and starts it there; on the
/// other branch the job is postponed: it is not looked at again until it could no longer have
/// started then, beside what has been started since, and so its earliest start is another; or until
/// a node has room for it that it had not then, since the first may happen later. Where no job of a
/// level is left, the next level is the next time at which one can start.
///
/// Nothing is lost where no job gets cheaper by waiting. Of the best plans, take one whose starts
/// have the least sum: no job of it could start sooner with all others left alone. So
///
/// - each start is a time at which something ends, or begins;
/// - a postponed job that no later start can keep from its old earliest start is a failure;
/// - of two jobs that are in every way the same the heavier one starts no later;
/// - nodes that are the same from now on can be exchanged; and
/// - where jobs had room on single nodes whenever they had it on all together, below a decision,
///   other nodes for its job bring nothing better.
class Search {
public:
    Search(Problem problem, const std::vector<int>& order) : problem_(std::move(problem))
    {
        restart(order);
    }

    // The place in the tree refers to the problem here.
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    /// Go back to the root and look at jobs in another order; counts and the best plan stay.
    void restart(const std::vector<int>& order)
    {
        place_ = std::make_unique<Place>(problem_, order);
    }

    /// Go on up to a number of decisions or fails, or for some seconds; say whether the tree is
    /// done.
    bool advance(int64_t nodes, int64_t fails, double seconds)
    {
        using Clock = std::chrono::steady_clock;
        const std::chrono::duration<double> limit(std::min(seconds, longest));
        const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
        for (int steps = 1; nodes_ < nodes && fails_ < fails; ++steps) {
            if (step()) return true;
            if (steps % steps_between_looks == 0 && Clock::now() >= until) break;
        }
        return false;
    }

    /// Look only for plans that cost less.
    void improve_on(int64_t cost) { best_.cost = cost; }

    const Problem& problem() const { return problem_; }
    const BestPlan& best() const { return best_; }
    int64_t nodes() const { return nodes_; }
    int64_t fails() const { return fails_; }

    /// Whether a placement was left out that may have led to a better plan.
    bool left_out() const { return left_out_; }

private:
    enum class Branch { start, postpone };

    struct Decision {
        int job;
        Branch branch;
        int level;
        std::size_t looked_at;
        int postponed_before;    // the level at which the job was, until this decision
        std::size_t unblocked;   // size of `Place::unblocked` before it
        int64_t differed;
    };

    /// A job that became selectable again, and the level at which it was postponed.
    struct Unblocked {
        int job;
        int level;
    };

    /// What belongs to one order of the jobs: the place in the tree.
    struct Place {
        Place(const Problem& problem, const std::vector<int>& order)
            : state(problem, order), placing(state), bound(state)
        {
        }

        State state;
        Placing placing;
        Bound bound;
        std::vector<Decision> path;
        std::vector<Unblocked> unblocked;
        bool goes_down = true;  // whether the next step is a decision
    };

    const Problem problem_;
    std::unique_ptr<Place> place_;
    BestPlan best_;
    int64_t nodes_ = 0;
    int64_t fails_ = 0;
    bool left_out_ = false;

    /// Go one step down or back up; say whether the tree is done.
    bool step()
    {
        Place& place = *place_;
        if (!place.goes_down) {
            if (place.path.empty()) return true;
            if (!change_last()) return false;
            place.goes_down = true;
        } else if (place.state.by_end.size() == problem_.jobs.size()) {
            keep();
            place.goes_down = false;
            return false;
        } else if (const int j = next_job(); j != none) {
            decide(j);
        } else {
            if (!next_level()) fail();
            return false;
        }
        // After every decision: a bound is cheaper than one more level of the tree.
        if (place.bound.is_hopeless(best_.cost)) fail();
        return false;
    }

    void fail()
    {
        ++fails_;
        place_->goes_down = false;
    }

    /// Start a job: a decision that may be changed.
    void decide(int j)
    {
        State& state = place_->state;
        place_->path.push_back({j, Branch::start, state.level, state.now().looked_at,
                                state.jobs[j].postponed, place_->unblocked.size(), state.differed});
        ++nodes_;
        place_->placing.begin(j);
    }

    /// Change the last decision to its next branch; false if it has none and is undone.
    bool change_last()
    {
        Place& place = *place_;
        State& state = place.state;
        Decision& last = place.path.back();
        const int j = last.job;
        // First what was unblocked below this decision is undone, the last first.
        for (; place.unblocked.size() > last.unblocked; place.unblocked.pop_back())
            state.jobs[place.unblocked.back().job].postponed = place.unblocked.back().level;
        state.level = last.level;
        state.now().looked_at = last.looked_at;
        if (last.branch == Branch::postpone) {
            state.jobs[j].postponed = last.postponed_before;
            place.path.pop_back();
            return false;
        }
        ++nodes_;
        place.placing.lift(j);
        // Other nodes matter only if, below, a job found no single nodes where all together had
        // enough.
        if (state.differed != last.differed) {
            last.differed = state.differed;
            if (place.placing.next(j)) {
                if (!problem_.back_to_start) return true;
                // What is not tried may have been better, so the end of the tree proves nothing.
                left_out_ = true;
                place.placing.lift(j);
            }
        }
        place.placing.withdraw(j);
        last.branch = Branch::postpone;
        state.jobs[j].postponed = last.level;
        return true;
    }

    /// Keep a plan in which all jobs are started, if it is the best so far.
    void keep()
    {
        const State& state = place_->state;
        const int64_t cost = Bound::cost(state);
        if (cost >= best_.cost) return;
        best_ = {cost, std::vector<int64_t>{}, {}};
        for (std::size_t j = 0; j < state.jobs.size(); ++j) {
            best_.starts->push_back(state.jobs[j].start);
            for (const Choice& choice : state.jobs[j].choices)
                if (choice.units > 0)
                    best_.placed.emplace_back(j, problem_.nodes[choice.node].number, choice.units);
        }
    }

    /// The next job in order that can start at the present level; `none` without any.
    int next_job()
    {
        State& state = place_->state;
        Level& level = state.now();
        while (level.looked_at < state.order.size()) {
            const int j = state.order[level.looked_at++];
            if (state.is_selectable(j) && state.can_start(j)) return j;
        }
        return none;
    }

    /// Go on to the next time at which a job can start; false is a failure.
    bool next_level()
    {
        State& state = place_->state;
        if (!unblock()) return false;
        int64_t time = state.now().time;
        state.open_level(time);
        while (true) {
            // Only ends of jobs and releases can let a postponed job start.
            const int64_t before = time;
            time = state.next_event(before);
            if (time == never || is_kept_from_nothing(time) ||
                place_->bound.is_hopeless_from(time, best_.cost))
                return false;
            state.move_next_level(before, time);
            ++state.level;
            if (some_can_start()) return true;
            --state.level;
        }
    }

    /// Make jobs with a changed earliest start selectable again; say whether any job is.
    bool unblock()
    {
        State& state = place_->state;
        const int count = static_cast<int>(state.jobs.size());
        for (int j = 0; j < count; ++j) {
            Decided& decided = state.jobs[j];
            if (decided.start != none || decided.postponed == none) continue;
            if (state.could_have_started(j, decided.postponed)) continue;
            place_->unblocked.push_back({j, decided.postponed});
            decided.postponed = none;
        }
        for (int j = 0; j < count; ++j)
            if (state.is_selectable(j)) return true;
        return false;
    }

    /// Whether a postponed job could have run whole before a time: nothing can keep it from its old
    /// earliest start any more.
    bool is_kept_from_nothing(int64_t time) const
    {
        const State& state = place_->state;
        for (std::size_t j = 0; j < state.jobs.size(); ++j) {
            const Decided& decided = state.jobs[j];
            if (decided.start == none && decided.postponed != none &&
                state.levels[decided.postponed].time + problem_.jobs[j].run_time <= time)
                return true;
        }
        return false;
    }

    bool some_can_start()
    {
        State& state = place_->state;
        for (int j = 0; j < static_cast<int>(state.jobs.size()); ++j)
            if (state.is_selectable(j) && state.can_start(j)) return true;
        return false;
    }
};

}  // namespace hpcsched::postpone
