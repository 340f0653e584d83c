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
constexpr int half_lives_an_epoch = 500;  // 2^1023 is the largest number
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
    if (settings_.half_life)
        rate_ = portable::log(2.0) / static_cast<double>(*settings_.half_life);
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
    User& known = know({.user = user, .account = account, .shares = shares});
    known.declared = usage;
    known.stays = true;
}

/// Let declared usage decay from the first instant on, and keep all numbers small. The epoch depends
/// on the time alone, so that being asked in between changes no bit.
void Multifactor::begin(int64_t now)
{
    if (settings_.half_life) {
        const int64_t span = half_lives_an_epoch * *settings_.half_life;
        const int64_t epochs = now / span - epoch_ / span;
        epoch_ += epochs * span;
        // After a few epochs nothing is left of any usage.
        const int gone = half_lives_an_epoch * static_cast<int>(std::min<int64_t>(epochs, 10));
        if (gone != 0)
            for (User& user : users_) user.ended = std::ldexp(user.ended, -gone);
    }
    if (began_) return;
    began_ = true;
    for (User& user : users_) user.ended = user.declared * growth(now);
}

/// Factor by which usage at an instant counts more than the same usage at the epoch.
double Multifactor::growth(int64_t now) const
{
    if (!settings_.half_life) return 1.0;
    return portable::exp2(static_cast<double>(now - epoch_) /
                          static_cast<double>(*settings_.half_life));
}

/// Usage of a job up to now, as of the epoch: ∫ demand × 2^((τ - epoch) / half-life) dτ. This is the
/// limit of Slurm's method, which decays all usage every few minutes and then adds that of the
/// minutes passed; it does not depend on when it is asked for. `growth`: that of now.
double Multifactor::used(double demand, int64_t start, int64_t now, double growth) const
{
    if (!settings_.half_life) return demand * static_cast<double>(now - start);
    return demand * (growth - this->growth(start)) / rate_;
}

void Multifactor::note_start(const PriorityTerms& terms, int64_t now)
{
    begin(now);
    know(terms).stays = true;
}

void Multifactor::note_end(const PriorityTerms& terms, int64_t start, int64_t now)
{
    begin(now);
    know(terms).ended += used(terms.demand, start, now, growth(now));
}

std::vector<double> Multifactor::usage_at_epoch(int64_t now,
                                                const std::vector<UsageShare>& running)
{
    begin(now);
    for (const UsageShare& job : running) know(job.terms);
    std::vector<CompensatedSum> sums(users_.size());
    const double growth_now = growth(now);
    for (const UsageShare& job : running)
        sums[job.terms.user].add(used(job.terms.demand, job.start, now, growth_now));
    std::vector<double> values;
    values.reserve(users_.size());
    for (std::size_t k = 0; k < users_.size(); ++k) {
        sums[k].add(users_[k].ended);
        values.push_back(sums[k].value());
    }
    return values;
}

std::vector<double> Multifactor::usage(int64_t now, const std::vector<UsageShare>& running)
{
    std::vector<double> values = usage_at_epoch(now, running);
    for (double& value : values) value /= growth(now);
    return values;
}

std::vector<double> Multifactor::fair_shares(int64_t now, const std::vector<PriorityTerms>& queued,
                                             const std::vector<UsageShare>& running, bool of_all)
{
    for (const PriorityTerms& terms : queued) know(terms);
    // Factors are made of ratios, so that it does not matter as of when usage is.
    const std::vector<double> used = usage_at_epoch(now, running);
    std::vector<bool> present(users_.size()), wanted(users_.size(), of_all);
    for (std::size_t k = 0; k < users_.size(); ++k) present[k] = users_[k].stays;
    for (const PriorityTerms& terms : queued) present[terms.user] = wanted[terms.user] = true;
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
        if (settings_.fair_tree)
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
    if (!settings_.fair_tree) return classic(branches, used, wanted);
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
                                         const std::vector<double>& usage,
                                         const std::vector<bool>& wanted) const
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
    std::vector<double> factors(users_.size());
    for (std::size_t k = 0; k < users_.size(); ++k) {
        const User& user = users_[k];
        if (!wanted[k] || user.account == none) continue;
        const int64_t account = user.account;
        const double part = among(user.shares, account);
        factors[k] = std::isnan(user.shares)
                         ? classic_factor(effective[account], share[account])
                         : classic_factor(effective_usage(usage[k], part, account),
                                          share[account] * part);
    }
    return factors;
}

std::vector<double> Multifactor::priorities(int64_t now, const Numbers& submit_times,
                                            const std::vector<PriorityTerms>& queued,
                                            const std::vector<UsageShare>& running)
{
    const std::vector<double> shares = fair_shares(now, queued, running, false);
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
