// SPDX-License-Identifier: Apache-2.0
#include "model/family/made_passes.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/generator_position.h"

namespace reel::model {
namespace {

StateTensor TensorOfState(const at::Tensor& values) {
  const at::Tensor own = values.to(at::kCPU).to(at::kFloat).contiguous();
  return {StateTensor::Type::kF32,
          own.sizes().vec(),
          {static_cast<const char*>(own.const_data_ptr()), own.nbytes()}};
}

std::string ShapeText(at::IntArrayRef shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ","), "]");
}

absl::StatusOr<at::Tensor> Values(const PassState& state, const char* name, at::IntArrayRef shape) {
  const auto found = state.tensors.find(name);
  if (found == state.tensors.end() || found->second.type != StateTensor::Type::kF32) {
    return absl::FailedPreconditionError(absl::StrCat("the state has no ", name));
  }
  const StateTensor& stored = found->second;
  if (at::IntArrayRef(stored.shape) != shape) {
    return absl::FailedPreconditionError(absl::StrCat(name, " are ", ShapeText(stored.shape),
                                                      ", but of this model ", ShapeText(shape)));
  }
  at::Tensor values = at::empty(shape, at::TensorOptions(at::kFloat));
  if (values.nbytes() != stored.bytes.size()) {
    return absl::FailedPreconditionError(absl::StrCat(name, " have not the bytes of their shape"));
  }
  std::memcpy(values.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
  return values;
}

}  // namespace

absl::StatusOr<at::Generator> MadePasses::Take(const std::string& generator) {
  auto node = generators.extract(generator);
  if (!node.empty()) return std::move(node.mapped());
  return absl::FailedPreconditionError(absl::StrCat("the state has no ", generator));
}

PassState StateOf(const MadePasses& made, int passes) {
  PassState state;
  state.passes = passes;
  state.tensors[PassState::kLatents] = TensorOfState(made.latents);
  if (made.audio_latents.defined()) {
    state.tensors[PassState::kAudioLatents] = TensorOfState(made.audio_latents);
  }
  for (const auto& [name, generator] : made.generators) {
    std::string position = PositionOf(generator);
    const auto size = static_cast<int64_t>(position.size());
    state.tensors[name] = {StateTensor::Type::kU8, {size}, std::move(position)};
  }
  return state;
}

absl::StatusOr<MadePasses> MadePassesOf(const PassState& state, at::IntArrayRef latents,
                                        at::IntArrayRef audio_latents) {
  MadePasses made;
  REEL_ASSIGN_OR_RETURN(made.latents, Values(state, PassState::kLatents, latents));
  if (!audio_latents.empty()) {
    REEL_ASSIGN_OR_RETURN(made.audio_latents,
                          Values(state, PassState::kAudioLatents, audio_latents));
  }
  for (const auto& [name, tensor] : state.tensors) {
    if (tensor.type != StateTensor::Type::kU8) continue;
    REEL_ASSIGN_OR_RETURN(made.generators[name], GeneratorAt(tensor.bytes));
  }
  return made;
}

}  // namespace reel::model
