#pragma once

#include <vector>

#include "core/views.hpp"

namespace hpcsched {

/// An account or a user among its siblings.
struct TreeChild {
    double level;  // level fair share
    bool is_account;
    int64_t number;
};

/// Fair-share factors by Slurm's Fair Tree: siblings are sorted by level fair share, the highest
/// first, and the tree is traversed depth first. A factor is a rank over the number of users: 1 for
/// the first found, 1 / n for the last of n. Users that are siblings and tie have the best of their
/// ranks; accounts that tie are merged; a user that ties with an account has the rank of the
/// account's best user.
class FairTree {
public:
    /// Children of each account, the root first, for some number of users.
    FairTree(std::vector<std::vector<TreeChild>> children, std::size_t users)
        : children_(std::move(children)), factors_(users)
    {
    }

    /// Factors of the users; 0 for those that are in no account.
    std::vector<double> factors();

private:
    std::vector<std::vector<TreeChild>> children_;
    std::vector<double> factors_;
    int64_t found_ = 0;

    void rank(const Numbers& accounts, int64_t tied);
};

}  // namespace hpcsched
