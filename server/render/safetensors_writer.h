// SPDX-License-Identifier: Apache-2.0
// Writes tensors of 32-bit floats in the safetensors format, piece by piece.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/base/program/part_file.h"

namespace reel::render {

struct TensorShape {
  std::string name;
  std::vector<int64_t> dims;
  int64_t bytes() const;
};

// The tensors' data must follow in the order of `tensors`. Not thread-safe.
class SafetensorsWriter {
 public:
  // `file` outlives the writer.
  SafetensorsWriter(PartFile& file, std::vector<TensorShape> tensors,
                    std::map<std::string, std::string> metadata = {})
      : file_(file), tensors_(std::move(tensors)), metadata_(std::move(metadata)) {}

  absl::Status WriteHeader();
  absl::Status Write(absl::Span<const std::byte> data);
  // INTERNAL unless exactly the announced bytes were written.
  absl::Status Finish() const;

 private:
  PartFile& file_;
  std::vector<TensorShape> tensors_;
  std::map<std::string, std::string> metadata_;  // plain words, without quotation marks
  int64_t written_ = 0;
};

}  // namespace reel::render
