#pragma once

#include <string_view>
#include <vector>

#include "core/views.hpp"

namespace hpcsched {

/// Lines of a text that are neither blank nor comments, and the numbers in their fields.
struct NumberLines {
    /// Place and number of each line in the text, `[L]`; the first line has the number 0.
    Numbers begins, ends, lines;
    /// The numbers, `[F, L]`; -1 for any below 0 and in lines that are not plain.
    Numbers numbers;
    /// Whether a line is ASCII and has as many fields as it should, of which those that are used are
    /// digits, after at most a minus, of a number up to the largest, and no number has a `_`.
    std::vector<uint8_t> plain;
};

/// Read the numbers of `used` fields, counted from 0, in lines of `field_count` fields,
/// of which the first `number_count` are numbers.
NumberLines read_numbers(std::string_view text, int64_t field_count, int64_t number_count,
                         View<const int64_t> used, int64_t largest);

}  // namespace hpcsched
