#include "core/node_scores.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "core/portable_math.hpp"
#include "core/random.hpp"
#include "core/state.hpp"

namespace hpcsched {

namespace {

/// Part of all jobs that the usual requests make up.
constexpr double usual_part = 0.95;

/// Number of arrivals after which the usual requests are learnt for the second time.
constexpr int64_t first_learnt = 32;

View<const int64_t> devices_of(const State& state, View<const int64_t> free)
{
    return free.part(state.type_count(), free.size());
}

int64_t sum(View<const int64_t> amounts) { return std::reduce(amounts.begin(), amounts.end()); }

double truncated(double score) { return static_cast<double>(static_cast<int64_t>(score)); }

double share(int64_t amount, int64_t of)
{
    return static_cast<double>(amount) / static_cast<double>(of);
}

/// Free amounts of a node once a unit is placed.
Numbers without(const State& state, const UnitRequest& request, int64_t node,
                View<const int64_t> free, int64_t devices)
{
    Numbers left(free.begin(), free.end());
    for (int64_t r = 0; r < free.size(); ++r)
        left[r] -= request.held(state.capacity(), node, {1, devices}, r);
    return left;
}

}  // namespace

size_t NodeScores::Hash::operator()(const Numbers& key) const
{
    uint64_t hash = 14695981039346656037U;
    for (const int64_t number : key)
        hash = (hash ^ static_cast<uint64_t>(number)) * 1099511628211U;
    return hash ^ hash >> 29;
}

NodeScores::NodeScores(Allocator allocator, Matrix<const int64_t> capacity, Numbers order,
                       std::vector<bool> weighed, int64_t seed, int64_t parts)
    : allocator_(allocator),
      order_(std::move(order)),
      weighed_(std::move(weighed)),
      random_(seed + 1),
      parts_(parts),
      weighed_types_(static_cast<double>(std::ranges::count(weighed_, true))),
      largest_(weighed_.size() + 1),
      version_(order_.size()),
      sizes_(order_.size())
{
    const auto types = static_cast<int64_t>(weighed_.size());
    for (int64_t node = 0; node < capacity.rows(); ++node) {
        int64_t all_parts = 0;
        for (int64_t r = 0; r < capacity.columns(); ++r) {
            int64_t& largest = largest_[std::min(r, types)];
            largest = std::max(largest, capacity(node, r));
            all_parts += r >= types && capacity(node, r) != 0;
        }
        devices_.push_back(all_parts / parts_);
    }
}

void NodeScores::note_arrival(const State& state, int64_t request)
{
    if (allocator_ != Allocator::fgd) return;
    const auto kind = static_cast<size_t>(kinds_[request]);
    if (kind >= arrived_.size()) {
        arrived_.resize(kind + 1);
        example_.resize(kind + 1, none);
    }
    if (arrived_[kind]++ == 0) example_[kind] = request;
    ++arrivals_;
    if (learnt_at_ == 0 || arrivals_ >= std::max(2 * learnt_at_, first_learnt)) learn(state);
}

/// Learn the usual requests: those that come most often, up to a part of all jobs.
void NodeScores::learn(const State& state)
{
    learnt_at_ = arrivals_;
    Numbers by_count;
    for (size_t kind = 0; kind < arrived_.size(); ++kind)
        if (arrived_[kind] != 0) by_count.push_back(static_cast<int64_t>(kind));
    std::ranges::stable_sort(by_count,
                             [&](int64_t a, int64_t b) { return arrived_[a] > arrived_[b]; });
    usual_.clear();
    int64_t covered = 0;
    for (const int64_t kind : by_count) {
        if (static_cast<double>(covered) >= usual_part * static_cast<double>(arrivals_)) break;
        covered += arrived_[kind];
        usual_.push_back({example_[kind], static_cast<double>(arrived_[kind])});
    }
    for (Usual& one : usual_) one.share /= static_cast<double>(covered);
    // How the states of nodes are told apart, and all that is known of them, follows from these.
    fragmentation_.clear();
    steps_.assign(weighed_.size(), {});
    for (size_t r = 0; r < weighed_.size(); ++r) {
        if (!weighed_[r]) continue;
        for (const Usual& one : usual_)
            steps_[r].push_back(state.shapes.asked(one.request, static_cast<int64_t>(r)));
        std::ranges::sort(steps_[r]);
    }
    std::map<std::vector<bool>, int64_t> classes;
    class_of_.clear();
    for (int64_t node = 0; node < state.node_count(); ++node) {
        std::vector<bool> may_use;
        for (const Usual& one : usual_)
            may_use.push_back(state.shapes.on_idle(one.request, node) != 0);
        const auto next = static_cast<int64_t>(classes.size());
        class_of_.push_back(classes.try_emplace(std::move(may_use), next).first->second);
        touch(node);
    }
}

/// Size of units: 0 for a share of a device, or a slice, otherwise their number of devices.
size_t NodeScores::size_of(const DeviceRequest& asked) const
{
    const auto taken = std::popcount(static_cast<uint64_t>(asked.positions.front()));
    return asked.amount * taken < one_device() ? 0 : static_cast<size_t>(asked.count);
}

void NodeScores::note_change(const State& state, int64_t node, int64_t shape, int64_t sign)
{
    touch(node);
    const DeviceRequest* asked = state.shapes.request(shape).devices;
    if (allocator_ != Allocator::gpu_clustering || asked == nullptr) return;
    Numbers& sizes = sizes_[node];
    sizes.resize(std::max(sizes.size(), size_of(*asked) + 1));
    sizes[size_of(*asked)] += sign;
}

/// Amount of devices free on a node that a usual request cannot use, on average over these: all
/// where it cannot run or asks for none, otherwise what is left of devices with too little.
double NodeScores::fragmentation(const State& state, int64_t node, View<const int64_t> free)
{
    const View<const int64_t> devices = devices_of(state, free);
    Numbers key{class_of_[node]};
    for (size_t r = 0; r < weighed_.size(); ++r)
        key.push_back(std::ranges::upper_bound(steps_[r], free[static_cast<int64_t>(r)]) -
                      steps_[r].begin());
    key.insert(key.end(), devices.begin(), devices.end());
    const auto [known, is_new] = fragmentation_.try_emplace(std::move(key), 0.0);
    if (!is_new) return known->second;
    const int64_t all = sum(devices);
    double lost = 0.0;
    for (const auto& [number, part] : usual_) {
        const UnitRequest request = state.shapes.request(number);
        bool runs = request.devices != nullptr && request.on_idle[node] != 0;
        for (int64_t r = 0; r < request.asked.size() && runs; ++r)
            runs = !weighed_[r] || free[r] >= request.asked[r];
        int64_t usable = 0;
        if (runs && request.devices->units_that_fit(devices) != 0)
            request.devices->for_each_place(devices, [&](int64_t place, int64_t least) {
                usable += least * std::popcount(static_cast<uint64_t>(place));
                return true;
            });
        lost += part * static_cast<double>(all - usable);
    }
    return known->second = lost;
}

/// Score by the fall of a node's fragmentation, in devices; 50 is none.
double NodeScores::best_fall(const State& state, const UnitRequest& request, int64_t node,
                             View<const int64_t> free, int64_t& devices)
{
    const double before = fragmentation(state, node, free);
    const auto value = [&](int64_t place) {
        const double after =
            fragmentation(state, node, without(state, request, node, free, place));
        const double rise = (after - before) / static_cast<double>(one_device());
        return truncated(100.0 / (1.0 + portable::exp(rise)));
    };
    if (request.devices == nullptr || request.devices->count > 1) return value(devices);
    double best = -1.0;
    request.devices->for_each_place(devices_of(state, free), [&](int64_t place, int64_t) {
        if (const double found = value(place); found > best) {
            best = found;
            devices = place;
        }
        return true;
    });
    return best;
}

/// Score by whether devices are in use: first those that are, the fullest first, then free ones of
/// nodes in use, then unused nodes, the smallest first.
double NodeScores::packing(const DeviceRequest& asked, int64_t node, View<const int64_t> devices,
                           int64_t taken) const
{
    int64_t unused = 0;
    for (int64_t first = 0; first < devices.size(); first += parts_)
        unused += asked.room(devices, int64_t{1} << first) == one_device();
    if (unused == devices_[node]) return static_cast<double>(std::max(33 - unused, unused));
    if (size_of(asked) != 0)
        return static_cast<double>(std::max<int64_t>(50 - asked.count, 33));
    const int64_t left = asked.room(devices, taken);
    return static_cast<double>(left == one_device() ? 49 : 100 - left * 100 / one_device() / 10);
}

/// Score by the units that run on a node: of this size alone, of others too, none, of others alone;
/// and by the part of devices in use.
double NodeScores::company(const DeviceRequest& asked, int64_t node,
                           View<const int64_t> devices) const
{
    const Numbers& sizes = sizes_[node];
    const bool any_alike = size_of(asked) < sizes.size() && sizes[size_of(asked)] != 0;
    const auto kinds = std::ranges::count_if(sizes, [](int64_t units) { return units != 0; });
    const int64_t most = largest_.back() * devices.size();
    const int64_t group = any_alike ? (kinds == 1 ? 75 : 50) : kinds == 0 ? 25 : 0;
    return static_cast<double>(25 * (most - sum(devices)) / most + group);
}

/// Score by how little stays free, over the largest node's capacity.
double NodeScores::what_stays(const UnitRequest& request, View<const int64_t> free) const
{
    double rest = 0.0;
    for (int64_t r = 0; r < request.asked.size(); ++r)
        if (weighed_[r]) rest += share(free[r] - request.asked[r], largest_[r]) / weighed_types_;
    return truncated((1.0 - rest) * 100.0);
}

/// Score by the product of what is free and what is asked, over the largest node's capacity.
double NodeScores::alignment(const UnitRequest& request, View<const int64_t> free) const
{
    double product = 0.0;
    for (int64_t r = 0; r < request.asked.size(); ++r)
        if (weighed_[r])
            product += share(free[r], largest_[r]) * share(request.asked[r], largest_[r]);
    return truncated(100.0 * (1.0 - product / weighed_types_));
}

/// Draw the device of a share, one of those with room.
int64_t NodeScores::drawn_device(const DeviceRequest& asked, View<const int64_t> devices)
{
    if (asked.count > 1) return asked.choose(devices);
    int64_t drawn = 0, places = 0;
    asked.for_each_place(devices, [&](int64_t place, int64_t) {
        if (random_below(++places, random_) == 0) drawn = place;
        return true;
    });
    return drawn;
}

NodeScores::Score NodeScores::score(const State& state, const UnitRequest& request, int64_t node,
                                    View<const int64_t> free)
{
    const View<const int64_t> devices = devices_of(state, free);
    const DeviceRequest* asked = request.devices;
    Score found{0.0, version_[node], asked == nullptr ? 0 : asked->choose(devices)};
    if (allocator_ == Allocator::fgd)
        found.value = best_fall(state, request, node, free, found.devices);
    else if (allocator_ == Allocator::gpu_packing && asked != nullptr)
        found.value = packing(*asked, node, devices, found.devices);
    else if (allocator_ == Allocator::gpu_clustering && asked != nullptr)
        found.value = company(*asked, node, devices);
    else if (allocator_ == Allocator::dot_product)
        found.value = alignment(request, free);
    else if (allocator_ == Allocator::gpu_best_fit)
        found.value = what_stays(request, free);
    return found;
}

Placement NodeScores::place(const State& state, const Job& job, const NodeRuns& runs,
                            View<const int64_t> fits, bool is_now)
{
    const UnitRequest request = state.shapes.request(job.request);
    known_.resize(std::max(known_.size(), static_cast<size_t>(job.request) + 1));
    std::vector<Score>& known = known_[job.request];
    known.resize(order_.size());
    const bool draws = allocator_ == Allocator::random;
    std::map<int64_t, Numbers> changed;  // free amounts of nodes with units of this job
    Placement placed;
    for (int64_t unit = 0; unit < job.units; ++unit) {
        int64_t best = none, alike = 0;
        Score chosen;
        const auto consider = [&](int64_t node, const Score& found) {
            bool is_better = best == none || found.value > chosen.value;
            if (!is_better && found.value == chosen.value)
                is_better = draws ? random_below(++alike + 1, random_) == 0
                                  : order_[node] < order_[best];
            if (!is_better) return;
            best = node;
            chosen = found;
        };
        for (int64_t run = 0; run < runs.count(); ++run) {
            for (int64_t node = runs.first(run); node < runs.end(run) && fits[run] != 0; ++node) {
                if (const auto own = changed.find(node); own != changed.end()) {
                    if (request.units_that_fit(state.capacity(), node, own->second) != 0)
                        consider(node, score(state, request, node, own->second));
                } else if (!is_now) {
                    consider(node, score(state, request, node, runs.free(run)));
                } else {
                    if (known[node].version != version_[node])
                        known[node] = score(state, request, node, runs.free(run));
                    consider(node, known[node]);
                }
            }
        }
        const View<const int64_t> before = runs.free(runs.run_of(best));
        Numbers& free =
            changed.try_emplace(best, before.begin(), before.end()).first->second;
        if (draws && request.devices != nullptr)
            chosen.devices = drawn_device(*request.devices, devices_of(state, free));
        free = without(state, request, best, free, chosen.devices);
        placed.push_back({best, best + 1, 1, chosen.devices});
    }
    std::ranges::stable_sort(placed, {}, &Span::first);
    // Units without devices are told apart by nothing.
    return request.devices == nullptr ? sum_of(placed) : placed;
}

}  // namespace hpcsched
