#include "core/multifactor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/compensated_sum.hpp"
#include "core/fair_tree.hpp"
#include "core/portable_math.hpp"

namespace hpcsched {

namespace {

constexpr int64_t root = 0;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Classic factor of a share of usage and a share of the system.
double classic_factor(double used, double share)
{
    return share == 0.0 ? 0.0 : portable::exp2(-(used / share));
}

/// Share of the siblings' shares over the share of the parent's usage: above 1 it has used less
/// than its share. Infinite for a user that counts with the shares of its account.
double level_fair_share(double shares, double usage, double siblings_shares, double parent_usage)
{
    if (std::isnan(shares)) return infinity;
    if (shares == 0.0) return 0.0;
    if (usage == 0.0) return infinity;
    // The child's own ratio is rounded by itself, so that equal ratios of siblings are equal.
    return (shares / usage) * (parent_usage / siblings_shares);
}

}  // namespace

PriorityTerms PriorityTerms::of(View<const int64_t> keys)
{
    const auto real = [&](int64_t k) { return std::bit_cast<double>(int64_t{keys[k]}); };
    return {keys[0], keys[1], real(2), real(3), real(4), real(5), real(6)};
}

Multifactor::Multifactor(Settings settings, Numbers parents, std::vector<double> shares,
                         int64_t undeclared)
    : settings_(settings),
      parents_(std::move(parents)),
      shares_(std::move(shares)),
      undeclared_(undeclared)
{
}

Multifactor::User& Multifactor::know(const PriorityTerms& terms)
{
    if (terms.user >= static_cast<int64_t>(users_.size())) users_.resize(terms.user + 1);
    User& user = users_[terms.user];
    user.account = terms.account;
    user.shares = terms.shares;
    return user;
}

void Multifactor::declare(int64_t user, int64_t account, double shares, double usage)
{
    User& declared = know({.user = user, .account = account, .shares = shares});
    declared.ended = usage;
    declared.stays = true;
}

void Multifactor::begin(int64_t now)
{
    if (began_) return;
    began_ = true;
    for (User& user : users_) user.ended_at = now;
}

double Multifactor::decay(int64_t seconds) const
{
    if (!settings_.half_life) return 1.0;
    return portable::exp2(-static_cast<double>(seconds) / static_cast<double>(*settings_.half_life));
}

/// Usage of a demand for some seconds, as of their end: ∫ demand × 2^(-(t - τ) / half-life) dτ. This
/// is the limit of Slurm's method, which decays all usage every few minutes and then adds that of
/// the minutes passed; it does not depend on when it is asked for.
double Multifactor::used(double demand, int64_t seconds) const
{
    const auto time = static_cast<double>(seconds);
    if (!settings_.half_life) return demand * time;
    const double rate = portable::log(2.0) / static_cast<double>(*settings_.half_life);
    // expm1 keeps the digits of short runs, for which 2^(-s / h) is close to 1.
    return demand * -portable::expm1(-rate * time) / rate;
}

void Multifactor::note_start(const PriorityTerms& terms, int64_t now)
{
    begin(now);
    know(terms).stays = true;
}

void Multifactor::note_end(const PriorityTerms& terms, int64_t start, int64_t now)
{
    begin(now);
    User& user = know(terms);
    user.ended = user.ended * decay(now - user.ended_at) + used(terms.demand, now - start);
    user.ended_at = now;
}

std::vector<double> Multifactor::usage(int64_t now, const std::vector<UsageShare>& running)
{
    begin(now);
    for (const UsageShare& job : running) know(job.terms);
    std::vector<CompensatedSum> sums(users_.size());
    for (std::size_t k = 0; k < users_.size(); ++k)
        if (users_[k].ended != 0.0) sums[k].add(users_[k].ended * decay(now - users_[k].ended_at));
    for (const UsageShare& job : running)
        sums[job.terms.user].add(used(job.terms.demand, now - job.start));
    std::vector<double> values;
    for (const CompensatedSum& sum : sums) values.push_back(sum.value());
    return values;
}

std::vector<double> Multifactor::fair_shares(int64_t now, const std::vector<PriorityTerms>& queued,
                                             const std::vector<UsageShare>& running)
{
    for (const PriorityTerms& terms : queued) know(terms);
    const std::vector<double> used = usage(now, running);
    std::vector<bool> present;
    for (const User& user : users_) present.push_back(user.stays);
    for (const PriorityTerms& terms : queued) present[terms.user] = true;
    for (const UsageShare& job : running) present[job.terms.user] = true;

    const std::size_t accounts = parents_.size();
    std::vector<CompensatedSum> shares(accounts), usages(accounts);
    std::vector<Branch> branches(accounts);
    std::vector<std::vector<TreeChild>> children(accounts);
    std::vector<bool> has_users(accounts);
    for (std::size_t k = 0; k < users_.size(); ++k) {
        if (!present[k]) continue;
        const int64_t account = users_[k].account;
        has_users[account] = true;
        usages[account].add(used[k]);
        if (!std::isnan(users_[k].shares)) shares[account].add(users_[k].shares);
        children[account].push_back({0.0, false, static_cast<int64_t>(k)});
    }
    // Parents come first, so that the usage of an account is complete when it is added to theirs.
    for (int64_t account = static_cast<int64_t>(accounts) - 1; account >= root; --account) {
        branches[account].usage = usages[account].value();
        if (account == root || (account == undeclared_ && !has_users[account])) continue;
        const int64_t parent = parents_[account];
        usages[parent].add(branches[account].usage);
        shares[parent].add(shares_[account]);
        children[parent].push_back({0.0, true, account});
    }
    for (std::size_t account = 0; account < accounts; ++account)
        branches[account].shares = shares[account].value();
    if (!settings_.fair_tree) return classic(branches, used);
    for (std::size_t account = 0; account < accounts; ++account) {
        const Branch& parent = branches[account];
        for (TreeChild& child : children[account])
            child.level = child.is_account
                              ? level_fair_share(shares_[child.number], branches[child.number].usage,
                                                 parent.shares, parent.usage)
                              : level_fair_share(users_[child.number].shares, used[child.number],
                                                 parent.shares, parent.usage);
    }
    return FairTree(std::move(children), users_.size()).factors();
}

/// Factors 2^(-U / S). S is the product of the shares among siblings on the path from the root. U
/// is the effective usage: for children of the root their share of all usage, further down
/// u + (U of the parent - u) × share among siblings, with u the share of all usage. A user that
/// counts with the shares of its account has the factor of the account.
std::vector<double> Multifactor::classic(const std::vector<Branch>& branches,
                                         const std::vector<double>& usage) const
{
    const double all = branches[root].usage;
    std::vector<double> share(branches.size(), 1.0), effective(branches.size());
    effective[root] = all > 0.0 ? 1.0 : 0.0;
    const auto among = [&](double shares, int64_t parent) {
        return branches[parent].shares == 0.0 ? 0.0 : shares / branches[parent].shares;
    };
    const auto effective_usage = [&](double used, double part, int64_t parent) {
        const double of_all = all == 0.0 ? 0.0 : used / all;
        return parent == root ? of_all : of_all + (effective[parent] - of_all) * part;
    };
    for (std::size_t k = 1; k < branches.size(); ++k) {
        const double part = among(shares_[k], parents_[k]);
        effective[k] = effective_usage(branches[k].usage, part, parents_[k]);
        share[k] = share[parents_[k]] * part;
    }
    std::vector<double> factors;
    for (std::size_t k = 0; k < users_.size(); ++k) {
        const User& user = users_[k];
        const bool is_known = user.account != none;
        if (!is_known || std::isnan(user.shares)) {
            factors.push_back(
                is_known ? classic_factor(effective[user.account], share[user.account]) : 0.0);
            continue;
        }
        const double part = among(user.shares, user.account);
        factors.push_back(classic_factor(effective_usage(usage[k], part, user.account),
                                         share[user.account] * part));
    }
    return factors;
}

std::vector<double> Multifactor::priorities(int64_t now, const Numbers& submit_times,
                                            const std::vector<PriorityTerms>& queued,
                                            const std::vector<UsageShare>& running)
{
    const std::vector<double> shares = fair_shares(now, queued, running);
    std::vector<double> found;
    for (std::size_t k = 0; k < queued.size(); ++k) {
        const PriorityTerms& job = queued[k];
        const auto wait = static_cast<double>(now - submit_times[k]);
        CompensatedSum priority;
        priority.add(settings_.age_weight *
                     std::min(1.0, wait / static_cast<double>(settings_.max_age)));
        priority.add(job.size_points);
        priority.add(settings_.fair_share_weight * shares[job.user]);
        priority.add(job.partition_points);
        priority.add(job.qos_points);
        found.push_back(priority.value());
    }
    return found;
}

}  // namespace hpcsched
