// SPDX-License-Identifier: Apache-2.0
// A layer of three parts and one of one, with room for adapters, and files of adapters for them.
#pragma once

#include <string>
#include <vector>

#include "model/adapting/adapter_shelf.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {

inline constexpr int64_t kRoomIn = 8, kRoomOut = 6;
inline const std::vector<std::string> kRoomParts = {"block.to_q", "block.to_k", "block.to_v"};
inline constexpr char kRoomOne[] = "block.to_out";

struct ExampleRoom {
  explicit ExampleRoom(int64_t columns, const at::TensorOptions& options = at::kFloat)
      : room(columns),
        three(room.Add(kRoomParts, kRoomIn, kRoomOut, options)),
        one(room.Add({kRoomOne}, kRoomIn, kRoomOut, options)) {}

  AdapterRoom room;
  LowRankColumns three, one;
};

// Values that look random, the same for each seed.
inline at::Tensor Scattered(uint64_t seed, at::IntArrayRef sizes) {
  return at::randn(sizes, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kFloat));
}

inline TypedTensor MatrixOf(const std::string& name, const at::Tensor& values) {
  const at::Tensor flat = values.contiguous();
  const float* const first = flat.data_ptr<float>();
  return {name, "F32", values.sizes().vec(), BytesOfFloats({first, first + flat.numel()})};
}

// Of `seed`, for these layers.
inline std::string ExampleFile(uint64_t seed, const std::vector<std::string>& layers,
                               int64_t rank) {
  std::vector<TypedTensor> tensors;
  for (const std::string& layer : layers) {
    tensors.push_back(MatrixOf(layer + ".lora_A.weight", Scattered(seed++, {rank, kRoomIn})));
    tensors.push_back(MatrixOf(layer + ".lora_B.weight", Scattered(seed++, {kRoomOut, rank})));
  }
  return SafetensorsOfTypes(tensors);
}

}  // namespace reel::model
