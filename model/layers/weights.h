// SPDX-License-Identifier: Apache-2.0
// Hands a component's stored tensors to its layers, in its type and on its device.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/bridge/aten.h"
#include "model/bridge/rows.h"
#include "model/layers/adapter_room.h"
#include "model/weights/weight_set.h"

namespace reel::model {

// A component's tensors on the first rank of a group, from which the others copy: files are read
// once.
using TensorsByName = std::map<std::string, at::Tensor, std::less<>>;

// Optional parts of loading a network; borrowed.
struct LoadExtras {
  TensorsByName* shared = nullptr;  // shared by the loads for all devices of a group
  AdapterRoom* room = nullptr;      // for adapters of requests
};

// Whether tensors get the stored values, or have shapes and types alone. Without values they take
// no memory and hardly any time; such a model can be inspected, not run.
enum class Values { kStored, kNone };

// Used by one thread during a load. Remembers the first error and returns undefined tensors after
// it, so that a component is built in one go and checked once, by Finish. Each tensor is copied
// once, codes as the values that they stand for. Then its pages of the file are dropped. On
// libtorch's device without memory (at::kMeta) only the file's header is read.
class Weights {
 public:
  // Borrows `stored` and, for a group, `shared`: tensors in it are copied, others are read and
  // added.
  // `room`, where set, gets the columns of each linear layer.
  Weights(const WeightSet& stored, at::ScalarType dtype, at::Device device,
          TensorsByName* shared = nullptr, AdapterRoom* room = nullptr)
      : stored_(stored), dtype_(dtype), device_(device), shared_(shared), room_(room) {}

  // The tensor `name`, which must have this shape. `dtype` instead of the component's.
  at::Tensor Take(const std::string& name, const std::vector<int64_t>& shape);
  at::Tensor TakeAs(const std::string& name, const std::vector<int64_t>& shape,
                    at::ScalarType dtype);
  bool Has(const std::string& name) const {
    return stored_.random_seed().has_value() || stored_.Find(name) != nullptr;
  }
  // Columns for adapters of layers of one input, each [out, in], the parts of one product; empty
  // without room. Behind the weight of all, which then is another tensor, where the room says so.
  LowRankColumns ColumnsFor(const std::vector<std::string>& layers, int64_t in, int64_t out,
                            at::Tensor& weight);
  // The codes of e4m3 of a stored matrix with a scale for each row, in place of Take, where
  // HasCodes.
  CodedWeight TakeCodes(const std::string& name, const std::vector<int64_t>& shape);
  // Whether it is stored as such, unchanged by adapters, and codes are to be held.
  bool HasCodes(const std::string& name) const;
  // Whether codes stand in the place of the weights that are taken next (WeightsForm::kE4m3).
  void HoldCodes(bool holds) { holds_codes_ = holds; }
  bool holds_codes() const { return holds_codes_; }
  // Marks a stored tensor as not needed.
  void Skip(const std::string& name) { taken_.insert(name); }

  // False after the first error.
  bool ok() const { return status_.ok(); }
  at::ScalarType dtype() const { return dtype_; }
  at::Device device() const { return device_; }
  int64_t bytes() const { return bytes_; }
  int64_t parameters() const { return parameters_; }

  // FAILED_PRECONDITION with file and tensor: one was missing, or had another shape or a type that
  // weights do not have, or some were not used. DATA_LOSS: codes that are not numbers.
  absl::Status Finish() const;

 private:
  void Fail(const std::string& name, const std::string& why);
  // Undefined after Fail.
  at::Tensor Load(const std::string& name, const std::vector<int64_t>& shape, at::ScalarType dtype);
  at::Tensor Read(const std::string& name, const StoredTensor& stored, at::ScalarType dtype);
  bool HasShape(const std::string& name, const StoredTensor& stored,
                const std::vector<int64_t>& shape);
  void Count(const std::string& name, const at::Tensor& tensor);

  const WeightSet& stored_;
  const at::ScalarType dtype_;
  const at::Device device_;
  TensorsByName* const shared_;
  AdapterRoom* const room_;
  bool holds_codes_ = false;
  std::set<std::string, std::less<>> taken_;
  int64_t bytes_ = 0;
  int64_t parameters_ = 0;
  absl::Status status_;
};

}  // namespace reel::model
