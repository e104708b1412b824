// SPDX-License-Identifier: Apache-2.0
// Attention of each place of a clip to the places around it: neighbourhood attention, as NATTEN's
// na3d. A window that would reach beyond an edge is moved inside, so all windows have one size.
#pragma once

#include <array>
#include <cstdint>

#include "model/bridge/ops.h"

namespace reel::model {

// The places of one axis of a grid: those of all its keys, and which of them a call has.
struct WindowAxis {
  int64_t window = 1;  // keys that a query attends to, at most `all`
  int64_t all = 0;     // places; if later ones are still unknown, any number beyond their reach
  int64_t first_query = 0, queries = 0;
  int64_t first_key = 0, keys = 0;  // they hold the windows of all these queries

  static WindowAxis Whole(int64_t window, int64_t all) { return {window, all, 0, all, 0, all}; }
  // The first key of a query's window.
  int64_t WindowOf(int64_t query) const;
};

// q [f, h, w, N, D], already scaled; k and v [f', h', w', N, D]. Frames, rows and columns are the
// axes. Queries go in boxes of eight a side, each with a mask and the box of keys that their
// windows cover. So memory does not grow with the clip, and work grows as its number of windows.
at::Tensor WindowAttention(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                           const at::Tensor& v, const std::array<WindowAxis, 3>& axes);

}  // namespace reel::model
