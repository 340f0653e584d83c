#include "reading/number_lines.hpp"

#include <algorithm>
#include <cstring>

namespace hpcsched {

namespace {

constexpr int64_t most_digits = 18;  // any such number fits into 64 bits

bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Return the number of a field, -1 for any below 0, or nothing above `largest` and for other text.
bool parse(const char* at, const char* end, int64_t largest, int64_t& number)
{
    const bool negative = *at == '-';
    at += negative;
    if (at == end || end - at > most_digits) return false;
    int64_t value = 0;
    for (; at != end; ++at) {
        const unsigned digit = static_cast<unsigned char>(*at) - unsigned{'0'};
        if (digit > 9) return false;
        value = 10 * value + static_cast<int64_t>(digit);
    }
    if (!negative && value > largest) return false;
    number = negative && value != 0 ? -1 : value;
    return true;
}

bool is_not_ascii(char c)
{
    return static_cast<unsigned char>(c) > 127;
}

}  // namespace

NumberLines read_numbers(std::string_view text, int64_t field_count, int64_t number_count,
                         View<const int64_t> used, int64_t largest)
{
    NumberLines found;
    const char* const first = text.data();
    const char* const last = first + text.size();
    int64_t line = 0;
    for (const char* at = first; at != last; ++line) {
        const auto* newline = static_cast<const char*>(std::memchr(at, '\n', last - at));
        const char* const end = newline == nullptr ? last : newline;
        if (*at != ';' && !std::all_of(at, end, is_space)) {
            found.begins.push_back(at - first);
            found.ends.push_back(end - first);
            found.lines.push_back(line);
        }
        at = newline == nullptr ? last : newline + 1;
    }

    const auto count = static_cast<int64_t>(found.lines.size());
    found.plain.resize(count);
    found.numbers.resize(used.size() * count, -1);
    const Matrix<int64_t> numbers{found.numbers.data(), used.size(), count};
    Numbers row_of(field_count, none);
    for (int64_t row = 0; row < used.size(); ++row) row_of.at(used[row]) = row;
    for (int64_t k = 0; k < count; ++k) {
        const char* at = first + found.begins[k];
        const char* const end = first + found.ends[k];
        bool plain = std::none_of(at, end, is_not_ascii);
        int64_t field = 0;
        while (plain) {
            at = std::find_if_not(at, end, is_space);
            if (at == end) break;
            const char* const past = std::find_if(at, end, is_space);
            if (field >= field_count)
                plain = false;
            else if (row_of[field] != none)
                plain = parse(at, past, largest, numbers(row_of[field], k));
            else if (field < number_count)
                plain = std::find(at, past, '_') == past;
            ++field;
            at = past;
        }
        found.plain[k] = plain && field == field_count;
        if (!found.plain[k])
            for (int64_t row = 0; row < used.size(); ++row) numbers(row, k) = -1;
    }
    return found;
}

}  // namespace hpcsched
