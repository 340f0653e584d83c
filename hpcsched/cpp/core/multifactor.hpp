#pragma once

#include <optional>
#include <vector>

#include "core/views.hpp"

namespace hpcsched {

/// Slurm's multifactor priority, with fair share by its classic formula or by Fair Tree.
///
/// Sources: slurm.schedmd.com/priority_multifactor.html, classic_fair_share.html and
/// fair_tree.html (SchedMD), which define the factors.

/// Constant numbers of a job, as its sort keys; those that are no whole numbers by their bits.
struct PriorityTerms {
    int64_t user;  // a user in an account
    int64_t account;
    double shares;  // of the user among the siblings; not a number: those of the account
    double demand;
    double size_points;  // weighted factors
    double partition_points;
    double qos_points;

    static constexpr int64_t count = 7;
    static PriorityTerms of(View<const int64_t> keys);
};

/// A job that runs.
struct UsageShare {
    PriorityTerms terms;
    int64_t start;
};

class Multifactor {
public:
    struct Settings {
        double age_weight;
        double fair_share_weight;
        int64_t max_age;  // wait at which the factor of age is 1, in seconds
        std::optional<int64_t> half_life;  // of usage, in seconds
        bool fair_tree;
    };

    /// Accounts below the root, which is number 0, parents first. `undeclared` is one that is left
    /// out as long as it has no users, or `none`.
    Multifactor(Settings settings, Numbers parents, std::vector<double> shares, int64_t undeclared);

    /// Add a user that is in the tree even without jobs; usage is as of the first instant seen.
    void declare(int64_t user, int64_t account, double shares, double usage);

    void note_start(const PriorityTerms& terms, int64_t now);
    void note_end(const PriorityTerms& terms, int64_t start, int64_t now);

    /// Demand × seconds of each user, decayed to now.
    std::vector<double> usage(int64_t now, const std::vector<UsageShare>& running);

    /// Fair-share factor of each user, or of those with a queued job; these are in the tree.
    std::vector<double> fair_shares(int64_t now, const std::vector<PriorityTerms>& queued,
                                    const std::vector<UsageShare>& running, bool of_all);

    /// Priorities of queued jobs.
    std::vector<double> priorities(int64_t now, const Numbers& submit_times,
                                   const std::vector<PriorityTerms>& queued,
                                   const std::vector<UsageShare>& running);

private:
    struct User {
        int64_t account = none;
        double shares = 1.0;
        double declared = 0.0;  // usage before the first instant
        double ended = 0.0;  // usage of jobs that have ended, as of `epoch_`
        bool stays = false;  // in the tree: declared, or with a job that has started
    };
    struct Branch {
        double shares = 0.0;  // sum of those of the children
        double usage = 0.0;
    };

    Settings settings_;
    Numbers parents_;
    std::vector<double> shares_;
    int64_t undeclared_;
    std::vector<User> users_;
    double rate_ = 0.0;  // of decay, per second
    int64_t epoch_ = 0;  // usage is kept as of then, so that it need not decay
    bool began_ = false;  // whether declared usage decays

    User& know(const PriorityTerms& terms);
    void begin(int64_t now);
    double growth(int64_t now) const;
    double used(double demand, int64_t start, int64_t now, double growth) const;
    std::vector<double> usage_at_epoch(int64_t now, const std::vector<UsageShare>& running);
    std::vector<double> classic(const std::vector<Branch>& branches,
                                const std::vector<double>& usage,
                                const std::vector<bool>& wanted) const;
};

}  // namespace hpcsched
