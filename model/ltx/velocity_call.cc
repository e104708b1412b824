// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/velocity_call.h"

#include <algorithm>

namespace reel::model::ltx {
namespace {

// Peak memory of a call, in tensors as large as its tokens. Attention holds x, its norm, queries,
// keys and values before and after their norm, and heads; the feed-forward holds as many.
constexpr int64_t kTensorsAtOnce = 10;
int64_t WorkBytes(absl::Span<const VelocityInputs> groups, int64_t width) {
  int64_t bytes = 0;
  for (const VelocityInputs& inputs : groups) {
    bytes += kTensorsAtOnce * inputs.text.rows() * inputs.x.size(1) * width *
             static_cast<int64_t>(inputs.x.element_size());
  }
  return bytes;
}

// Many rows of several sizes seldom recur, and are large enough that launching keeps up.
constexpr int64_t kMostPackedRows = 2048;
bool MayComeAgain(absl::Span<const VelocityInputs> groups) {
  int64_t rows = 0;
  for (const VelocityInputs& inputs : groups) rows += inputs.text.rows() * inputs.x.size(1);
  return groups.size() == 1 || rows <= kMostPackedRows;
}

// Note: [Calls that ranks exchange within]
// Where tokens are divided, each block reads what other ranks have computed. Copies of libtorch are
// ordered on both devices' streams. A capture of one stream would refuse the other's work, and a
// replay would not wait for the other rank. Such a call is not recorded. A RankLink exchanges by
// kernels of one device alone: its calls are recorded like any other, whether the other rank
// records, replays or launches its part.
bool ExchangesByCopies(absl::Span<const VelocityInputs> groups) {
  return std::any_of(groups.begin(), groups.end(), [](const VelocityInputs& inputs) {
    return inputs.ranks.is_divided() && inputs.ranks.link == nullptr;
  });
}

int64_t BytesOf(const std::vector<at::Tensor>& tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

VelocityInputs CopyOf(const VelocityInputs& inputs, int64_t width) {
  return {.x = inputs.x.clone(at::MemoryFormat::Contiguous),
          .time = {inputs.time.embedded.clone(at::MemoryFormat::Contiguous),
                   inputs.time.rows.clone(at::MemoryFormat::Contiguous)},
          .time_of = inputs.time_of.defined() ? inputs.time_of.clone() : at::Tensor(),
          .rope = RopeTable(inputs.rope.cos_sin().clone(), inputs.rope.index().clone(), width),
          .text = inputs.text.With(
              [](const at::Tensor& t) { return t.clone(at::MemoryFormat::Contiguous); }),
          .rows = inputs.rows,
          .perturbed = inputs.perturbed,
          .ranks = inputs.ranks,
          .adapters = inputs.adapters.defined() ? inputs.adapters.clone() : at::Tensor()};
}

// What a graph depends on of how ranks divide tokens.
std::vector<int64_t> DivisionOf(const RankTokens& ranks) {
  if (!ranks.is_divided()) return {};
  return {ranks.all, ranks.rank, ranks.first_rank, ranks.ranks};
}

}  // namespace

VelocityCall::Kind VelocityCall::kind() const {
  Kind kind{.part = part, .groups = {}};
  for (const VelocityInputs& inputs : groups) {
    if (inputs.adapters.defined()) kind.adapted_products = transformer.adapted_products();
    GroupKind& own = kind.groups.emplace_back(GroupKind{.sizes = {},
                                                        .rows = inputs.rows,
                                                        .perturbed = inputs.perturbed,
                                                        .division = DivisionOf(inputs.ranks),
                                                        .has_one_key = inputs.text.has_one_key});
    for (const at::Tensor& tensor :
         {inputs.x, inputs.time.rows, inputs.time_of, inputs.rope.cos_sin(), inputs.rope.index(),
          inputs.text.mask.bias, inputs.text.mask.lengths, inputs.adapters}) {
      own.sizes.push_back(tensor.defined() ? tensor.dim() : -1);
      if (!tensor.defined()) continue;
      const at::IntArrayRef sizes = tensor.sizes();
      own.sizes.insert(own.sizes.end(), sizes.begin(), sizes.end());
    }
  }
  return kind;
}

bool VelocityCall::may_come_again() const { return MayComeAgain(groups); }

bool VelocityCall::may_be_recorded() const { return !ExchangesByCopies(groups); }

int64_t VelocityCall::input_bytes() const {
  int64_t bytes = 0;
  for (const VelocityInputs& inputs : groups) {
    bytes += BytesOf(inputs.text.tensors()) + static_cast<int64_t>(inputs.x.nbytes());
  }
  return bytes;
}

int64_t VelocityCall::work_bytes() const { return WorkBytes(groups, transformer.config().width()); }

std::vector<at::Tensor> VelocityCall::Compute(const Ops& ops) const {
  switch (part) {
    case Part::kFirst: {
      const FirstBlock first = transformer.First(ops, groups[0]);
      return {first.x, first.added};
    }
    case Part::kOthers:
      return {transformer.Others(ops, groups[0])};
    case Part::kWhole:
      break;
  }
  return transformer.Velocities(ops, groups);
}

VelocityCall::Copy::Copy(const VelocityCall& call)
    : transformer_(call.transformer), part_(call.part) {
  for (const VelocityInputs& inputs : call.groups) {
    inputs_.push_back(CopyOf(inputs, transformer_.config().width()));
    filled_.push_back(FilledBy(inputs));
  }
}

void VelocityCall::Copy::Fill(const VelocityCall& call) {
  for (size_t i = 0; i < call.groups.size(); ++i) Fill(call.groups[i], inputs_[i], filled_[i]);
}

VelocityCall::Copy::Filled VelocityCall::Copy::FilledBy(const VelocityInputs& inputs) {
  return {inputs.text.keys.k, inputs.rope.index(), inputs.time_of, inputs.adapters};
}

void VelocityCall::Copy::Fill(const VelocityInputs& inputs, VelocityInputs& own, Filled& filled) {
  own.x.copy_(inputs.x);
  own.time.embedded.copy_(inputs.time.embedded);
  own.time.rows.copy_(inputs.time.rows);
  if (own.time_of.defined() && !filled.time_of.is_same(inputs.time_of)) {
    own.time_of.copy_(inputs.time_of);
  }
  if (!filled.rope.is_same(inputs.rope.index())) {
    own.rope.cos_sin().copy_(inputs.rope.cos_sin());
    own.rope.index().copy_(inputs.rope.index());
  }
  if (own.adapters.defined() && !filled.adapters.is_same(inputs.adapters)) {
    own.adapters.copy_(inputs.adapters);
  }
  if (!filled.text.is_same(inputs.text.keys.k)) {
    at::_foreach_copy_(own.text.tensors(), inputs.text.tensors());
  }
  filled = FilledBy(inputs);
}

}  // namespace reel::model::ltx
