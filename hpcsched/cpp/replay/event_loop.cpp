#include "replay/event_loop.hpp"

#include <algorithm>
#include <chrono>

#include "core/estimated_ends.hpp"
#include "core/job_events.hpp"
#include "core/shared_resources.hpp"
#include "replay/holding.hpp"
#include "replay/outages.hpp"
#include "replay/output.hpp"
#include "replay/pending_decision.hpp"
#include "rules/round.hpp"

namespace hpcsched {

namespace {

/// Seconds of a monotonic clock.
double read_clock()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

/// The event loop: ends, outages, submissions, then rounds, instant by instant.
class Loop {
public:
    Loop(State& state, double seconds)
        : state_(state), counters_(state.counters), seconds_(seconds)
    {
        until_ = over_ = read_clock() + seconds;
    }

    Need run();

private:
    State& state_;
    Counters& counters_;
    double seconds_;
    double until_;
    double over_;  // when the last round was over

    bool is_to_pause();
    bool is_in_batch() const { return counters_.next < state_.batch.number.size(); }
    bool is_batch_used_up() const { return !is_in_batch() && !state_.batch.last; }
    bool end_all();
    int64_t next_instant();
    bool is_to_order() const;
    bool begin_instant(Need& need);
    bool pass_submissions(Need& need);
    bool pass_round(Need& need);
    bool pass_flight(Need& need);
    void ask_rule();
    void land();
};

/// End all jobs that end now; false if the output tables are full.
bool Loop::end_all()
{
    // Checked before each end, so that a full table can be emptied and the phase entered again.
    while (counters_.running != 0 && state_.jobs[state_.ends[0]].end == counters_.now) {
        const int64_t row = state_.ends[0];
        if (is_full(state_) || !write_job(state_, row, Left::ended)) return false;
        note_end(state_, EventKind::ended_job, row, 0);
        counters_.ended_any = 1;
        end_first(state_);
    }
    return true;
}

/// Return the time of the next event; `never` if none is left.
int64_t Loop::next_instant()
{
    int64_t event = never;
    // A batch that is used up is no end: the caller brings the next one first.
    if (is_in_batch()) event = state_.batch.submit_time[counters_.next];
    if (counters_.running != 0) event = std::min(event, state_.jobs[state_.ends[0]].end);
    // A time that has passed while a decision was pending is made up for at once.
    if (counters_.queued != 0 && counters_.call_again != never)
        event = std::min(event, std::max(counters_.call_again, counters_.now + 1));
    event = earlier_change(state_, earlier_release(state_, event));
    return earlier_offer(state_, event);
}

/// Whether Python must sort the queue before a round.
bool Loop::is_to_order() const
{
    const Choices& choices = state_.choices;
    if (choices.order != OrderKind::in_python && choices.behind_order != OrderKind::in_python)
        return false;
    return counters_.ordered == 0 && counters_.queued > counters_.held_back;
}

/// Whether the loop pauses between two instants.
bool Loop::is_to_pause()
{
    if (over_ > until_) return true;
    if (seconds_ >= 0 || counters_.paused_at == counters_.now) return false;
    counters_.paused_at = counters_.now;
    return true;
}

/// Go to the next instant; false where the loop returns.
bool Loop::begin_instant(Need& need)
{
    if (!write_level(state_)) {
        need = Need::output;
    } else if (is_to_pause()) {
        need = Need::paused;
    } else if (is_batch_used_up()) {
        need = Need::jobs;
    } else if (const int64_t now = next_instant(); now == never) {
        need = Need::done;
    } else {
        counters_.now = now;
        counters_.phase = Phase::ends;
        return true;
    }
    return false;
}

/// Submit the jobs of this instant; false where the loop returns.
bool Loop::pass_submissions(Need& need)
{
    const Batch& batch = state_.batch;
    while (is_in_batch() && batch.submit_time[counters_.next] == counters_.now) {
        const int64_t k = counters_.next;
        if (k == counters_.foreseen) {
            need = Need::predictions;
            return false;
        }
        if (is_full(state_)) {
            need = Need::output;
            return false;
        }
        if (is_refused(state_, k)) {
            if (!write_refusal(state_, k)) {
                need = Need::output;
                return false;
            }
            note_refusal(state_, k);
        } else {
            if (counters_.free_row == none) {
                need = Need::rows;
                return false;
            }
            note_submission(state_, k, submit(state_, k));
        }
        ++counters_.next;
    }
    if (is_batch_used_up()) {
        need = Need::jobs;
        return false;
    }
    const bool flies = state_.flight.takes_time && counters_.flying != 0;
    counters_.phase = flies ? Phase::flight : Phase::rounds;
    return true;
}

/// Hold a round of the rule. Where decisions take simulated time, starts are taken back until the
/// decision is due.
void Loop::ask_rule()
{
    ++counters_.round;
    counters_.started = counters_.ended_any = counters_.ordered = 0;
    const int64_t queued = counters_.queued, running = counters_.running;
    const int64_t event = counters_.last_event;
    const double began = read_clock();
    hold_back(state_);
    // Where all jobs are held back nothing is decided, and that takes no time.
    const bool is_shown = counters_.queued > 0;
    note_asked(state_);
    hold_round(state_, false);
    if (state_.flight.takes_time) {
        over_ = read_clock();
        state_.flight.decision_seconds[0] = is_shown ? over_ - began : 0.0;
        take_back(state_, queued, running);
        // A start that is taken back is no event. If it were one, jobs whose starts are always too
        // late for what shared resources offer would be tried for ever.
        counters_.last_event = event;
        return;
    }
    // Most rounds start nothing, and then the queue is as it was.
    if (counters_.started != 0 || counters_.held_back != 0) leave_queue(state_);
    over_ = read_clock();
    write_round(state_, is_shown ? over_ - began : 0.0, queued, running);
    note_round(state_);
    counters_.phase = Phase::looks;
}

/// Apply the decision that is due.
void Loop::land()
{
    carry_out(state_);
    write_round(state_, state_.flight.decision_seconds[0], counters_.asked_queued,
                counters_.asked_running);
    if (state_.flight.takes_time) {
        write_flight(state_);
        counters_.ended_any = counters_.flying_changed;
    }
    note_round(state_);
    counters_.phase = Phase::looks;
}

/// Hold a round, if jobs wait; false where the loop returns.
bool Loop::pass_round(Need& need)
{
    if (counters_.queued == 0) {
        counters_.phase = Phase::next_instant;
        return true;
    }
    const int64_t needed =
        std::min(counters_.cell_demand, counters_.most_cells - state_.cells.size());
    if (counters_.out_rounds == state_.output.rounds.rows() || !has_room_for_round(state_)) {
        need = Need::output;
    } else if (needed > 0 && counters_.cells_free < counters_.cell_demand) {
        need = Need::cells;
    } else if (!narrow_all(state_)) {
        need = Need::shapes;
    } else if (needs_look(state_)) {
        need = Need::look;
    } else {
        turn_about(state_);
        const bool corrects = state_.choices.correction == Correction::asked_for;
        if (counters_.queued > counters_.held_back && corrects && any_outlived(state_)) {
            need = Need::corrections;
        } else if (is_to_order()) {
            need = Need::order;
        } else if (state_.flight.by_python && counters_.answered == 0) {
            need = Need::decision;
        } else {
            if (!state_.flight.by_python) {
                ask_rule();
            } else {
                if (take_answer(state_)) land();
                over_ = read_clock();
            }
            if (counters_.phase != Phase::flight || counters_.asked_shown == 0) return true;
            need = Need::charge;
        }
    }
    return false;
}

/// Go on to the next event or to the due time of a decision, and apply it; false where the loop
/// returns.
bool Loop::pass_flight(Need& need)
{
    if (counters_.now < counters_.due) {
        if (!write_level(state_)) {
            need = Need::output;
        } else if (is_to_pause()) {
            need = Need::paused;
        } else if (is_batch_used_up()) {
            need = Need::jobs;
        } else {
            if (fly(state_, next_instant())) counters_.phase = Phase::ends;
            return true;
        }
        return false;
    }
    if (!has_room_for_round(state_)) {
        need = Need::output;
        return false;
    }
    land();
    return true;
}

Need Loop::run()
{
    Need need = Need::done;
    while (true) {
        switch (counters_.phase) {
            case Phase::next_instant:
                if (!begin_instant(need)) return need;
                break;
            case Phase::ends:
                if (!end_all()) return Need::output;
                counters_.phase = Phase::outages;
                break;
            case Phase::outages:
                if (!pass_outages(state_)) return Need::output;
                counters_.phase = Phase::submissions;
                break;
            case Phase::submissions:
                if (!pass_submissions(need)) return need;
                break;
            case Phase::rounds:
                if (!pass_round(need)) return need;
                break;
            case Phase::flight:
                if (!pass_flight(need)) return need;
                break;
            case Phase::looks:
                if (needs_second_look(state_)) return Need::second_look;
                counters_.phase = Phase::zero_ends;
                break;
            case Phase::zero_ends:
                if (!end_all()) return Need::output;
                // Jobs of run time 0 end in the instant of their start, and free room for another
                // round.
                counters_.phase =
                    counters_.ended_any != 0 ? Phase::rounds : Phase::next_instant;
                break;
        }
    }
}

}  // namespace

Need advance(State& state, double seconds)
{
    return Loop(state, seconds).run();
}

}  // namespace hpcsched
