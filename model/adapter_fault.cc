// SPDX-License-Identifier: Apache-2.0
#include "model/adapter_fault.h"

#include "absl/strings/cord.h"

namespace reel::model {
namespace {

constexpr char kBrokenMark[] = "reel.adapter.broken", kOtherModelMark[] = "reel.adapter.model";

}  // namespace

absl::Status WithFault(absl::Status status, AdapterFault fault) {
  if (status.ok()) return status;
  status.SetPayload(fault == AdapterFault::kBroken ? kBrokenMark : kOtherModelMark, absl::Cord());
  return status;
}

std::optional<AdapterFault> FaultOf(const absl::Status& status) {
  if (status.GetPayload(kOtherModelMark).has_value()) return AdapterFault::kNotForModel;
  if (status.GetPayload(kBrokenMark).has_value()) return AdapterFault::kBroken;
  return std::nullopt;
}

}  // namespace reel::model
