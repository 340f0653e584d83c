#pragma once

#include <memory>
#include <vector>

#include "bindings/arrays.hpp"

namespace hpcsched {

/// Attributes of a Python record as views. Arrays live as long as the owners.
class Fields {
public:
    using Owners = std::vector<std::shared_ptr<void>>;

    Fields(nb::handle record, Owners& owners) : record_(record), owners_(owners) {}

    bool has(const char* name) const { return !record_.attr(name).is_none(); }

    /// Return a number, or a value of an enumeration; 0 for None.
    template <class T>
    T number(const char* name) const
    {
        const nb::object value = record_.attr(name);
        if (value.is_none()) return T{};
        if constexpr (std::is_enum_v<T>)
            return static_cast<T>(nb::cast<int64_t>(value));
        else
            return nb::cast<T>(value);
    }

    /// Return an array of the very type; empty for None.
    template <class T>
    View<T> view(const char* name) const
    {
        if (!has(name)) return {};
        return view_of(owned<Array<T>>(name));
    }

    template <class T>
    Matrix<T> matrix(const char* name) const
    {
        if (!has(name)) return {};
        return matrix_of(owned<Array2<T>>(name));
    }

private:
    nb::handle record_;
    Owners& owners_;

    template <class Kind>
    const Kind& owned(const char* name) const
    {
        // Inputs may be converted; what is written must be the array itself.
        const bool converts = std::is_const_v<typename Kind::Scalar>;
        Kind array;
        if (!nb::try_cast(record_.attr(name), array, converts)) throw nb::type_error(name);
        auto owner = std::make_shared<Kind>(std::move(array));
        owners_.push_back(owner);
        return *owner;
    }
};

}  // namespace hpcsched
