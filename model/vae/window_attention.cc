// SPDX-License-Identifier: Apache-2.0
#include "model/vae/window_attention.h"

#include <ATen/ops/stack.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "model/bridge/attention_ops.h"
#include "model/bridge/upload.h"

namespace reel::model {
namespace {

// Queries of a box on each side. Larger boxes mask more keys, smaller ones copy each key more
// often.
constexpr int64_t kBoxSide = 8;
// Keys that are copied for one call: 134 MB with their values at 256 channels in 16 bits.
constexpr int64_t kKeysAtOnce = int64_t{1} << 17;

// Where a box begins, in the tensors of a call.
struct BoxStart {
  int64_t query = 0, key = 0;
};

// The boxes along an axis whose queries see the same of their keys.
struct BoxKind {
  std::vector<int64_t> windows;  // of each query: the first key, from the box's first on
  std::vector<BoxStart> boxes;
};

// The boxes along one axis. The last one may lie over the one before it, so all have one size.
struct AxisBoxes {
  int64_t queries = 0, keys = 0;  // of a box
  std::vector<BoxKind> kinds;
};

AxisBoxes BoxesOf(const WindowAxis& axis) {
  AxisBoxes all;
  all.queries = std::min(kBoxSide, axis.queries);
  all.keys = std::min(all.queries + axis.window - 1, axis.keys);
  for (int64_t begin = 0; begin < axis.queries; begin += all.queries) {
    BoxStart box = {std::min(begin, axis.queries - all.queries), 0};
    const int64_t first = axis.first_query + box.query;
    box.key =
        std::clamp(first - axis.window / 2 - axis.first_key, int64_t{0}, axis.keys - all.keys);
    std::vector<int64_t> windows;
    for (int64_t i = 0; i < all.queries; ++i) {
      windows.push_back(axis.WindowOf(first + i) - axis.first_key - box.key);
    }
    const auto same = std::find_if(all.kinds.begin(), all.kinds.end(),
                                   [&](const BoxKind& kind) { return kind.windows == windows; });
    if (same == all.kinds.end()) {
      all.kinds.push_back({std::move(windows), {box}});
    } else {
      same->boxes.push_back(box);
    }
  }
  return all;
}

// Whether a query sees a key, [queries, keys].
at::Tensor SeenOf(const BoxKind& kind, int64_t window, int64_t keys, at::Device device) {
  const at::Tensor first = Upload(at::tensor(kind.windows, at::kLong), device).unsqueeze(1);
  const at::Tensor key = at::arange(keys, first.options());
  return (key >= first).logical_and(key < first + window);
}

using Kinds = std::array<const BoxKind*, 3>;

class BoxedAttention {
 public:
  BoxedAttention(const Ops& ops, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                 const std::array<WindowAxis, 3>& axes)
      : ops_(ops), q_(q), k_(k), v_(v), axes_(axes), out_(at::empty_like(q)) {
    for (size_t i = 0; i < 3; ++i) boxes_[i] = BoxesOf(axes[i]);
  }

  at::Tensor Run() {
    for (const BoxKind& t : boxes_[0].kinds) {
      for (const BoxKind& y : boxes_[1].kinds) {
        for (const BoxKind& x : boxes_[2].kinds) RunKind({&t, &y, &x});
      }
    }
    return out_;
  }

 private:
  using Box = std::array<BoxStart, 3>;

  // 0 where a query of the box sees a key, else minus infinity: [1, 1, queries, keys].
  at::Tensor BiasOf(const Kinds& kinds) const {
    at::Tensor seen;
    for (size_t i = 0; i < 3; ++i) {
      at::Tensor of = SeenOf(*kinds[i], axes_[i].window, boxes_[i].keys, q_.device());
      std::vector<int64_t> sizes(6, 1);
      sizes[i] = boxes_[i].queries;
      sizes[i + 3] = boxes_[i].keys;
      of = of.view(sizes);
      seen = seen.defined() ? seen.logical_and(of) : of;
    }
    seen = seen.flatten(3, 5).flatten(0, 2);
    return at::zeros(seen.sizes(), q_.options())
        .masked_fill_(seen.logical_not(), -std::numeric_limits<double>::infinity())
        .unsqueeze(0)
        .unsqueeze(0);
  }

  at::Tensor QueriesOf(const at::Tensor& of, const Box& box) const {
    at::Tensor part = of;
    for (size_t i = 0; i < 3; ++i) {
      part = part.narrow(static_cast<int64_t>(i), box[i].query, boxes_[i].queries);
    }
    return part;
  }
  at::Tensor KeysOf(const at::Tensor& of, const Box& box) const {
    at::Tensor part = of;
    for (size_t i = 0; i < 3; ++i) {
      part = part.narrow(static_cast<int64_t>(i), box[i].key, boxes_[i].keys);
    }
    return part;
  }

  void RunKind(const Kinds& kinds) {
    const at::Tensor bias = BiasOf(kinds);
    const auto at_once = static_cast<size_t>(std::max<int64_t>(kKeysAtOnce / bias.size(3), 1));
    std::vector<Box> boxes;
    for (const BoxStart& t : kinds[0]->boxes) {
      for (const BoxStart& y : kinds[1]->boxes) {
        for (const BoxStart& x : kinds[2]->boxes) {
          boxes.push_back({t, y, x});
          if (boxes.size() == at_once) Attend(std::exchange(boxes, {}), bias);
        }
      }
    }
    if (!boxes.empty()) Attend(boxes, bias);
  }

  void Attend(const std::vector<Box>& boxes, const at::Tensor& bias) {
    std::vector<at::Tensor> q, k, v;
    for (const Box& box : boxes) {
      q.push_back(QueriesOf(q_, box));
      k.push_back(KeysOf(k_, box));
      v.push_back(KeysOf(v_, box));
    }
    const auto rows = [](const std::vector<at::Tensor>& of) { return at::stack(of).flatten(1, 3); };
    const at::Tensor made = AttentionNotIn8Bits(ops_, rows(q), rows(k), rows(v), bias, 1);
    for (size_t i = 0; i < boxes.size(); ++i) {
      const at::Tensor place = QueriesOf(out_, boxes[i]);
      place.copy_(made[static_cast<int64_t>(i)].view(place.sizes()));
    }
  }

  const Ops& ops_;
  const at::Tensor &q_, &k_, &v_;
  const std::array<WindowAxis, 3>& axes_;
  const at::Tensor out_;
  std::array<AxisBoxes, 3> boxes_;
};

}  // namespace

int64_t WindowAxis::WindowOf(int64_t query) const {
  return std::max<int64_t>(std::min(query - window / 2, all - window), 0);
}

at::Tensor WindowAttention(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                           const at::Tensor& v, const std::array<WindowAxis, 3>& axes) {
  return BoxedAttention(ops, q, k, v, axes).Run();
}

}  // namespace reel::model
