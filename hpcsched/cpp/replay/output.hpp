#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Output of the event loop: jobs that leave, rounds, and events for observers, where there are any.

/// Write a job that stops running now, or resumes.
void write_job(State& state, int64_t row, Left how);

/// End the attempt of a running job before its end, and release its resources; its row is the
/// caller's where it is requeued, and else free.
void end_attempt(State& state, int64_t row, Left how);

/// Write the queued jobs that are rejected, by a cause, and free their rows.
void write_dismissed(State& state, RejectedBy by);

/// Whether job `k` of the batch is refused at submission.
bool is_refused(const State& state, int64_t k);

/// Write the submission and refusal of job `k` of the batch.
void write_refusal(State& state, int64_t k);

/// Write that a waiting job is withdrawn, and note it.
void write_withdrawn(State& state, int64_t row);

/// Write a round; `queued` and `running` are the numbers of jobs before it.
void write_round(State& state, double seconds, int64_t queued, int64_t running);

/// Write request time and latency of the decision that was pending into the last round.
void write_flight(State& state);

void note_submission(State& state, int64_t k, int64_t row);
void note_refusal(State& state, int64_t k);
void note_end(State& state, EventKind kind, int64_t row, int64_t value);

/// Log the decision request of a round with visible jobs.
void note_asked(State& state);

/// Log the starts of a round with their places, the rejections, and the round itself.
void note_round(State& state);

}  // namespace hpcsched
