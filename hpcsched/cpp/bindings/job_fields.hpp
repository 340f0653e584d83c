#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "bindings/arrays.hpp"
#include "core/job.hpp"

namespace hpcsched {

/// Names of the numbers of a `Job`, in their order.
constexpr std::array<std::string_view, 39> job_fields{
    "waits", "units", "shape", "predicted", "why", "other", "backfilled", "shown_end", "number",
    "sequence", "submit_time", "run_time", "requested_time", "expected", "start", "end",
    "planned_end", "cell", "promise", "when", "held", "requeues", "lost_time", "request", "later",
    "span", "watched", "reserved", "made_after", "made_before", "limits", "rank", "kind",
    "preemptor", "claims_until", "done", "suspended_since", "suspended", "leave",
};
static_assert(offsetof(Job, leave) == (job_fields.size() - 1) * sizeof(int64_t));

/// Return a number of a job by its name.
inline int64_t& field_of(Job& job, std::string_view name)
{
    const auto found = std::ranges::find(job_fields, name);
    if (found == job_fields.end()) throw nb::key_error(std::string(name).c_str());
    return reinterpret_cast<int64_t*>(&job)[found - job_fields.begin()];
}

}  // namespace hpcsched
