#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

#include "core/views.hpp"

namespace hpcsched {

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using NewArray = nb::ndarray<nb::numpy, T>;

template <class T>
View<T> view_of(const Array<T>& array)
{
    return {array.data(), static_cast<int64_t>(array.shape(0))};
}

template <class T>
Matrix<T> matrix_of(const Array2<T>& array)
{
    return {array.data(), static_cast<int64_t>(array.shape(0)),
            static_cast<int64_t>(array.shape(1))};
}

inline Column<Flag> flags_of(const Array<const bool>& array)
{
    const auto* data = reinterpret_cast<const Flag*>(array.data());
    return Column<Flag>(View<const Flag>(data, static_cast<int64_t>(array.shape(0))));
}

/// Give an array of numbers to Python: records of numbers are its rows.
template <class T, class Record>
NewArray<T> given(Column<Record>&& records)
{
    auto* owned = new Column<Record>(std::move(records));
    const nb::capsule owner(owned, [](void* data) noexcept {
        delete static_cast<Column<Record>*>(data);
    });
    const auto count = static_cast<std::size_t>(owned->size());
    auto* data = reinterpret_cast<T*>(owned->data());
    if constexpr (sizeof(Record) == sizeof(T)) return NewArray<T>(data, {count}, owner);
    return NewArray<T>(data, {count, sizeof(Record) / sizeof(T)}, owner);
}

/// A copy of a matrix for Python.
template <class T>
NewArray<T> copied(Matrix<const T> matrix)
{
    const auto rows = static_cast<std::size_t>(matrix.rows());
    const auto columns = static_cast<std::size_t>(matrix.columns());
    auto* owned = new std::vector<T>(matrix.data(), matrix.data() + rows * columns);
    const nb::capsule owner(owned, [](void* data) noexcept {
        delete static_cast<std::vector<T>*>(data);
    });
    return NewArray<T>(owned->data(), {rows, columns}, owner);
}

}  // namespace hpcsched
