#pragma once

#include <cstdint>
#include <utility>

namespace hpcsched {

enum class Rule {
    in_python,
    easy,
    strict,
    greedy,
    backfill,
    relaxed,
    committed,
    committed_backfill,
    conservative,
    slack,
    slurm_backfill,
    order_search,
    beside_plan,
};

/// Names of the rules in Python.
inline constexpr std::pair<const char*, Rule> rule_names[] = {
    {"IN_PYTHON", Rule::in_python},
    {"EASY", Rule::easy},
    {"STRICT", Rule::strict},
    {"GREEDY", Rule::greedy},
    {"BACKFILL", Rule::backfill},
    {"RELAXED", Rule::relaxed},
    {"COMMITTED", Rule::committed},
    {"COMMITTED_BACKFILL", Rule::committed_backfill},
    {"CONSERVATIVE", Rule::conservative},
    {"SLACK", Rule::slack},
    {"SLURM_BACKFILL", Rule::slurm_backfill},
    {"ORDER_SEARCH", Rule::order_search},
    {"BESIDE_PLAN", Rule::beside_plan},
};

/// Whether a rule promises the head job a start in each round, even if no job fits.
inline bool promises(Rule rule)
{
    return rule == Rule::relaxed || rule == Rule::committed || rule == Rule::committed_backfill;
}

/// Order in which reservations are moved to earlier times.
enum class Compression { by_arrival, by_reservation };

/// `external` is an object in Python.
enum class Allocator {
    external,
    first_fit,
    best_fit,
    keep_scarce,
    weighted,
    balanced,
    hybrid,
    // By scores of nodes; see `NodeScores`.
    fgd,
    gpu_packing,
    gpu_clustering,
    dot_product,
    gpu_best_fit,
    random,
};

/// Why a job waits. With `short_of_shared`, `Job::other` is the number of the shared resource, with
/// `limit` that of the limit.
enum class Reason : int64_t {
    no_room,
    reserved_for,
    behind,
    beyond_depth,
    short_of_shared,
    beyond_queue_depth,
    held,
    limit,
};

/// What a limit counts of the running jobs of a group: amounts, nodes, the amounts times the time
/// that the jobs may still take, or times what they have taken or may take, ended jobs included.
enum class Counted { amount, nodes, remaining, committed };

/// Correction of predictions that have run out; Python computes those that are `asked_for`.
enum class Correction { one_second, doubling, to_requested_time, asked_for };

/// How a queue is sorted: by fixed keys, by wait over the first key, or by `Multifactor`.
enum class OrderKind { by_keys, by_wait, by_priority };

/// Why the event loop returns: the replay is over, the batch of jobs is used up, time is up, or all
/// jobs have started whose starts are sought.
enum class Pause { over, jobs_needed, time_up, found };

/// Phases of an instant, in this order; the loop can be left and entered in each.
enum class Phase {
    next_instant,
    ends,
    outages,
    submissions,
    rounds,
    flight,
    looks,
    zero_ends,
};

/// How a job stops running, or that it never runs; the cause of a refusal is added to `rejected`.
/// An interval in which a job was suspended is written as an attempt.
enum class Left : int64_t { ended, failed, requeued, preempted, suspended, withdrawn, rejected };

/// The causes for which waiting jobs are rejected; those at submission come after them.
enum class RejectedBy : int64_t { dispatcher, used_up_limit };

/// What preemption does to a job.
enum class PreemptMode : int64_t { off, requeue, cancel, suspend };

/// Events for observers.
enum class EventKind : int64_t {
    submitted_job,
    rejected_job,
    started_job,
    lost_job,
    ended_job,
    asked_round,
    held_round,
    dismissed_job,
    withdrawn_job,
};

/// Causes that hold a job back, one bit each.
constexpr int64_t held_by_outages = 1;
constexpr int64_t held_by_others = 2;
constexpr int64_t held_by_limits = 4;
constexpr int64_t held_by_requeue = 8;
constexpr int64_t held_by_begin = 16;

}  // namespace hpcsched
