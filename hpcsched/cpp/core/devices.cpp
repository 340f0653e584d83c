#include "core/devices.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace hpcsched {

namespace {

template <class Function>
void for_each_part(int64_t taken, Function function)
{
    for (auto left = static_cast<uint64_t>(taken); left != 0; left &= left - 1)
        function(std::countr_zero(left));
}

}  // namespace

int64_t DeviceRequest::least_of(View<const int64_t> free, int64_t taken)
{
    int64_t least = never;
    for_each_part(taken, [&](int part) { least = std::min(least, free[part]); });
    return least;
}

int64_t DeviceRequest::units_that_fit(View<const int64_t> free) const
{
    int64_t places = 0;
    for_each_place(free, [&](int64_t, int64_t least) {
        places += count > 1 ? 1 : least / amount;
        return true;
    });
    return places / count;
}

int64_t DeviceRequest::choose(View<const int64_t> free) const
{
    int64_t taken = 0, left = count, fullest = never;
    for_each_place(free, [&](int64_t place, int64_t) {
        if (count > 1) {
            taken |= place;
            return --left != 0;
        }
        if (const int64_t left_there = room(free, place); left_there < fullest) {
            fullest = left_there;
            taken = place;
        }
        return true;
    });
    return taken;
}

int64_t DeviceRequest::room(View<const int64_t> free, int64_t taken) const
{
    const int64_t first = std::countr_zero(static_cast<uint64_t>(taken)) / parts * parts;
    const View<const int64_t> device = free.part(first, first + parts);
    return std::reduce(device.begin(), device.end());
}

void DeviceRequest::take(View<int64_t> free, int64_t taken) const
{
    for_each_part(taken, [&](int part) { free[part] -= amount; });
}

}  // namespace hpcsched
