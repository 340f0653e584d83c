#pragma once

#include <vector>

#include "postpone/positions.hpp"
#include "postpone/problem.hpp"

namespace hpcsched::postpone {

/// A node that a job can choose.
struct Choice {
    int node;
    int64_t fits;   // units that it can hold
    int64_t units;  // units of the job that it has
    int alike;      // the last choice before this one that is the same, `none` or `unknown`

    static constexpr int unknown = -2;
};

/// What the search has decided about a job.
struct Decided {
    int64_t start = none;
    int postponed = none;         // the level at which it was
    std::vector<Choice> choices;  // in the order to try them in
    std::vector<Amounts> lows;    // by type, the positions of units, node by node as in `choices`
};

/// A time at which some job could start, and what is free from then on.
struct Level {
    int64_t time = 0;
    std::size_t looked_at = 0;  // jobs of the order that have been looked at
    Amounts together;
    // By node and type; each level has a copy of its own, so that going back needs no undoing.
    Amounts left;
    Amounts without;  // what would be left if no job of the search was there
    // Of each node, a sum over what holds it until when: alike where that is the same.
    std::vector<std::uint64_t> signatures;
};

/// The jobs started and postponed on the path to the present node of the tree, and what is free.
///
/// The search goes forward in time. At its present level, started jobs only release resources
/// from then on, so that a job has room from now to its end if it has now, but for announced
/// changes: nodes that close and shared resources that offer less. A job that was postponed at an
/// earlier level has room from there on if it has at all levels since.
class State {
public:
    State(const Problem& problem, const std::vector<int>& order);

    const Problem& problem;
    std::vector<int> order;  // in which jobs are looked at
    std::vector<std::size_t> rank;
    std::vector<Decided> jobs;
    std::vector<int> by_end;  // started jobs
    std::vector<Level> levels;
    int level = 0;
    Positions positions;

    // How often a job had room on all nodes together but found none on single ones that could
    // have been left free for it: a counter, so that it tells whether that was below a decision.
    int64_t differed = 0;

    Level& now() { return levels[level]; }
    const Level& now() const { return levels[level]; }
    int64_t end_of(int j) const { return jobs[j].start + problem.jobs[j].run_time; }
    bool is_started(int j) const { return jobs[j].start != none; }

    /// Whether a job waits for nothing but room.
    bool is_selectable(int j) const;

    /// Whether a job can start at the present level, and should; counts where it differed.
    bool can_start(int j);

    /// Whether a job could start at an earlier level beside all that was started since.
    bool could_have_started(int j, int first) const;

    /// How many units of a job fit on a node from a level on; at most all of them.
    int64_t units_on(int j, int n, int first) const;

    /// The first time after another at which something may become free; `never` if none.
    int64_t next_event(int64_t time) const;

    /// Make a time the next level.
    void open_level(int64_t time);

    /// Move the next level on to a later time.
    void move_next_level(int64_t after, int64_t time);

    /// Add units of a job to what is left of its nodes at a level, and take it off signatures.
    void release(int j, Level& level) const;

    /// Add a job's placement to the signatures of its nodes, or take it off.
    void sign(int j, Level& level, bool add) const;

private:
    bool fits_together(int j, int first) const;
    bool fits_on_nodes(int j, int first) const;
    bool would_fit_alone(int j) const;
    bool has_new_room(int j) const;
    int64_t units_by_amount(const Job& job, int n, const Amounts& left) const;
    void set_together(Level& level, int64_t time) const;
    void release_until(Level& level, int64_t after, int64_t time) const;
};

}  // namespace hpcsched::postpone
