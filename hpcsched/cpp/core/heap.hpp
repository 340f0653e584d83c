#pragma once

#include <utility>

#include "core/views.hpp"

namespace hpcsched {

/// Binary heaps; `before(a, b)` says that a goes above b. A strict order, so that the top is
/// always the same whatever the heap's history.

template <class Before>
void sift_down(int64_t at, int64_t count, View<int64_t> heap, Before before)
{
    while (true) {
        int64_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && before(heap[child + 1], heap[child])) ++child;
        if (!before(heap[child], heap[at])) return;
        std::swap(heap[at], heap[child]);
        at = child;
    }
}

template <class Before>
void make_heap(int64_t count, View<int64_t> heap, Before before)
{
    for (int64_t k = count / 2 - 1; k >= 0; --k) sift_down(k, count, heap, before);
}

/// Push onto a heap of `count`, in an array that has room for one more.
template <class Before>
void push(int64_t value, int64_t count, View<int64_t> heap, Before before)
{
    int64_t at = count;
    heap[at] = value;
    while (at > 0) {
        const int64_t above = (at - 1) / 2;
        if (!before(heap[at], heap[above])) return;
        std::swap(heap[at], heap[above]);
        at = above;
    }
}

/// Remove the top of a heap of `count`.
template <class Before>
void pop(int64_t count, View<int64_t> heap, Before before)
{
    heap[0] = heap[count - 1];
    sift_down(0, count - 1, heap, before);
}

}  // namespace hpcsched
