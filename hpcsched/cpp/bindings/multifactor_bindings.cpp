#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/state_bindings.hpp"

using namespace nanobind::literals;

namespace hpcsched {

namespace {

using Row = Array<const int64_t>;
using Rows = Array2<const int64_t>;

std::vector<PriorityTerms> terms_of(const Rows& keys)
{
    std::vector<PriorityTerms> found;
    for (int64_t k = 0; k < matrix_of(keys).rows(); ++k)
        found.push_back(PriorityTerms::of(matrix_of(keys).row(k)));
    return found;
}

std::vector<UsageShare> running_of(const Rows& keys, const Row& starts)
{
    std::vector<UsageShare> found;
    for (const PriorityTerms& terms : terms_of(keys))
        found.push_back({terms, view_of(starts)[static_cast<int64_t>(found.size())]});
    return found;
}

}  // namespace

void bind_multifactor(nb::module_& core)
{
    nb::class_<Multifactor>(core, "Multifactor", R"(Slurm's multifactor priority.

Users are numbered users in accounts. Keys of a job are its user, its account, and the bits of:
shares of the user, demand, and weighted factors of size, partition and quality of service.

Parameters
----------
max_age
    Wait at which the factor of age is 1, in seconds.
half_life
    Of usage, in seconds; None: no decay.
fair_tree
    Whether fair share is by Fair Tree instead of the classic formula.
parents, shares
    Of each account, parents first; the root is the first.
undeclared
    Account that is left out as long as it has no users; -1: none.
)")
        .def(
            "__init__",
            [](Multifactor* self, double age_weight, double fair_share_weight, int64_t max_age,
               std::optional<int64_t> half_life, bool fair_tree, Numbers parents,
               std::vector<double> shares, int64_t undeclared) {
                new (self) Multifactor({age_weight, fair_share_weight, max_age, half_life, fair_tree},
                                       std::move(parents), std::move(shares), undeclared);
            },
            nb::kw_only(), "age_weight"_a, "fair_share_weight"_a, "max_age"_a,
            "half_life"_a.none(), "fair_tree"_a, "parents"_a, "shares"_a, "undeclared"_a)
        .def(
            "__deepcopy__", [](const Multifactor& self, nb::handle) { return self; }, "memo"_a)
        .def("declare", &Multifactor::declare, "user"_a, "account"_a, "shares"_a, "usage"_a,
             R"(Add a user that counts even without jobs.

Parameters
----------
shares
    In relation to those of the siblings; not a number: those of the account.
usage
    Demand × seconds as of the first instant that is seen.
)")
        .def(
            "note_start",
            [](Multifactor& self, const Row& keys, int64_t now) {
                self.note_start(PriorityTerms::of(view_of(keys)), now);
            },
            "keys"_a, "now"_a, "Record the start of a job.")
        .def(
            "note_end",
            [](Multifactor& self, const Row& keys, int64_t start, int64_t now) {
                self.note_end(PriorityTerms::of(view_of(keys)), start, now);
            },
            "keys"_a, "start"_a, "now"_a, "Record the end of a job; ends ascend.")
        .def(
            "usage",
            [](Multifactor& self, int64_t now, const Rows& running, const Row& starts) {
                return self.usage(now, running_of(running, starts));
            },
            "now"_a, "running"_a, "starts"_a,
            "Return the demand × seconds of each user, decayed to now, running jobs included.")
        .def(
            "fair_shares",
            [](Multifactor& self, int64_t now, const Rows& queued, const Rows& running,
               const Row& starts) {
                return self.fair_shares(now, terms_of(queued), running_of(running, starts), true);
            },
            "now"_a, "queued"_a, "running"_a, "starts"_a,
            "Return the fair-share factor of each user.")
        .def(
            "priorities",
            [](Multifactor& self, int64_t now, const Numbers& submit_times, const Rows& queued,
               const Rows& running, const Row& starts) {
                return self.priorities(now, submit_times, terms_of(queued),
                                       running_of(running, starts));
            },
            "now"_a, "submit_times"_a, "queued"_a, "running"_a, "starts"_a,
            "Return the priorities of queued jobs.");
}

}  // namespace hpcsched
