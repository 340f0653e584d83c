#include "planning/list_plan.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/allocators.hpp"

namespace hpcsched {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Return the earliest start from `begin` on with enough of a shared resource; `never` if none.
int64_t earliest_in_one(const Profile& profile, int64_t resource, int64_t begin, int64_t run_time,
                        int64_t amount)
{
    int64_t s = resource;
    while (s != none && profile.start(s) < begin + run_time) {
        const int64_t after = profile.after(s);
        if (profile.free(s, 0) < amount && (after == none || profile.start(after) > begin)) {
            if (after == none) return never;
            begin = profile.start(after);
        }
        s = after;
    }
    return begin;
}

}  // namespace

int64_t FreeResources::earliest_in_shared(int64_t begin, int64_t run_time,
                                          View<const int64_t> draws, int64_t nodes) const
{
    // Round robin over the shared resources until all of them agree on one start.
    int64_t agreed = 0, p = 0;
    while (agreed < draws.size()) {
        int64_t later = begin;
        if (draws[p] > 0) {
            later = earliest_in_one(profile_, nodes + p, begin, run_time, draws[p]);
            if (later == never) return never;
        }
        agreed = later == begin ? agreed + 1 : 1;
        begin = later;
        p = (p + 1) % draws.size();
    }
    return begin;
}

int64_t FreeResources::earliest_start(int64_t job, const ModelJobs& jobs) const
{
    const int64_t run_time = jobs.run_times[job];
    // Equal requests: counting units is enough.
    if (is_counted_)
        return steps_.earliest(jobs.releases[job], run_time, jobs.demand(job)).begin;
    int64_t begin = jobs.releases[job];
    while (true) {  // nodes and shared resources in turn, until they agree
        begin = profile_.earliest(begin, never, jobs.units[job], run_time, jobs.request(job),
                                  jobs.capacity);
        if (begin == never) return never;
        const int64_t later =
            earliest_in_shared(begin, run_time, jobs.draws.row(job), jobs.node_count());
        if (later == begin || later == never) return later;
        begin = later;
    }
}

/// Choose the nodes of a job that begins then, by preference; as many units on each as fit.
void FreeResources::choose_nodes(int64_t job, const ModelJobs& jobs, int64_t begin,
                                 View<int64_t> placed)
{
    const UnitRequest request = jobs.request(job);
    const int64_t nodes = jobs.node_count(), end = begin + jobs.run_times[job];
    Numbers fits(request.on_idle.begin(), request.on_idle.end());
    Table<double> ranks(2, nodes);
    for (int64_t node = 0; node < nodes; ++node) {
        placed[node] = 0;
        if (fits[node] == 0) continue;
        const int64_t first = profile_.segment_at(node, begin);
        // The fewest units of any segment that the job would touch.
        for (int64_t s = first; fits[node] != 0 && s != none && profile_.start(s) < end;
             s = profile_.after(s))
            fits[node] =
                std::min(fits[node], profile_.units_during(s, node, request, jobs.capacity));
        if (fits[node] != 0)
            std::tie(ranks(0, node), ranks(1, node)) =
                profile_.preference(node, first, end, request.asked, jobs.capacity);
    }
    fill_by_rank(jobs.units[job], fits, ranks, placed);
}

void FreeResources::take(int64_t job, const ModelJobs& jobs, int64_t begin,
                         View<const int64_t> placed)
{
    const int64_t end = begin + jobs.run_times[job], nodes = jobs.node_count();
    if (is_counted_) return steps_.take(begin, end, jobs.demand(job));
    const View<const int64_t> asked = jobs.requests.row(job), draws = jobs.draws.row(job);
    Numbers amounts(static_cast<size_t>(asked.size()));
    for (int64_t node = 0; node < nodes; ++node) {
        if (placed[node] == 0) continue;
        for (int64_t r = 0; r < asked.size(); ++r) amounts[r] = asked[r] * placed[node];
        profile_.take(node, begin, end, amounts);
    }
    for (int64_t p = 0; p < draws.size(); ++p)
        if (draws[p] > 0) profile_.take(nodes + p, begin, end, {&draws[p], 1});
}

int64_t FreeResources::plan_job(int64_t job, const ModelJobs& jobs, View<int64_t> placed)
{
    if (is_counted_) {
        placed[0] = jobs.units[job];
        return steps_.reserve(jobs.releases[job], jobs.run_times[job], jobs.demand(job));
    }
    const int64_t begin = earliest_start(job, jobs);
    if (begin == never) return never;
    choose_nodes(job, jobs, begin, placed);
    take(job, jobs, begin, placed);
    return begin;
}

bool plan_in_order(View<const int64_t> order, const ModelJobs& jobs, FreeResources free,
                   View<int64_t> starts, Matrix<int64_t> placed)
{
    for (const int64_t job : order) {
        starts[job] = free.plan_job(job, jobs, placed.row(job));
        if (starts[job] == never) return false;
    }
    return true;
}

/// Whether the jobs at some positions start as in `known`, up to an exchange of equal jobs.
bool OrderPlans::is_as_before(int64_t first, int64_t last, View<const int64_t> order,
                              View<const int64_t> known, View<const int64_t> starts) const
{
    for (int64_t k = first; k <= last; ++k) {
        const int64_t kind = kinds_[order[k]], start = starts[order[k]];
        int64_t more = 0;
        for (int64_t i = first; i <= last; ++i)
            if (kinds_[order[i]] == kind)
                more += (starts[order[i]] == start) - (known[order[i]] == start);
        if (more != 0) return false;
    }
    return true;
}

OrderPlans::Outcome OrderPlans::go_on(int64_t first, View<const int64_t> order, double limit,
                                      bool keeping, View<int64_t> starts, int64_t last,
                                      View<const int64_t> known)
{
    scratch_ = kept_[first].free;
    double cost = kept_[first].paid;
    int64_t end = kept_[first].ended;
    double rest = 0.0;
    for (int64_t k = first; k < order.size(); ++k) rest += least_[order[k]];
    const auto of_end = [&] {
        return costs_.makespan * static_cast<double>(std::max(end, others_end_));
    };
    for (int64_t k = first; k < order.size(); ++k) {
        if (keeping) keep(k, cost, end);
        const int64_t job = order[k], planned = k + 1 - first;
        const int64_t start = scratch_.plan_job(job, jobs_, placed_.row(job));
        if (start == never) return {infinite, planned};
        starts[job] = start;
        end = std::max(end, start + costs_.run_times[job]);
        cost += costs_.cost_at(job, start);
        // From here the job counts with its real cost, no longer with its least.
        rest -= least_[job];
        // A lower bound of the whole order: the cut that makes the search affordable.
        if (cost + rest + of_end() > limit) return {infinite, planned};
        if (k == last && is_as_before(first, last, order, known, starts))
            return {infinite, planned};
    }
    return {cost + of_end(), order.size() - first};
}

}  // namespace hpcsched
