// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/velocity_graphs.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <string>
#include <utility>

#include "model/bridge/torch_guard.h"

namespace reel::model::ltx {
namespace {

constexpr size_t kMostKinds = 64;  // with or without a graph

// What a call has in memory at its fullest, in tensors like its rows' tokens: in the attention x,
// its norm, queries, keys and values before and after their norm, heads; in the feed-forward as
// many.
constexpr int64_t kTensorsAtOnce = 10;
int64_t WorkBytes(absl::Span<const VelocityInputs> groups, int64_t width) {
  int64_t bytes = 0;
  for (const VelocityInputs& inputs : groups) {
    bytes += kTensorsAtOnce * inputs.text.rows() * inputs.x.size(1) * width *
             static_cast<int64_t>(inputs.x.element_size());
  }
  return bytes;
}

// Many of several sizes are seldom the same for long, and large enough to be asked for in time.
constexpr int64_t kMostPackedRows = 2048;
bool MayComeAgain(absl::Span<const VelocityInputs> groups) {
  int64_t rows = 0;
  for (const VelocityInputs& inputs : groups) rows += inputs.text.rows() * inputs.x.size(1);
  return groups.size() == 1 || rows <= kMostPackedRows;
}

// Note: [Calls that ranks exchange within]
// A call whose tokens are divided takes in each block what other ranks have made. By libtorch's
// copies, which stand in the order of both devices, it is run as it is: a capture of one device's
// stream would see the other's as work from outside, and refuse it, and a replay would not wait for
// what the other rank makes this time. By a RankLink it is kernels of the one device alone, and is
// recorded as any other: whether another rank records, replays or runs its part is all the same.
bool ExchangesByCopies(absl::Span<const VelocityInputs> groups) {
  return std::any_of(groups.begin(), groups.end(), [](const VelocityInputs& inputs) {
    return inputs.part != nullptr && inputs.part->link == nullptr;
  });
}

int64_t BytesOf(const std::vector<at::Tensor>& tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

// Memory of its own, with the same contents.
VelocityInputs CopyOf(const VelocityInputs& inputs, int64_t width) {
  return {.x = inputs.x.clone(at::MemoryFormat::Contiguous),
          .time = {inputs.time.embedded.clone(at::MemoryFormat::Contiguous),
                   inputs.time.rows.clone(at::MemoryFormat::Contiguous)},
          .time_of = inputs.time_of.defined() ? inputs.time_of.clone() : at::Tensor(),
          .rope = RopeTable(inputs.rope.cos_sin().clone(), inputs.rope.index().clone(), width),
          .text = inputs.text.With(
              [](const at::Tensor& t) { return t.clone(at::MemoryFormat::Contiguous); }),
          .rows = inputs.rows,
          .perturbed = inputs.perturbed};
}

// What of the part is in a graph.
std::vector<int64_t> DivisionOf(const VelocityInputs& inputs) {
  if (inputs.part == nullptr) return {};
  const TokenPart& part = *inputs.part;
  return {part.all, part.rank, part.first_rank, part.ranks};
}

}  // namespace

VelocityGraphs::Kind VelocityGraphs::KindOf(Part part, const Ops& ops, Groups groups) {
  Kind kind{.part = part, .plan = ops.run().plan.name(), .groups = {}};
  for (const VelocityInputs& inputs : groups) {
    GroupKind& own = kind.groups.emplace_back(GroupKind{.sizes = {},
                                                        .rows = inputs.rows,
                                                        .perturbed = inputs.perturbed,
                                                        .part = DivisionOf(inputs),
                                                        .has_one_key = inputs.text.has_one_key});
    for (const at::Tensor& tensor :
         {inputs.x, inputs.time.rows, inputs.time_of, inputs.rope.cos_sin(), inputs.rope.index(),
          inputs.text.mask.bias, inputs.text.mask.lengths}) {
      own.sizes.push_back(tensor.defined() ? tensor.dim() : -1);
      if (!tensor.defined()) continue;
      const at::IntArrayRef sizes = tensor.sizes();
      own.sizes.insert(own.sizes.end(), sizes.begin(), sizes.end());
    }
  }
  return kind;
}

VelocityGraphs::Recorded* VelocityGraphs::Find(Kind kind) {
  const auto found = std::find_if(recorded_.begin(), recorded_.end(),
                                  [&](const Recorded& known) { return known.kind == kind; });
  if (found != recorded_.end()) {
    recorded_.splice(recorded_.begin(), recorded_, found);
    return &recorded_.front();
  }
  recorded_.emplace_front().kind = std::move(kind);
  if (recorded_.size() > kMostKinds) recorded_.pop_back();
  return nullptr;
}

int64_t VelocityGraphs::kept_bytes() const {
  int64_t bytes = 0;
  for (const Recorded& recorded : recorded_) {
    if (recorded.graph != nullptr) bytes += recorded.input_bytes;
  }
  return bytes;
}

void VelocityGraphs::MakeRoom() {
  int64_t inputs = 0, work = 0;
  for (auto entry = recorded_.begin(); entry != recorded_.end();) {
    const bool counts = entry == recorded_.begin() || entry->graph != nullptr;
    const int64_t with_it = inputs + entry->input_bytes + std::max(work, entry->work_bytes);
    if (counts && with_it > most_bytes_ && entry != recorded_.begin()) {
      entry = recorded_.erase(entry);
      continue;
    }
    if (counts) {
      inputs += entry->input_bytes;
      work = std::max(work, entry->work_bytes);
    }
    ++entry;
  }
}

FirstBlock VelocityGraphs::First(const Ops& ops, const VelocityInputs& inputs) {
  const Outputs made = Call(Part::kFirst, ops, {&inputs, 1});
  return {made[0], made[1]};
}

at::Tensor VelocityGraphs::Others(const Ops& ops, const VelocityInputs& inputs) {
  return Call(Part::kOthers, ops, {&inputs, 1})[0];
}

VelocityGraphs::Outputs VelocityGraphs::Compute(Part part, const Ops& ops, Groups groups) const {
  switch (part) {
    case Part::kFirst: {
      const FirstBlock first = transformer_.First(ops, groups[0]);
      return {first.x, first.added};
    }
    case Part::kOthers:
      return {transformer_.Others(ops, groups[0])};
    case Part::kWhole:
      break;
  }
  return transformer_.Velocities(ops, groups);
}

VelocityGraphs::Outputs VelocityGraphs::Call(Part part, const Ops& ops, Groups groups) {
  const int64_t work_bytes = WorkBytes(groups, transformer_.config().width());
  int64_t input_bytes = 0;
  for (const VelocityInputs& inputs : groups) {
    input_bytes += BytesOf(inputs.text.tensors()) + static_cast<int64_t>(inputs.x.nbytes());
  }
  const bool fits = work_bytes + input_bytes <= most_bytes_ && MayComeAgain(groups);
  if (recorder_ == nullptr || ops.run().timer != nullptr || !fits) {
    return Compute(part, ops, groups);
  }
  // The first call of a kind is not recorded: libraries prepare themselves in it.
  Recorded* const recorded = Find(KindOf(part, ops, groups));
  if (recorded == nullptr || recorded->refused || ExchangesByCopies(groups)) {
    return Compute(part, ops, groups);
  }
  recorded->input_bytes = input_bytes;
  recorded->work_bytes = work_bytes;
  if (recorded->graph != nullptr) {
    for (size_t i = 0; i < groups.size(); ++i) {
      Fill(groups[i], recorded->inputs[i], recorded->filled[i]);
    }
  } else if (!Record(ops, groups, *recorded)) {
    return Compute(part, ops, groups);
  }
  recorded->graph->Replay();
  for (const kernels::VariantUse& use : recorded->uses) {
    ops.run().counters.Count(use.op, use.variant, use.calls);
  }
  return recorded->outputs;
}

VelocityGraphs::Filled VelocityGraphs::FilledBy(const VelocityInputs& inputs) {
  return {inputs.text.keys.k, inputs.rope.index(), inputs.time_of};
}

void VelocityGraphs::Fill(const VelocityInputs& inputs, VelocityInputs& own, Filled& filled) {
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
  if (!filled.text.is_same(inputs.text.keys.k)) {
    at::_foreach_copy_(own.text.tensors(), inputs.text.tensors());
  }
  filled = FilledBy(inputs);
}

bool VelocityGraphs::Record(const Ops& ops, Groups groups, Recorded& recorded) {
  MakeRoom();
  const absl::Status status = TorchGuard([&] {
    recorded.inputs.clear();
    recorded.parts.clear();
    for (const VelocityInputs& inputs : groups) {
      recorded.inputs.push_back(CopyOf(inputs, transformer_.config().width()));
      if (inputs.part == nullptr) continue;
      recorded.inputs.back().part = &recorded.parts.emplace_back(*inputs.part);
    }
    recorded.how = ops.run().plan;
    recorded.graph = recorder_->Record([this, &recorded](kernels::DeviceStream stream) {
      const kernels::Execution run{recorded.how, recorded.counters, nullptr, stream};
      recorded.outputs = Compute(recorded.kind.part, Ops(run), recorded.inputs);
    });
    return absl::OkStatus();
  });
  if (!status.ok()) {
    Recorded refused;
    refused.kind = std::move(recorded.kind);
    refused.refused = true;
    recorded = std::move(refused);
    // Nothing runs on a device that is lost; for the rest a call as it is decides.
    if (status.code() == absl::StatusCode::kAborted) ThrowIfError(status);
    TORCH_WARN(
        "A step cannot be recorded, and is asked for kernel by kernel, which may take longer: ",
        std::string(status.message()));
    return false;
  }
  recorded.uses = recorded.counters.Uses();
  for (const VelocityInputs& inputs : groups) recorded.filled.push_back(FilledBy(inputs));
  return true;
}

}  // namespace reel::model::ltx
