#pragma once

#include <memory>
#include <vector>

#include "postpone/bound.hpp"
#include "postpone/placing.hpp"
#include "postpone/state.hpp"

namespace hpcsched::postpone {

/// Units of a job on a node.
struct Placed {
    int job;
    int node;
    int64_t units;
};

/// A plan in which all jobs are started.
struct BestPlan {
    int64_t cost = never;
    std::vector<int64_t> starts;
    std::vector<Placed> placed;  // of jobs whose nodes the plan names
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
    Search(Problem problem, const std::vector<int>& order);

    // The place in the tree refers to the problem here.
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    /// Go back to the root and look at jobs in another order; counts and the best plan stay.
    void restart(const std::vector<int>& order);

    /// Go on up to a number of decisions or fails, or for some seconds; say whether the tree is
    /// done.
    bool advance(int64_t nodes, int64_t fails, double seconds);

    /// Look only for plans that cost less.
    void improve_on(int64_t cost) { best_.cost = cost; }

    const Problem& problem() const { return problem_; }
    const BestPlan& best() const { return best_; }
    bool has_plan() const { return has_plan_; }
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
        std::size_t unblocked;   // entries of `unblocked_`
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
    bool has_plan_ = false;

    bool step();
    void fail();
    void decide(int j);
    bool change_last();
    void keep();
    int next_job();
    bool next_level();
    bool unblock();
    bool is_kept_from_nothing(int64_t time) const;
    bool some_can_start();
};

}  // namespace hpcsched::postpone
