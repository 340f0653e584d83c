#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "bindings/arrays.hpp"
#include "core/job.hpp"

namespace hpcsched {

/// Names of the numbers of a `Job`, in their order.
constexpr std::array<std::string_view, 39> job_fields{
    "number",   "sequence",  "submit_time", "run_time", "requested_time", "predicted", "expected",
    "units",    "shape",     "start",       "end",      "planned_end",    "shown_end", "cell",
    "waits",    "promise",   "why",         "other",    "when",           "held",      "requeues",
    "lost_time", "request",  "later",       "span",     "watched",        "reserved",  "made_after",
    "made_before", "limits",     "rank",      "kind",           "preemptor",  "claims_until",
    "done",     "suspended_since",       "suspended", "backfilled", "leave",
};
static_assert(sizeof(Job) == job_fields.size() * sizeof(int64_t));

/// Return a number of a job by its name.
inline int64_t& field_of(Job& job, std::string_view name)
{
    const auto found = std::ranges::find(job_fields, name);
    if (found == job_fields.end()) throw nb::key_error(std::string(name).c_str());
    return reinterpret_cast<int64_t*>(&job)[found - job_fields.begin()];
}

}  // namespace hpcsched
