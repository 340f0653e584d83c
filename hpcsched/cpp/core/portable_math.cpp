#include "core/portable_math.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace hpcsched::portable {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// ln 2, cut so that its product with a small whole number is exact, and the rest.
constexpr double ln2_high = 6.93147180369123816490e-01;
constexpr double ln2_low = 1.90821492927058770002e-10;
constexpr double sqrt_half = 0.7071067811865476;
constexpr double largest_exponent = 709.0;

/// Return artanh(z) / z by its series.
double artanh_over(double z, int terms)
{
    double total = 0.0;
    for (int k = terms; k >= 0; --k) total = total * (z * z) + 1.0 / (2 * k + 1);
    return total;
}

/// Return 1 / 1!, 1 / 2!, and so on.
constexpr auto inverse_factorials = [] {
    std::array<double, 14> found{};
    double factorial = 1.0;
    for (int k = 1; k <= 14; ++k) found[k - 1] = 1.0 / (factorial *= k);
    return found;
}();

/// Return exp(x) - 1 by its series, for |x| up to 0.35.
double small_expm1(double x)
{
    // Terms of even and of odd powers by themselves: two short chains take half of the time of one.
    const double square = x * x;
    double even = 0.0, odd = 0.0;
    for (int k = 12; k >= 0; k -= 2) {
        even = even * square + inverse_factorials[k + 1];
        odd = odd * square + inverse_factorials[k];
    }
    return x * (odd + x * even);
}

/// Return 2 to the power of a whole number between -1022 and 1023.
double power_of_two(double exponent)
{
    return std::bit_cast<double>(static_cast<uint64_t>(static_cast<int64_t>(exponent) + 1023) << 52);
}

}  // namespace

double log(double x)
{
    if (x == 0.0) return -infinity;
    // ln(m 2^e) = e ln 2 + 2 artanh((m - 1) / (m + 1)), with m in [sqrt(1/2), sqrt(2)) so that the
    // series is short.
    int exponent = 0;
    double mantissa = std::frexp(x, &exponent);
    if (mantissa < sqrt_half) {
        mantissa *= 2;
        --exponent;
    }
    const double z = (mantissa - 1) / (mantissa + 1);
    return exponent * ln2_high + (2 * z * artanh_over(z, 12) + exponent * ln2_low);
}

double exp(double x)
{
    if (x > largest_exponent) return infinity;
    if (x < -largest_exponent) return 0.0;
    const double doublings = std::floor(x / (ln2_high + ln2_low) + 0.5);
    const double rest = (x - doublings * ln2_high) - doublings * ln2_low;
    double total = 1.0;
    for (int k = 16; k > 0; --k) total = 1 + total * rest / k;
    return std::ldexp(total, static_cast<int>(doublings));
}

double exp2(double x)
{
    const double whole = std::floor(x + 0.5);
    if (!(std::fabs(whole) < 1000.0)) return x < 0.0 ? 0.0 : infinity;
    return power_of_two(whole) * (1 + small_expm1((x - whole) * (ln2_high + ln2_low)));
}

double expm1(double x)
{
    if (std::fabs(x) < 0.35) return small_expm1(x);
    if (!(std::fabs(x) <= 700.0)) return exp(x) - 1;
    const double doublings = std::floor(x / (ln2_high + ln2_low) + 0.5);
    const double rest = (x - doublings * ln2_high) - doublings * ln2_low;
    const double scale = power_of_two(doublings);
    return scale * small_expm1(rest) + (scale - 1);
}

double log1p(double x)
{
    if (std::fabs(x) >= 0.5) return log(1 + x);
    const double z = x / (2 + x);
    return 2 * z * artanh_over(z, 20);
}

double power(double base, double exponent)
{
    if (exponent == 1.0) return base;
    if (exponent == 2.0) return base * base;
    if (base == 0.0) return exponent == 0.0 ? 1.0 : 0.0;
    return exp(exponent * log(base));
}

}  // namespace hpcsched::portable
