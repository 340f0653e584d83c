#include "replay/event_loop.hpp"

#include <algorithm>
#include <chrono>

#include "core/estimated_ends.hpp"
#include "core/job_events.hpp"
#include "core/limits.hpp"
#include "core/queue_order.hpp"
#include "core/shared_resources.hpp"
#include "replay/holding.hpp"
#include "replay/outages.hpp"
#include "replay/output.hpp"
#include "replay/pending_decision.hpp"
#include "replay/preemption.hpp"
#include "replay/waiting_times.hpp"
#include "rules/round.hpp"

namespace hpcsched {

namespace {

/// Seconds of a monotonic clock.
double read_clock()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

/// Jobs and rounds that are written before the loop pauses, so that they do not pile up.
constexpr int64_t most_written = 1 << 16;

/// The event loop: ends, outages, submissions, then rounds, instant by instant.
class Loop {
public:
    Loop(State& state, const Hooks& hooks, double seconds)
        : state_(state), counters_(state.counters), hooks_(hooks)
    {
        over_ = read_clock();
        until_ = over_ + seconds;
    }

    Pause run();

private:
    State& state_;
    Counters& counters_;
    const Hooks& hooks_;
    double until_;
    double over_;  // when the last round was over

    bool is_to_pause();
    bool is_in_batch() const { return counters_.next < state_.batch->number.size(); }
    bool is_batch_used_up() const { return !is_in_batch() && !state_.batch->last; }
    void end_all();
    int64_t next_instant();
    std::optional<Pause> begin_instant();
    void predict();
    void pass_submissions();
    void correct();
    void pass_round();
    void charge();
    std::optional<Pause> pass_flight();
    void ask_rule();
    void land();
};

void Loop::end_all()
{
    while (counters_.running != 0 && state_.jobs[state_.ends[0]].end == counters_.now) {
        const int64_t row = state_.ends[0];
        counters_.ended_any = true;
        if (end_preempted(state_, row)) continue;
        write_job(state_, row, Left::ended);
        note_end(state_, EventKind::ended_job, row, 0);
        end_first(state_);
    }
}

/// Return the time of the next event; `never` if none is left.
int64_t Loop::next_instant()
{
    int64_t event = never;
    // A batch that is used up is no end: the caller brings the next one first.
    if (is_in_batch()) event = state_.batch->submit_time[counters_.next];
    if (counters_.running != 0) event = std::min(event, state_.jobs[state_.ends[0]].end);
    // A time that has passed while a decision was pending is made up for at once.
    if (counters_.queued != 0 && counters_.call_again != never)
        event = std::min(event, std::max(counters_.call_again, counters_.now + 1));
    event = earlier_timer(state_, event);
    event = earlier_change(state_, earlier_release(state_, event));
    event = earlier_requeue(state_, earlier_limit(state_, event));
    return earlier_offer(state_, event);
}

/// Whether the loop pauses between two instants.
bool Loop::is_to_pause()
{
    if (!counters_.seen) {
        counters_.seen = true;
        const bool goes_on = !state_.manner.tells || hooks_.pass_instant();
        state_.output.finish_instant();
        if (!goes_on) return true;
    }
    return over_ > until_ || state_.output.jobs.size() + state_.output.rounds.size() > most_written;
}

/// Go to the next instant, or return why the loop pauses.
std::optional<Pause> Loop::begin_instant()
{
    write_level(state_);
    if (is_to_pause()) return Pause::time_up;
    if (state_.sought.missing == 0) return Pause::found;
    if (is_batch_used_up()) return Pause::jobs_needed;
    const int64_t now = next_instant();
    if (now == never) {
        reject_used_up(state_);
        return Pause::over;
    }
    counters_.now = now;
    counters_.seen = false;
    counters_.phase = Phase::ends;
    return std::nullopt;
}

/// Ask for predictions of the jobs that are submitted now.
void Loop::predict()
{
    Batch& batch = *state_.batch;
    for (int64_t& k = counters_.foreseen;
         k < batch.number.size() && batch.submit_time[k] == counters_.now; ++k) {
        const auto [run_time, keys, behind_keys, refused] = hooks_.predict(k);
        batch.predicted[k] = run_time;
        std::copy(keys.begin(), keys.end(), batch.keys.row(k).begin());
        std::copy(behind_keys.begin(), behind_keys.end(), batch.behind_keys.row(k).begin());
        if (refused >= 0) batch.refused[k] = refused;
    }
}

/// Submit the jobs of this instant.
void Loop::pass_submissions()
{
    const Batch& batch = *state_.batch;
    while (is_in_batch() && batch.submit_time[counters_.next] == counters_.now) {
        const int64_t k = counters_.next;
        if (k == counters_.foreseen) predict();
        if (is_refused(state_, k)) {
            write_refusal(state_, k);
            note_refusal(state_, k);
        } else {
            const int64_t row = submit(state_, k);
            note_submission(state_, k, row);
            note_waiting_times(state_, k, row);
        }
        ++counters_.next;
    }
    if (is_batch_used_up()) return;
    pass_timers(state_);
    const bool flies = state_.manner.takes_time && counters_.flying;
    counters_.phase = flies ? Phase::flight : Phase::rounds;
}

/// Mark the jobs that a round starts before one that is ahead of them in the queue.
void mark_backfilled(State& state)
{
    int64_t left = state.counters.started;
    bool passes = false;
    for (int64_t k = 0; left != 0; ++k) {
        Job& job = state.jobs[state.queue[k]];
        if (job.waits != 0) {
            passes = true;
        } else {
            job.backfilled = passes;
            --left;
        }
    }
}

/// Hold a round of the rule. Where decisions take simulated time, starts are taken back until the
/// decision is due.
void Loop::ask_rule()
{
    ++counters_.round;
    counters_.started = 0;
    counters_.ended_any = false;
    const int64_t queued = counters_.queued, running = counters_.running;
    const int64_t event = counters_.last_event;
    const double began = read_clock();
    hold_back(state_);
    // Where all jobs are held back nothing is decided, and that takes no time.
    const bool is_shown = counters_.queued > 0;
    note_asked(state_);
    if (state_.preemption.any) counters_.call_again = never;
    hold_round(state_, false);
    const Numbers requeued = preempt(state_);
    mark_backfilled(state_);
    if (state_.manner.takes_time) {
        over_ = read_clock();
        state_.flight.decision_seconds = is_shown ? over_ - began : 0.0;
        take_back(state_, queued, running);
        // A start that is taken back is no event. If it were one, jobs whose starts are always too
        // late for what shared resources offer would be tried for ever.
        counters_.last_event = event;
        return;
    }
    // Most rounds start nothing, and then the queue is as it was.
    if (counters_.started != 0 || counters_.held_back != 0) leave_queue(state_);
    for (const int64_t row : requeued) requeue(state_, row);
    over_ = read_clock();
    write_round(state_, is_shown ? over_ - began : 0.0, queued, running);
    note_round(state_);
    counters_.phase = Phase::looks;
}

/// Apply the decision that is due.
void Loop::land()
{
    carry_out(state_);
    write_round(state_, state_.flight.decision_seconds, counters_.asked_queued,
                counters_.asked_running);
    if (state_.manner.takes_time) {
        write_flight(state_);
        counters_.ended_any = counters_.flying_changed;
    }
    note_round(state_);
    counters_.phase = Phase::looks;
}

/// Ask for the ends of running jobs that have outlived their predictions.
void Loop::correct()
{
    const Numbers rows = outlived(state_);
    if (rows.empty()) return;
    const Numbers ends = hooks_.correct(rows);
    for (size_t k = 0; k < rows.size(); ++k) state_.jobs[rows[k]].shown_end = ends[k];
}

/// Set the due time of the decision that is pending.
void Loop::charge()
{
    counters_.due =
        counters_.now + hooks_.charge(counters_.asked_shown, state_.flight.decision_seconds);
}

/// Hold a round, if jobs wait.
void Loop::pass_round()
{
    resume_all(state_);
    // A queue that was emptied by withdrawals is recorded by a round as well.
    if (counters_.queued == 0 && !counters_.withdrew) {
        counters_.phase = Phase::next_instant;
        return;
    }
    counters_.withdrew = false;
    narrow_all(state_);
    release_requeued(state_);
    if (needs_look(state_)) {
        const auto [turned, release] = hooks_.look();
        turn_about(state_, turned);
        counters_.release = release;
        counters_.changed = false;
    }
    hold_limited(state_);
    const Choices& choices = state_.choices;
    const bool any_shown = counters_.queued > counters_.held_back;
    if (any_shown && choices.correction == Correction::asked_for) correct();
    if (state_.manner.by_python) {
        hooks_.decide();
        if (take_answer(state_)) land();
        over_ = read_clock();
    } else {
        ask_rule();
    }
    if (counters_.phase == Phase::flight && counters_.asked_shown != 0) charge();
}

/// Go on to the next event or to the due time of a decision, and apply it; or return why the loop
/// pauses.
std::optional<Pause> Loop::pass_flight()
{
    if (counters_.now >= counters_.due) {
        land();
        return std::nullopt;
    }
    write_level(state_);
    if (is_to_pause()) return Pause::time_up;
    if (is_batch_used_up()) return Pause::jobs_needed;
    if (fly(state_, next_instant())) counters_.phase = Phase::ends;
    return std::nullopt;
}

Pause Loop::run()
{
    std::optional<Pause> pause;
    while (!pause) {
        switch (counters_.phase) {
            case Phase::next_instant:
                pause = begin_instant();
                break;
            case Phase::ends:
                end_all();
                counters_.phase = Phase::outages;
                break;
            case Phase::outages:
                pass_outages(state_);
                counters_.phase = Phase::submissions;
                break;
            case Phase::submissions:
                pass_submissions();
                if (counters_.phase == Phase::submissions) pause = Pause::jobs_needed;
                break;
            case Phase::rounds:
                pass_round();
                break;
            case Phase::flight:
                pause = pass_flight();
                break;
            case Phase::looks:
                if (needs_second_look(state_)) {
                    const auto [frees, release] = hooks_.look_again();
                    counters_.ended_any |= frees;
                    counters_.release = release;
                    counters_.changed = true;
                }
                // Jobs that were shown may have left more to the others than they might have taken.
                if (state_.manner.shows_startable) counters_.ended_any |= hold_limited(state_);
                find_limit_release(state_);
                counters_.phase = Phase::zero_ends;
                break;
            case Phase::zero_ends:
                end_all();
                // Jobs of run time 0 end in the instant of their start, and free room for another
                // round.
                counters_.phase = counters_.ended_any ? Phase::rounds : Phase::next_instant;
                break;
        }
    }
    return *pause;
}

}  // namespace

Pause advance(State& state, const Hooks& hooks, double seconds)
{
    return Loop(state, hooks, seconds).run();
}

}  // namespace hpcsched
