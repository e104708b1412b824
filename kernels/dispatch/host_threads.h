// SPDX-License-Identifier: Apache-2.0
// The caller's threads, among which a `cpu` variant divides its rows.
#pragma once

#include <algorithm>
#include <cstdint>

namespace reel::kernels {

struct HostThreads {
  // A part of 0..count.
  using Part = void (*)(void* context, int64_t first, int64_t end);
  // Calls `part` for parts of about `grain` or more that cover everything, perhaps in parallel;
  // returns when all are done.
  void (*run)(int64_t count, int64_t grain, Part part, void* context);
};

// Fewer elements are not worth a second thread.
inline constexpr int64_t kElementsOfAThread = 16384;

// Calls body(first, end) for parts of `rows`, on the calling thread if there are no others. A row
// has the same bits in any part.
template <typename Body>
void DivideRows(const HostThreads* threads, int64_t rows, int64_t width, Body body) {
  if (threads == nullptr) return body(int64_t{0}, rows);
  threads->run(
      rows, std::max<int64_t>(1, kElementsOfAThread / std::max<int64_t>(1, width)),
      [](void* context, int64_t first, int64_t end) { (*static_cast<Body*>(context))(first, end); },
      &body);
}

}  // namespace reel::kernels
