// SPDX-License-Identifier: Apache-2.0
#include "model/fit_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kernels/base/status_macros.h"

namespace reel::model {
namespace {

constexpr double kUsableShare = 0.95;
constexpr int64_t kContextBytes = 600'000'000;
// One slot is in use while the next layer is copied into another. Blocks have a third, so that a
// short block in between does not stall the copies.
constexpr int kTextSlots = 2, kBlockSlots = 3;

std::string Gigabytes(int64_t bytes) {
  return absl::StrFormat("%.1f", static_cast<double>(bytes) / 1e9);
}

FitPlan WithPlaces(const WeightSizes& sizes, const FitNeed& need, Place text, int resident) {
  const bool text_on_host = text == Place::kHost;
  FitPlan plan;
  plan.text = text;
  plan.resident_blocks = resident;
  plan.streamed_blocks = sizes.num_blocks - resident;
  plan.usable = UsableMemory(need.device);
  plan.usual_video = need.usual_video;
  if (text_on_host) {
    plan.ring_slots = kTextSlots;
    plan.slot_bytes = sizes.text_layer;
    plan.text_copies = sizes.text_layers + sizes.connector_layers;
  }
  if (plan.streamed_blocks > 0) {
    plan.ring_slots = std::max(plan.ring_slots, std::min(kBlockSlots, plan.streamed_blocks));
    plan.slot_bytes = std::max(plan.slot_bytes, sizes.block);
    plan.step_copies = plan.streamed_blocks * sizes.block;
  }
  const int64_t text_moves = sizes.text_layers + sizes.text_table;
  plan.parts = {
      {"text encoder", sizes.text_rest + (text_on_host ? 0 : text_moves),
       text_on_host ? text_moves : 0},
      {"connectors", sizes.connector_rest + (text_on_host ? 0 : sizes.connector_layers),
       text_on_host ? sizes.connector_layers : 0},
      {"transformer", sizes.around_blocks + sizes.blocks - plan.step_copies, plan.step_copies},
      {"autoencoders", sizes.autoencoders, 0},
      {"ring", plan.ring_slots * plan.slot_bytes, 0}};
  std::erase_if(plan.parts, [](const FitPart& part) { return part.device + part.host == 0; });
  return plan;
}

absl::Status CheckOffload(const WeightSizes& sizes, const Offload& offload) {
  if (!offload.resident_blocks.has_value()) return absl::OkStatus();
  const int resident = *offload.resident_blocks;
  if (resident < 0 || resident > sizes.num_blocks) {
    return absl::InvalidArgumentError(absl::StrCat(
        "resident_blocks is ", resident, "; the transformer has ", sizes.num_blocks, " blocks"));
  }
  if (resident < sizes.num_blocks && !sizes.can_stream_blocks) {
    return absl::InvalidArgumentError("this model's blocks cannot be streamed");
  }
  return absl::OkStatus();
}

// From the fastest form to the smallest.
std::vector<FitPlan> Candidates(const WeightSizes& sizes, const FitNeed& need,
                                const Offload& offload) {
  std::vector<Place> texts = {offload.text};
  if (offload.text == Place::kAuto) texts = {Place::kDevice, Place::kHost};
  const int most = offload.resident_blocks.value_or(sizes.num_blocks);
  const bool may_stream = sizes.can_stream_blocks && !offload.resident_blocks.has_value();
  std::vector<FitPlan> plans;
  for (const Place text : texts) plans.push_back(WithPlaces(sizes, need, text, most));
  for (int resident = most - 1; may_stream && resident >= 0; --resident) {
    plans.push_back(WithPlaces(sizes, need, texts.back(), resident));
  }
  return plans;
}

}  // namespace

int64_t FitPlan::device_bytes() const {
  int64_t bytes = 0;
  for (const FitPart& part : parts) bytes += part.device;
  return bytes;
}

int64_t FitPlan::host_bytes() const {
  int64_t bytes = 0;
  for (const FitPart& part : parts) bytes += part.host;
  return bytes;
}

int64_t UsableMemory(int64_t device) {
  const auto share = static_cast<int64_t>(static_cast<double>(device) * kUsableShare);
  return std::max<int64_t>(share - kContextBytes, 0);
}

bool IsStreamed(const FitPlan& plan, int index) {
  const int all = plan.resident_blocks + plan.streamed_blocks;
  return (index + 1) * plan.streamed_blocks / all > index * plan.streamed_blocks / all;
}

absl::StatusOr<FitPlan> PlanFit(const WeightSizes& sizes, const FitNeed& need,
                                const Offload& offload) {
  REEL_RETURN_IF_ERROR(CheckOffload(sizes, offload));
  const std::vector<FitPlan> plans = Candidates(sizes, need, offload);
  for (const FitPlan& plan : plans) {
    if (plan.left() >= 0) return plan;
  }
  const FitPlan& smallest = *std::min_element(
      plans.begin(), plans.end(),
      [](const FitPlan& a, const FitPlan& b) { return a.device_bytes() < b.device_bytes(); });
  const int64_t needed = smallest.device_bytes() + need.least_video;
  if (needed <= smallest.usable) return smallest;
  return absl::ResourceExhaustedError(
      absl::StrCat("the model does not fit: of ", Gigabytes(need.device), " GB ",
                   Gigabytes(smallest.usable), " can be used, and its weights take at least ",
                   SumOf(smallest), ", the smallest video ", Gigabytes(need.least_video)));
}

std::string SumOf(const FitPlan& plan) {
  std::string sum = absl::StrCat(Gigabytes(plan.device_bytes()), " GB");
  const char* before = " = ";
  for (const FitPart& part : plan.parts) {
    if (part.device == 0) continue;
    absl::StrAppend(&sum, before, part.name, " ", Gigabytes(part.device));
    before = " + ";
  }
  return sum;
}

}  // namespace reel::model
