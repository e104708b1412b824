// SPDX-License-Identifier: Apache-2.0
#include "model/fit_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kernels/base/status_macros.h"

namespace reel::model {
namespace {

constexpr std::string_view kE4m3Form = "e4m3";
constexpr double kUsableShare = 0.95;
constexpr int64_t kContextBytes = 600'000'000;
// One slot is in use while the next layer is copied into another. Blocks have a third, so that a
// short block in between does not stall the copies.
constexpr int kTextSlots = 2, kBlockSlots = 3;

std::string Gigabytes(int64_t bytes) {
  return absl::StrFormat("%.1f", static_cast<double>(bytes) / 1e9);
}

std::string SumOfParts(const FitPlan& plan, int64_t all, int64_t FitPart::* bytes) {
  std::string sum = absl::StrCat(Gigabytes(all), " GB");
  const char* before = " = ";
  for (const FitPart& part : plan.parts) {
    if (part.*bytes == 0) continue;
    absl::StrAppend(&sum, before, part.name, " ", Gigabytes(part.*bytes));
    before = " + ";
  }
  return sum;
}

int64_t Sum(const std::vector<int64_t>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

// Where each part is.
struct Form {
  Place text, encoder;
  int resident;
};

FitPlan PlanOf(const WeightSizes& sizes, const FitNeed& need, const Form& form) {
  const bool text_on_host = form.text == Place::kHost;
  const bool encoder_on_host = form.encoder == Place::kHost;
  FitPlan plan;
  plan.text = form.text;
  plan.encoder = form.encoder;
  plan.resident_blocks = form.resident;
  plan.streamed_blocks = sizes.num_blocks() - form.resident;
  plan.usable = UsableMemory(need.device);
  plan.usual_video = need.usual_video;
  if (encoder_on_host) {
    plan.ring_slots = kTextSlots;
    plan.slot_bytes = sizes.encoder_layer;
    plan.picture_copies = sizes.encoder_layers;
  }
  if (text_on_host) {
    plan.ring_slots = kTextSlots;
    plan.slot_bytes = std::max(plan.slot_bytes, sizes.text_layer);
    plan.text_copies = sizes.text_layers + sizes.connector_layers;
  }
  if (plan.streamed_blocks > 0) {
    plan.ring_slots = std::max(plan.ring_slots, std::min(kBlockSlots, plan.streamed_blocks));
    for (int i = 0; i < sizes.num_blocks(); ++i) {
      if (!IsStreamed(plan, i)) continue;
      const int64_t bytes = sizes.blocks[static_cast<size_t>(i)];
      plan.slot_bytes = std::max(plan.slot_bytes, bytes);
      plan.step_copies += bytes;
    }
  }
  const int64_t text_moves = sizes.text_layers + sizes.text_table;
  plan.parts = {
      {"text encoder", sizes.text_rest + (text_on_host ? 0 : text_moves),
       text_on_host ? text_moves : 0},
      {"connectors", sizes.connector_rest + (text_on_host ? 0 : sizes.connector_layers),
       text_on_host ? sizes.connector_layers : 0},
      {"transformer", sizes.around_blocks + Sum(sizes.blocks) - plan.step_copies, plan.step_copies},
      {"autoencoders", sizes.autoencoders + (encoder_on_host ? 0 : sizes.encoder_layers),
       encoder_on_host ? sizes.encoder_layers : 0},
      {"ring", plan.ring_slots * plan.slot_bytes, 0}};
  std::erase_if(plan.parts, [](const FitPart& part) { return part.device + part.host == 0; });
  return plan;
}

absl::Status CheckOffload(const WeightSizes& sizes, const Offload& offload) {
  if (!offload.resident_blocks.has_value()) return absl::OkStatus();
  const int resident = *offload.resident_blocks;
  if (resident < 0 || resident > sizes.num_blocks()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "resident_blocks is ", resident, "; the transformer has ", sizes.num_blocks(), " blocks"));
  }
  if (resident < sizes.num_blocks() && !sizes.can_stream_blocks) {
    return absl::InvalidArgumentError("this model's blocks cannot be streamed");
  }
  return absl::OkStatus();
}

// From the fastest form to the smallest.
std::vector<FitPlan> Candidates(const WeightSizes& sizes, const FitNeed& need,
                                const Offload& offload) {
  const auto or_wish = [](Place wish, Place place) { return wish == Place::kAuto ? place : wish; };
  const int most = offload.resident_blocks.value_or(sizes.num_blocks());
  std::vector<FitPlan> plans;
  Form form = {};
  for (const auto& [text, encoder] :
       {std::pair(Place::kDevice, Place::kDevice), std::pair(Place::kHost, Place::kDevice),
        std::pair(Place::kHost, Place::kHost)}) {
    form = {or_wish(offload.text, text), or_wish(offload.encoder, encoder), most};
    plans.push_back(PlanOf(sizes, need, form));
  }
  if (!sizes.can_stream_blocks || offload.resident_blocks.has_value()) return plans;
  // The encoder's layers may need larger slots than they save.
  if (plans[2].device_bytes() >= plans[1].device_bytes()) form.encoder = plans[1].encoder;
  while (--form.resident >= 0) plans.push_back(PlanOf(sizes, need, form));
  return plans;
}

}  // namespace

std::string_view NameOf(WeightsForm form) { return form == WeightsForm::kE4m3 ? kE4m3Form : ""; }

WeightsForm WeightsFormNamed(std::string_view name) {
  return name == kE4m3Form ? WeightsForm::kE4m3 : WeightsForm::k16;
}

int64_t WeightSizes::all() const {
  return text_layers + text_table + text_rest + Sum(blocks) + around_blocks + encoder_layers +
         autoencoders + connector_layers + connector_rest;
}

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
  return SumOfParts(plan, plan.device_bytes(), &FitPart::device);
}

std::string HostSumOf(const FitPlan& plan) {
  return SumOfParts(plan, plan.host_bytes(), &FitPart::host);
}

}  // namespace reel::model
