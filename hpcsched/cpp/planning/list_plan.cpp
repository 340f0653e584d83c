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

FreeResources FreeResources::for_jobs(const ModelJobs& jobs) const
{
    if (!jobs.aggregated || is_counted_) return *this;
    Steps steps(profile_.start(0), profile_.free(0, 0));
    for (int64_t s = profile_.after(0); s != none; s = profile_.after(s)) {
        steps.begin_step(profile_.start(s));
        steps.add_to_last(profile_.free(s, 0) - steps.free(steps.size() - 1));
    }
    return FreeResources(std::move(steps));
}

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

void FreeResources::draw(int64_t begin, int64_t end, View<const int64_t> draws, int64_t nodes)
{
    for (int64_t p = 0; p < draws.size(); ++p)
        if (draws[p] > 0) profile_.take(nodes + p, begin, end, {&draws[p], 1});
}

int64_t FreeResources::earliest_start(int64_t job, const ModelJobs& jobs) const
{
    const int64_t run_time = jobs.run_times[job];
    // Equal requests: counting units is enough.
    if (is_counted_) {
        const int64_t amount = jobs.units[job] * jobs.requests(job, 0);
        return steps_.earliest(jobs.releases[job], run_time, amount).begin;
    }
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

/// Reserve room for a job from `begin` to `end`, as many units on each node as fit; nodes come by
/// preference. Writes the units on each node.
void FreeResources::place(int64_t job, int64_t begin, int64_t end, const ModelJobs& jobs,
                          View<int64_t> placed)
{
    const UnitRequest request = jobs.request(job);
    const int64_t nodes = jobs.node_count();
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
    Placement rooms;
    for (int64_t node = 0; node < nodes; ++node) rooms.push_back({node, node + 1, fits[node]});
    for (const Span& span : fill_by_rank(jobs.units[job], rooms, ranks))
        std::fill(placed.begin() + span.first, placed.begin() + span.end, span.units);
    // After all nodes were ranked: ranks are by what was free before.
    Numbers amounts(static_cast<size_t>(request.asked.size()));
    for (int64_t node = 0; node < nodes; ++node) {
        if (placed[node] == 0) continue;
        for (int64_t r = 0; r < request.asked.size(); ++r)
            amounts[r] = request.asked[r] * placed[node];
        profile_.take(node, begin, end, amounts);
    }
}

int64_t FreeResources::plan_job(int64_t job, const ModelJobs& jobs, View<int64_t> placed)
{
    const int64_t run_time = jobs.run_times[job];
    if (is_counted_) {
        placed[0] = jobs.units[job];
        return steps_.reserve(jobs.releases[job], run_time,
                              jobs.units[job] * jobs.requests(job, 0));
    }
    const int64_t begin = earliest_start(job, jobs);
    if (begin == never) return never;
    place(job, begin, begin + run_time, jobs, placed);
    draw(begin, begin + run_time, jobs.draws.row(job), jobs.node_count());
    return begin;
}

bool plan_in_order(View<const int64_t> order, const ModelJobs& jobs, FreeResources& free,
                   View<int64_t> starts, Matrix<int64_t> placed)
{
    for (const int64_t job : order) {
        starts[job] = free.plan_job(job, jobs, placed.row(job));
        if (starts[job] == never) return false;
    }
    return true;
}

OrderPlans::OrderPlans(const ModelJobs& jobs, const StartTimeCosts& costs,
                       std::vector<double> least, Numbers kinds, int64_t others_end,
                       const FreeResources& free)
    : jobs_(jobs),
      costs_(costs),
      least_(std::move(least)),
      kinds_(std::move(kinds)),
      others_end_(others_end),
      kept_(kinds_.size()),
      placed_(static_cast<int64_t>(kinds_.size()), jobs.node_count())
{
    if (!kept_.empty()) kept_[0].free = free.for_jobs(jobs);
}

void OrderPlans::keep(int64_t k, double paid, int64_t ended)
{
    kept_[k].free = scratch_;
    kept_[k].paid = paid;
    kept_[k].ended = ended;
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

OrderPlans::Outcome OrderPlans::go_on(int64_t first, int64_t last, View<const int64_t> order,
                                      double limit, bool keeping, View<const int64_t> known,
                                      View<int64_t> starts)
{
    scratch_ = kept_[first].free;
    double cost = kept_[first].paid;
    int64_t end = kept_[first].ended;
    double rest = 0.0;
    for (int64_t k = first; k < order.size(); ++k) rest += least_[order[k]];
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
        const double of_end = costs_.makespan * static_cast<double>(std::max(end, others_end_));
        // A lower bound of the whole order: the cut that makes the search affordable.
        if (cost + rest + of_end > limit) return {infinite, planned};
        if (k == last && is_as_before(first, last, order, known, starts))
            return {infinite, planned};
    }
    const double of_end = costs_.makespan * static_cast<double>(std::max(end, others_end_));
    return {cost + of_end, order.size() - first};
}

}  // namespace hpcsched
