// SPDX-License-Identifier: Apache-2.0
// Questions to the shapes of stored tensors; the first that has no answer is remembered.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "model/weights/weight_set.h"

namespace reel::model::ltx {

class TensorShapes {
 public:
  // `part` is borrowed.
  explicit TensorShapes(const WeightSet& part) : part_(part) {}

  bool Has(const std::string& name) const { return part_.Find(name) != nullptr; }
  // Size of an axis; 1 after an error, so that callers need not look at once.
  int64_t Size(const std::string& name, size_t axis);
  // How many of "<before>0<after>", "<before>1<after>", ... there are.
  int64_t Count(const std::string& before, const std::string& after) const;

  // FAILED_PRECONDITION unless the part holds this many.
  void ExpectTensors(size_t count, const std::string& release);
  const absl::Status& status() const { return status_; }

 private:
  const WeightSet& part_;
  absl::Status status_;
};

}  // namespace reel::model::ltx
