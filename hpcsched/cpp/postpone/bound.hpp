#pragma once

#include <cmath>

#include "postpone/state.hpp"

namespace hpcsched::postpone {

/// What sums of floating-point numbers may be off by, relatively.
constexpr double rounding = 1e-9;

/// Lower bounds of the cost of plans that begin as the search has it.
///
/// Two bounds are compared with the best plan.
///
/// - By time tables: no job starts before the earliest time at which it could.
/// - By energy: of a resource that all share, jobs take run time × demand each. On a machine that
///   may split them at will, the free amount is best given to the job with most weight for its
///   energy first; the sum of weight × mean time of processing is then least, as for one machine
///   (Smith 1956; Goemans 1996), and in no plan is it less. A job's mean time is its start and
///   half its run time.
class Bound {
public:
    explicit Bound(const State& state) : state_(state), earliest_(state.jobs.size()) {}

    /// Whether no plan that goes on from the present decisions is better than one of a cost.
    bool is_hopeless(int64_t best)
    {
        // A job that has been looked at, is postponed or finds too little starts at the next event:
        // that may be the end of another that starts now.
        const Level& level = state_.now();
        int64_t then = state_.next_event(level.time);
        bool sooner = false;
        for (std::size_t j = 0; j < earliest_.size(); ++j) {
            earliest_[j] = none;
            const Decided& decided = state_.jobs[j];
            if (decided.start != none || state_.rank[j] < level.looked_at) continue;
            if (decided.postponed != none && !problem().by_node()) continue;
            const Job& job = problem().jobs[j];
            bool enough = true;
            for (std::size_t g = 0; g < job.demand.size(); ++g)
                enough = enough && (job.demand[g] == 0 || level.together[g] >= job.demand[g]);
            if (!enough) continue;
            earliest_[j] = level.time;
            then = std::min(then, level.time + job.run_time);
            sooner = true;
        }
        // Only now is the next event known: a job that starts at once may end before all others.
        std::ranges::replace(earliest_, int64_t{none}, then);
        return is_too_dear(sooner ? level.time : then, best);
    }

    /// Whether none is if all other jobs start from a time on.
    bool is_hopeless_from(int64_t time, int64_t best)
    {
        std::ranges::fill(earliest_, time);
        return is_too_dear(time, best);
    }

    /// The cost of the started jobs, and of the last end among them.
    static int64_t cost(const State& state)
    {
        const Problem& problem = state.problem;
        int64_t cost = 0, last = 0;
        for (int i : state.by_end) {
            cost += problem.jobs[i].cost(state.jobs[i].start);
            last = std::max(last, state.end_of(i));
        }
        return cost + problem.makespan * last;
    }

private:
    struct Share {
        int job;
        double slope;
        double energy;
        double ratio;
    };

    const State& state_;
    std::vector<int64_t> earliest_;  // start of each job that is not started
    std::vector<Share> shares_;

    const Problem& problem() const { return state_.problem; }

    /// The same where jobs start at their earliest times or later, all from a time on.
    bool is_too_dear(int64_t time, int64_t best)
    {
        const auto& jobs = problem().jobs;
        int64_t paid = 0, least = 0, last = 0;
        for (std::size_t j = 0; j < jobs.size(); ++j) {
            const int64_t start = state_.jobs[j].start;
            if (start != none) {
                paid += jobs[j].cost(start);
                last = std::max(last, start + jobs[j].run_time);
                continue;
            }
            if (earliest_[j] > jobs[j].latest_start) return true;
            least += jobs[j].least_cost_from(earliest_[j]);
            last = std::max(last, earliest_[j] + jobs[j].run_time);
        }
        if (paid + least + problem().makespan * last >= best) return true;
        // The bound by energy takes costs that grow at a known slope, which curves do not.
        if (best == never || state_.by_end.size() == jobs.size() || problem().has_curves)
            return false;
        // Costs are whole numbers, so that a better plan costs at most best - 1.
        const double most =
            static_cast<double>(best - 1) + rounding * std::abs(static_cast<double>(best));
        for (std::size_t g = 0; g < problem().total.size(); ++g)
            if (static_cast<double>(paid) + by_energy(g, time, last) > most) return true;
        return false;
    }

    /// A lower bound of the cost of the other jobs and the last end, by energy of a resource.
    double by_energy(std::size_t g, int64_t time, int64_t last)
    {
        // Of a cost that becomes steeper later, the slope at the earliest start is below it. The
        // order is by that slope over energy; jobs come nearly in it.
        shares_.clear();
        for (int j : problem().by_energy[g]) {
            if (state_.is_started(j)) continue;
            const Job& job = problem().jobs[j];
            if (job.demand[g] == 0) continue;
            const double slope = job.slope_at(earliest_[j]);
            const double energy =
                static_cast<double>(job.demand[g]) * static_cast<double>(job.run_time);
            const Share share{j, slope, energy, slope / energy};
            std::size_t at = shares_.size();
            shares_.push_back(share);
            for (; at > 0 && shares_[at - 1].ratio < share.ratio; --at)
                shares_[at] = shares_[at - 1];
            shares_[at] = share;
        }
        auto [bound, end] = run_by_energy(g, time);
        for (std::size_t j = 0; j < earliest_.size(); ++j) {
            if (state_.is_started(static_cast<int>(j))) continue;
            const Job& job = problem().jobs[j];
            // From its earliest start on a job costs at least its cost there + slope · delay. The
            // slope · start of all jobs together is what the relaxed run above bounds; a job that
            // takes nothing of the resource is not in that run.
            const double slope_start =
                job.slope_at(earliest_[j]) * static_cast<double>(earliest_[j]);
            bound += static_cast<double>(job.cost(earliest_[j])) - slope_start;
            if (job.demand[g] == 0) bound += slope_start;
        }
        return bound +
               static_cast<double>(problem().makespan) * std::max(static_cast<double>(last), end);
    }

    /// Run the jobs one after another, split at will, from a time on.
    ///
    /// Returns the sum of slope × start, a start being the mean time less half the run time, and
    /// the time at which all is done.
    std::pair<double, double> run_by_energy(std::size_t g, int64_t time) const
    {
        const auto& releases = problem().releases;
        const auto& by_end = state_.by_end;
        int64_t free = problem().total[g];
        std::size_t started = by_end.size(), released = releases.size();
        while (started > 0 && state_.end_of(by_end[started - 1]) > time)
            free -= problem().jobs[by_end[--started]].demand[g];
        while (released > 0 && releases[released - 1].time > time)
            free -= releases[--released].amounts[g];
        double at = static_cast<double>(time), total = 0.0;
        for (const Share& share : shares_) {
            double left = share.energy, moment = 0.0;
            while (left > 0.0) {
                int64_t until = never;
                if (started < by_end.size()) until = state_.end_of(by_end[started]);
                if (released < releases.size()) until = std::min(until, releases[released].time);
                // While others hold all of it nothing is done, and time goes on to the next
                // release.
                if (static_cast<double>(until) > at && free > 0) {
                    double spent = left / static_cast<double>(free), part = left;
                    if (until != never && at + spent > static_cast<double>(until)) {
                        spent = static_cast<double>(until) - at;
                        part = spent * static_cast<double>(free);
                    }
                    moment += part * (at + spent / 2.0);
                    left -= part;
                    at += spent;
                    if (left <= 0.0) break;
                }
                if (until == never) break;
                at = std::max(at, static_cast<double>(until));
                while (started < by_end.size() && state_.end_of(by_end[started]) <= until)
                    free += problem().jobs[by_end[started++]].demand[g];
                while (released < releases.size() && releases[released].time <= until)
                    free += releases[released++].amounts[g];
            }
            const double half = static_cast<double>(problem().jobs[share.job].run_time) / 2.0;
            total += share.slope * (moment / share.energy - half);
        }
        return {total, at};
    }
};

}  // namespace hpcsched::postpone
