// SPDX-License-Identifier: Apache-2.0
#include "model/family/made_passes.h"

#include <algorithm>
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
  const auto add = [](std::string* text, int64_t size) {
    absl::StrAppend(text, size == kAnyLength ? "any" : absl::StrCat(size));
  };
  return absl::StrCat("[", absl::StrJoin(shape, ",", add), "]");
}

bool Fits(at::IntArrayRef stored, at::IntArrayRef shape) {
  return std::equal(
      stored.begin(), stored.end(), shape.begin(), shape.end(),
      [](int64_t has, int64_t wants) { return has == wants || (wants == kAnyLength && has > 0); });
}

// Of fp32 values; nothing is allocated for a shape that its bytes do not have.
bool HasBytesOf(const StateTensor& stored) {
  size_t bytes = sizeof(float);
  for (const int64_t size : stored.shape) {
    const auto times = static_cast<size_t>(size);
    if (times == 0 || bytes > stored.bytes.size() / times) return false;
    bytes *= times;
  }
  return bytes == stored.bytes.size();
}

absl::StatusOr<at::Tensor> Values(const PassState& state, const char* name, at::IntArrayRef shape) {
  const auto found = state.tensors.find(name);
  if (found == state.tensors.end() || found->second.type != StateTensor::Type::kF32) {
    return absl::FailedPreconditionError(absl::StrCat("the state has no ", name));
  }
  const StateTensor& stored = found->second;
  if (!Fits(stored.shape, shape)) {
    return absl::FailedPreconditionError(absl::StrCat(name, " are ", ShapeText(stored.shape),
                                                      ", but of this model ", ShapeText(shape)));
  }
  if (!HasBytesOf(stored)) {
    return absl::FailedPreconditionError(absl::StrCat(name, " have not the bytes of their shape"));
  }
  at::Tensor values = at::empty(stored.shape, at::TensorOptions(at::kFloat));
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
  if (made.decode_noise.defined()) {
    state.tensors[PassState::kDecodeNoise] = TensorOfState(made.decode_noise);
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
  if (state.tensors.count(PassState::kDecodeNoise) > 0) {
    REEL_ASSIGN_OR_RETURN(made.decode_noise,
                          Values(state, PassState::kDecodeNoise, made.latents.sizes()));
  }
  for (const auto& [name, tensor] : state.tensors) {
    if (tensor.type != StateTensor::Type::kU8) continue;
    REEL_ASSIGN_OR_RETURN(made.generators[name], GeneratorAt(tensor.bytes));
  }
  return made;
}

}  // namespace reel::model
