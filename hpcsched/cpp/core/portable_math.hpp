#pragma once

namespace hpcsched::portable {

/// Logarithm, exponential and powers with the same bits on every machine.
///
/// The functions of the C library differ in their last bit from one processor to the next, and a
/// last bit can turn into another order of jobs. These use nothing but operations that IEEE 754
/// fixes to the bit: sums, products, quotients, and scaling by powers of two.

/// Return the natural logarithm of a positive number.
double log(double x);

/// Return e to the power of x; infinity over 709, 0 under -709.
double exp(double x);

/// Return 2 to the power of x; exact for whole numbers.
double exp2(double x);

/// Return exp(x) - 1, precise where x is near 0.
double expm1(double x);

/// Return log(1 + x), precise where x is near 0.
double log1p(double x);

/// Return a number, 0 or above, to some power.
double power(double base, double exponent);

}  // namespace hpcsched::portable
