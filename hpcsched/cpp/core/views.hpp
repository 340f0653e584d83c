#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace hpcsched {

/// A time later than any other, in seconds.
constexpr int64_t never = int64_t{1} << 62;

/// No row, cell, segment or node.
constexpr int64_t none = -1;

using Numbers = std::vector<int64_t>;

/// An array of somebody else's. Its size is signed, as all numbers here are.
template <class T>
class View {
public:
    View() = default;
    View(T* data, int64_t size) : data_(data), size_(size) {}
    View(std::vector<T>& values) : View(values.data(), static_cast<int64_t>(values.size())) {}

    template <class U>
        requires(!std::is_same_v<U, T> && std::is_same_v<const U, T>)
    View(const View<U>& other) : View(other.data(), other.size())
    {
    }

    template <class U>
        requires(std::is_same_v<const U, T>)
    View(const std::vector<U>& values) : View(values.data(), static_cast<int64_t>(values.size()))
    {
    }

    T& operator[](int64_t k) const { return data_[k]; }
    T* data() const { return data_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }
    int64_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    View first(int64_t count) const { return {data_, count}; }
    View part(int64_t from, int64_t to) const { return {data_ + from, to - from}; }

private:
    T* data_ = nullptr;
    int64_t size_ = 0;
};

/// A matrix of somebody else's, row by row.
template <class T>
class Matrix {
public:
    Matrix() = default;
    Matrix(T* data, int64_t rows, int64_t columns) : data_(data), rows_(rows), columns_(columns) {}

    template <class U>
        requires(!std::is_same_v<U, T> && std::is_same_v<const U, T>)
    Matrix(const Matrix<U>& other) : Matrix(other.data(), other.rows(), other.columns())
    {
    }

    T& operator()(int64_t row, int64_t column) const { return data_[row * columns_ + column]; }
    View<T> row(int64_t k) const { return {data_ + k * columns_, columns_}; }
    T* data() const { return data_; }
    int64_t rows() const { return rows_; }
    int64_t columns() const { return columns_; }

private:
    T* data_ = nullptr;
    int64_t rows_ = 0;
    int64_t columns_ = 0;
};

/// An array with memory of its own. It is copied by name only, so that none is by mistake.
template <class T>
class Column {
public:
    Column() = default;
    explicit Column(int64_t size, T value = {}) : values_(static_cast<std::size_t>(size), value) {}
    explicit Column(View<const T> other) : values_(other.begin(), other.end()) {}
    explicit Column(const Column&) = default;
    Column(Column&&) = default;
    Column& operator=(const Column&) = default;
    Column& operator=(Column&&) = default;

    operator View<T>() { return values_; }
    operator View<const T>() const { return values_; }
    T& operator[](int64_t k) { return values_[k]; }
    const T& operator[](int64_t k) const { return values_[k]; }
    T* data() { return values_.data(); }
    const T* data() const { return values_.data(); }
    T* begin() { return data(); }
    T* end() { return data() + size(); }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size(); }
    int64_t size() const { return static_cast<int64_t>(values_.size()); }
    bool empty() const { return values_.empty(); }
    T& back() { return values_.back(); }
    View<T> first(int64_t count) { return {data(), count}; }
    View<const T> first(int64_t count) const { return {data(), count}; }
    View<const T> part(int64_t from, int64_t to) const { return {data() + from, to - from}; }
    void add(T value) { values_.push_back(value); }
    void resize(int64_t size) { values_.resize(static_cast<std::size_t>(size)); }
    void clear() { values_.clear(); }

private:
    std::vector<T> values_;
};

/// A truth value in an array, which can be viewed.
using Flag = unsigned char;

/// A matrix with memory of its own.
template <class T>
class Table {
public:
    Table() = default;
    Table(int64_t rows, int64_t columns, T value = {})
        : values_(static_cast<std::size_t>(rows * columns), value), rows_(rows), columns_(columns)
    {
    }

    explicit Table(Matrix<const T> other)
        : values_(other.data(), other.data() + other.rows() * other.columns()),
          rows_(other.rows()),
          columns_(other.columns())
    {
    }

    operator Matrix<T>() { return {values_.data(), rows_, columns_}; }
    operator Matrix<const T>() const { return {values_.data(), rows_, columns_}; }
    T& operator()(int64_t row, int64_t column) { return values_[row * columns_ + column]; }
    const T& operator()(int64_t row, int64_t column) const
    {
        return values_[row * columns_ + column];
    }
    View<T> row(int64_t k) { return {values_.data() + k * columns_, columns_}; }
    View<const T> row(int64_t k) const { return {values_.data() + k * columns_, columns_}; }
    int64_t rows() const { return rows_; }
    int64_t columns() const { return columns_; }
    const T* data() const { return values_.data(); }

    /// Extend the matrix by rows of zeros, or cut it.
    void resize(int64_t rows)
    {
        rows_ = rows;
        values_.resize(static_cast<std::size_t>(rows * columns_));
    }

    void add(View<const T> row)
    {
        values_.insert(values_.end(), row.begin(), row.end());
        ++rows_;
    }

private:
    std::vector<T> values_;
    int64_t rows_ = 0;
    int64_t columns_ = 0;
};

/// Quotient, rounded down; the divisor is positive.
inline int64_t floor_divide(int64_t number, int64_t by)
{
    return number / by - (number % by < 0);
}

/// Remainder of `floor_divide`, from 0 to below the divisor.
inline int64_t floor_modulo(int64_t number, int64_t by)
{
    return number - floor_divide(number, by) * by;
}

}  // namespace hpcsched
