#include "core/node_runs.hpp"

#include <numeric>
#include <utility>

namespace hpcsched {

Placement sum_of(const Placement& spans)
{
    std::vector<std::pair<int64_t, int64_t>> changes;
    for (const Span& span : spans) {
        changes.emplace_back(span.first, span.units);
        changes.emplace_back(span.end, -span.units);
    }
    std::ranges::sort(changes);
    Placement sum;
    int64_t units = 0;
    for (size_t k = 0; k < changes.size();) {
        const int64_t node = changes[k].first, before = units;
        for (; k < changes.size() && changes[k].first == node; ++k) units += changes[k].second;
        if (units == before) continue;
        if (before != 0) sum.back().end = node;
        if (units != 0) sum.push_back({node, node, units});
    }
    return sum;
}

Placement placement_of(View<const int64_t> units)
{
    Placement spans;
    for (int64_t node = 0; node < units.size(); ++node) {
        if (units[node] == 0) continue;
        if (!spans.empty() && spans.back().end == node && spans.back().units == units[node])
            ++spans.back().end;
        else
            spans.push_back({node, node + 1, units[node]});
    }
    return spans;
}

NodeRuns::NodeRuns(Matrix<const int64_t> available) : NodeRuns(available, [&] {
    Numbers first(static_cast<size_t>(available.columns()));
    std::iota(first.begin(), first.end(), 0);
    return first;
}())
{
}

NodeRuns::NodeRuns(Matrix<const int64_t> available, Numbers first)
    : types_(available.rows()), first_(std::move(first))
{
    free_.reserve(first_.size() * static_cast<size_t>(types_));
    for (const int64_t node : first_)
        for (int64_t r = 0; r < types_; ++r) free_.push_back(available(r, node));
    first_.push_back(available.columns());
}

NodeRuns::NodeRuns(int64_t types, Numbers first) : types_(types), first_(std::move(first))
{
    free_.resize(static_cast<size_t>(count() * types_));
}

int64_t NodeRuns::split(int64_t node)
{
    const int64_t run = first_from(node);
    if (first_[run] == node) return run;
    first_.insert(first_.begin() + run, node);
    const auto at = free_.insert(free_.begin() + run * types_, types_, 0);
    std::copy(at - types_, at, at);
    return run;
}

void NodeRuns::merge(int64_t node)
{
    const int64_t run = first_from(node);
    if (first_[run] != node || node == 0 || node == node_count()) return;
    first_.erase(first_.begin() + run);
    free_.erase(free_.begin() + run * types_, free_.begin() + (run + 1) * types_);
}

Table<int64_t> NodeRuns::of_nodes() const
{
    Table<int64_t> found(types_, node_count());
    for (int64_t run = 0; run < count(); ++run)
        for (int64_t r = 0; r < types_; ++r)
            std::fill_n(found.row(r).begin() + first(run), nodes(run), free(run)[r]);
    return found;
}

Numbers NodeRuns::of_nodes(View<const int64_t> of_run) const
{
    Numbers found;
    found.reserve(static_cast<size_t>(node_count()));
    for (int64_t run = 0; run < count(); ++run)
        found.insert(found.end(), static_cast<size_t>(nodes(run)), of_run[run]);
    return found;
}

}  // namespace hpcsched
