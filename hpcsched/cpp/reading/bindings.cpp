#include "reading/bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "bindings/fields.hpp"
#include "reading/number_lines.hpp"
#include "reading/numbers_seen.hpp"
#include "reading/record_checks.hpp"

using namespace nanobind::literals;

namespace hpcsched {

namespace {

using Row = Array<const int64_t>;

/// Return an array that owns its numbers.
template <class T, class... Sizes>
nb::ndarray<nb::numpy, T> owning(std::vector<T>&& values, Sizes... sizes)
{
    auto* owned = new std::vector<T>(std::move(values));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(owned->data(), {static_cast<size_t>(sizes)...}, owner);
}

auto scan_lines(const nb::bytes& text, int64_t field_count, int64_t number_count, const Row& used,
                int64_t largest)
{
    NumberLines found = read_numbers({text.c_str(), text.size()}, field_count, number_count,
                                     view_of(used), largest);
    const size_t count = found.lines.size();
    return std::tuple(owning(std::move(found.numbers), used.shape(0), count),
                      owning(std::move(found.plain), count),
                      owning(std::move(found.begins), count), owning(std::move(found.ends), count),
                      owning(std::move(found.lines), count));
}

void bind_numbers_seen(nb::module_& core)
{
    nb::class_<NumbersSeen>(core, "NumbersSeen",
                            "Set of whole numbers, stored as runs of consecutive numbers.")
        .def(nb::init<>())
        .def("__deepcopy__", [](const NumbersSeen& seen, nb::handle) { return NumbersSeen(seen); })
        .def("__contains__", &NumbersSeen::contains)
        .def("add", &NumbersSeen::add, "number"_a,
             "Add a number; return False if it was there already.")
        .def("add_run", &NumbersSeen::add_run, "first"_a, "last"_a,
             "Add consecutive numbers; return False if one was there already.")
        .def(
            "add_all",
            [](NumbersSeen& seen, const Row& numbers) {
                bool is_new = true;
                for (const int64_t number : view_of(numbers)) is_new &= seen.add(number);
                return is_new;
            },
            "numbers"_a, "Add numbers; return False if one was there already, or occurs twice.");
}

void bind_record_checks(nb::module_& core)
{
    nb::enum_<Verdict>(core, "Verdict", nb::is_arithmetic(),
                       "What becomes of a record: a job, or the first reason why it is none.")
        .value("JOB", Verdict::job)
        .value("NO_RECORD", Verdict::no_record)
        .value("NO_NUMBER", Verdict::no_number)
        .value("REPEATED_NUMBER", Verdict::repeated_number)
        .value("UNSORTED", Verdict::unsorted)
        .value("MISSING_RUN_TIME", Verdict::missing_run_time)
        .value("ZERO_RUN_TIME", Verdict::zero_run_time)
        .value("MISSING_PROCESSORS", Verdict::missing_processors)
        .value("MISSING_REQUESTED_TIME", Verdict::missing_requested_time)
        .value("REFUSED_REQUEST", Verdict::refused_request)
        .value("TOO_LONG", Verdict::too_long);

    nb::class_<RecordChecks>(core, "RecordChecks",
                             R"(Checks of the records of a log, in their order.

Parameters
----------
sorts
    Whether the log is sorted afterwards.
skips_zero_run_time, clips
    Whether jobs of 0 s are skipped, and run times cut to the requested time.
missing_requested_time
    Replacement for a requested time that is not given: seconds, 0 for the run time, or None.
longest, largest_sum
    Bounds on each time of a job and on the sum of those of all jobs, in seconds.
numbers_jobs
    Whether only jobs have numbers of their own, and records without a job may repeat them.
renumber_from
    First number for jobs whose number another job has; None: they give no job.
)")
        .def(
            "__init__",
            [](RecordChecks* self, bool sorts, bool skips_zero_run_time, bool clips,
               std::optional<int64_t> missing_requested_time, int64_t longest,
               int64_t largest_sum, bool numbers_jobs, std::optional<int64_t> renumber_from) {
                new (self) RecordChecks({sorts, skips_zero_run_time, clips, missing_requested_time,
                                         longest, largest_sum, numbers_jobs, renumber_from});
            },
            nb::kw_only(), "sorts"_a, "skips_zero_run_time"_a, "clips"_a,
            "missing_requested_time"_a.none(), "longest"_a, "largest_sum"_a,
            "numbers_jobs"_a = false, "renumber_from"_a.none() = nb::none())
        .def_prop_ro("earliest", &RecordChecks::earliest,
                     "Submit time that the next job has at least.")
        .def_prop_ro("sum", &RecordChecks::sum, "Sum of the times of the jobs so far, in seconds.")
        .def(
            "check",
            [](RecordChecks& checks, const Array<int64_t>& job_id, const Row& submit_time,
               const Array<int64_t>& run_time, const Array<int64_t>& requested_time,
               const Row& think_time, const Array<int8_t>& verdicts, const Array<bool>& cut) {
                checks.check({view_of(submit_time), view_of(think_time), view_of(job_id),
                              view_of(run_time), view_of(requested_time), view_of(verdicts),
                              view_of(cut)});
            },
            "job_id"_a.noconvert(), "submit_time"_a, "run_time"_a.noconvert(), "requested_time"_a.noconvert(),
            "think_time"_a, "verdicts"_a.noconvert(), "cut"_a.noconvert(),
            R"(Check the next records, `[L]`; -1 is a number that is not given.

Parameters
----------
submit_time, think_time
    Their times.
job_id, run_time, requested_time
    Changed where a job gets a new number, a requested time is missing or a run time is cut.
verdicts
    Verdicts on each record by itself, which hold at their place among the checks; changed into
    those on the records.
cut
    Receives whether a run time was cut.
)");
}

}  // namespace

void bind_reading(nb::module_& core)
{
    core.def("scan_lines", &scan_lines, "text"_a, "field_count"_a, "number_count"_a, "used"_a,
             "largest"_a,
             R"(Read whole numbers from lines of fields between white space.

Blank lines, and comments after `;`, are left out.

Parameters
----------
text
    The lines.
field_count
    Number of fields that a line has.
number_count
    Number of its first fields in which a `_` is not plain.
used
    The fields to read, from 0, `[F]`.
largest
    Largest number that is read.

Returns
-------
tuple
    The numbers, `[F, L]`, -1 for any below 0; whether each line is plain, `[L]`: ASCII, with
    as many fields as it should have, and such numbers in those that are used; and where each line
    begins, where it ends, and its number in the text, from 0, `[L]`.
)");
    bind_numbers_seen(core);
    bind_record_checks(core);
}

}  // namespace hpcsched
