#include "core/fair_tree.hpp"

#include <algorithm>

namespace hpcsched {

std::vector<double> FairTree::factors()
{
    // At first the number of users that rank before each.
    std::ranges::fill(factors_, none);
    rank({0}, none);
    for (double& factor : factors_)
        factor = factor < 0 ? 0.0 : static_cast<double>(found_ - static_cast<int64_t>(factor)) /
                                        static_cast<double>(found_);
    return std::move(factors_);
}

/// Rank the users below accounts that tie. `tied` is the number of users before the best of them if
/// they tie with a user further up, otherwise `none`.
void FairTree::rank(const Numbers& accounts, int64_t tied)
{
    std::vector<TreeChild> children;
    for (const int64_t account : accounts)
        children.insert(children.end(), children_[account].begin(), children_[account].end());
    std::ranges::stable_sort(children, std::ranges::greater{}, &TreeChild::level);
    for (std::size_t first = 0, end = 0; first < children.size(); first = end) {
        while (end < children.size() && children[end].level == children[first].level) ++end;
        const int64_t before = tied == none ? found_ : tied;
        Numbers below;
        bool any_user = false;
        for (std::size_t k = first; k < end; ++k) {
            if (children[k].is_account) {
                below.push_back(children[k].number);
                continue;
            }
            factors_[children[k].number] = static_cast<double>(before);
            ++found_;
            any_user = true;
        }
        if (!below.empty()) rank(below, any_user || tied != none ? before : none);
        // Only the best of these children tie with what is further up.
        tied = none;
    }
}

}  // namespace hpcsched
