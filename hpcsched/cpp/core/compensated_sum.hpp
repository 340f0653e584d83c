#pragma once

#include <cmath>

namespace hpcsched {

/// A sum whose lost digits are kept (Neumaier 1974), so that it hardly depends on the order of its
/// terms.
class CompensatedSum {
public:
    void add(double term)
    {
        const double sum = sum_ + term;
        const bool is_small = std::fabs(sum_) >= std::fabs(term);
        lost_ += is_small ? (sum_ - sum) + term : (term - sum) + sum_;
        sum_ = sum;
    }

    double value() const { return sum_ + lost_; }

private:
    double sum_ = 0.0;
    double lost_ = 0.0;
};

}  // namespace hpcsched
