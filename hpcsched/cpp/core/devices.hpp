#pragma once

#include "core/views.hpp"

namespace hpcsched {

/// Devices of nodes: GPUs of which a unit takes some whole ones, a share of one, or slices.
///
/// A device has parts: one, or of a GPU that is sliced its memory slices. What is free of each part
/// stands behind the free amounts of a node, device after device. Sets of parts of a node are bits.

/// What a unit asks for, of devices with so many parts.
struct DeviceRequest {
    int64_t count = 0;  // number of devices; 0: it asks for none
    int64_t amount = 0;  // of each part that it takes
    int64_t parts = 1;
    Numbers positions = {};  // sets of parts of a device that it may take, which do not overlap; the
                             // first ones are preferred

    /// Call a function for each set of parts of a node that has enough, in order, until it returns
    /// false.
    template <class Function>
    void for_each_place(View<const int64_t> free, Function function) const
    {
        for (int64_t first = 0; first + parts <= free.size(); first += parts)
            for (const int64_t position : positions)
                if (const int64_t least = least_of(free, position << first);
                    least >= amount && !function(position << first, least))
                    return;
    }

    /// Return the number of units that fit, given what is free of each part of a node.
    int64_t units_that_fit(View<const int64_t> free) const;

    /// Return the parts that a unit takes, for which there is room: of the fullest device with
    /// enough, the first of several; of whole devices, the first ones.
    int64_t choose(View<const int64_t> free) const;

    /// Take a unit's parts from the free ones.
    void take(View<int64_t> free, int64_t taken) const;

    /// Return what is free of the device of some parts.
    int64_t room(View<const int64_t> free, int64_t taken) const;

    /// Return the least that is free of some parts.
    static int64_t least_of(View<const int64_t> free, int64_t taken);
};

}  // namespace hpcsched
