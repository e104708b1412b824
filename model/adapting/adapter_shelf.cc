// SPDX-License-Identifier: Apache-2.0
#include "model/adapting/adapter_shelf.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kernels/base/status_macros.h"
#include "model/adapter_fault.h"
#include "model/adapters/open_adapter.h"
#include "model/fixed_adapter.h"
#include "model/refinement.h"

namespace reel::model {
namespace {

// Allows for rounding in products of scales whose bound was checked.
constexpr double kRounding = 1 + 1e-9;
constexpr char kRegisterAsFixed[] = "; as a fixed adapter of the model it needs none";

absl::Status Refusal(const RequestAdapter& wanted, absl::string_view why) {
  return WithFault(absl::FailedPreconditionError(
                       absl::StrCat("the adapter '", wanted.name, "' cannot be used: ", why)),
                   AdapterFault::kNotForModel);
}

// By the adapter's name: whoever asks knows no paths.
absl::Status OfName(const RequestAdapter& wanted, const absl::Status& status) {
  const std::string text = absl::StrReplaceAll(
      std::string(status.message()), {{wanted.path, absl::StrCat("'", wanted.name, "'")}});
  return WithFault(absl::FailedPreconditionError(text),
                   FaultOf(status).value_or(AdapterFault::kBroken));
}

// The largest absolute scale of any part in any pass; not finite if one of them is not.
double LargestScale(const RequestAdapter& adapter) {
  double part = 1, pass = adapter.pass_scales.empty() ? 1 : 0, sum = 0;
  for (const auto& [name, scale] : adapter.part_scales) {
    part = std::max(part, std::abs(scale));
    sum += scale;
  }
  for (const double scale : adapter.pass_scales) {
    pass = std::max(pass, std::abs(scale));
    sum += scale;
  }
  return std::isfinite(sum) ? std::abs(adapter.scale.value_or(1)) * part * pass : sum;
}

absl::Status CheckWanted(const std::vector<RequestAdapter>& wanted) {
  if (wanted.size() > kMostRequestAdapters) {
    return absl::FailedPreconditionError(absl::StrCat(
        "a request takes at most ", kMostRequestAdapters, " adapters, not ", wanted.size()));
  }
  for (const RequestAdapter& adapter : wanted) {
    const double scale = LargestScale(adapter);
    if (!(scale <= kMostAdapterScale * kRounding)) {
      return Refusal(adapter, absl::StrCat("its scale is ", scale, ", not ", -kMostAdapterScale,
                                           " to ", kMostAdapterScale));
    }
  }
  return absl::OkStatus();
}

// The names were checked where the request came in.
AdapterPartScales PartScalesOf(const RequestAdapter& adapter) {
  AdapterPartScales scales = kAllParts;
  for (const auto& [name, scale] : adapter.part_scales) {
    if (const auto part = AdapterPartNamed(name)) scales[static_cast<size_t>(*part)] = scale;
  }
  return scales;
}

AppliedAdapter AppliedBy(const RequestAdapter& wanted,
                         std::shared_ptr<const LoadedAdapter> adapter) {
  AppliedAdapter applied = {.adapter = std::move(adapter), .parts = PartScalesOf(wanted)};
  const double scale = wanted.scale.value_or(1);
  const std::vector<double>& passes = wanted.pass_scales;
  applied.scale = static_cast<float>(passes.empty() ? scale : scale * passes[0]);
  for (size_t i = 1; i < passes.size(); ++i) {
    applied.later_scales.push_back(static_cast<float>(scale * passes[i]));
  }
  return applied;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AdapterRoom>> AdapterRoomOf(const LoadOptions& options) {
  const int ranks = options.adapter_ranks;
  if (ranks == 0) return nullptr;
  if (ranks < 0 || ranks > kMostAdapterRanks || ranks % kAdapterSlot != 0) {
    return absl::FailedPreconditionError(absl::StrCat("adapter_ranks is ", ranks,
                                                      ", not a multiple of ", kAdapterSlot,
                                                      " up to ", kMostAdapterRanks));
  }
  if (!options.peers.empty()) {
    return absl::FailedPreconditionError(
        "a group of devices takes no adapters of requests yet: give it fixed adapters, or one "
        "device");
  }
  return std::make_unique<AdapterRoom>(ranks);
}

void StandBehindWeights(AdapterRoom* room, at::Device device, at::ScalarType dtype,
                        const FittedLoad& held) {
  const bool stands = device.is_cuda() && at::elementSize(dtype) == 2 && held.HoldsPlainBlocks();
  if (room != nullptr && stands) room->StandBehindWeights();
}

absl::StatusOr<std::unique_ptr<AdapterShelf>> AdapterShelf::Of(std::unique_ptr<AdapterRoom> room,
                                                               AdapterFamily family) {
  if (room == nullptr) return nullptr;
  std::vector<LinearLayer> layers;
  for (const AdapterRoom::Layer& layer : room->layers()) {
    layers.push_back({layer.name, layer.up.size(0), layer.down.size(2)});
  }
  REEL_ASSIGN_OR_RETURN(LinearTable table, LinearTable::Of(layers));
  return std::unique_ptr<AdapterShelf>(
      new AdapterShelf(*std::move(room), family, std::move(table)));
}

absl::StatusOr<AppliedAdapters> AdapterShelf::Take(std::vector<RequestAdapter> wanted) {
  REEL_RETURN_IF_ERROR(CheckWanted(wanted));
  std::erase_if(wanted, [](const RequestAdapter& adapter) { return adapter.scale == 0; });
  std::sort(wanted.begin(), wanted.end(),
            [](const RequestAdapter& a, const RequestAdapter& b) { return a.name < b.name; });
  AppliedAdapters applied, in_all_passes;
  for (const RequestAdapter& adapter : wanted) {
    REEL_ASSIGN_OR_RETURN(Loaded loaded, Find(adapter));
    applied.push_back(AppliedBy(adapter, std::move(loaded)));
    in_all_passes.push_back(
        {.adapter = applied.back().adapter, .scale = 1, .parts = applied.back().parts});
    const AppliedAdapters* const job = &in_all_passes;
    if (columns_.HaveRoomFor({&job, 1})) continue;
    return Refusal(adapter,
                   absl::StrCat("the model has room for ranks up to ", columns_.room().columns(),
                                " together, in steps of ", kAdapterSlot, kRegisterAsFixed));
  }
  Tidy();
  return applied;
}

absl::StatusOr<AdapterShelf::Loaded> AdapterShelf::Find(const RequestAdapter& wanted) {
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Loaded& adapter) {
    return !wanted.sha256.empty() && adapter->sha256 == wanted.sha256;
  });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return kept_.front();
  }
  REEL_ASSIGN_OR_RETURN(Loaded loaded, Upload(wanted));
  // Read without a sum, it may be one that is here.
  const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const Loaded& adapter) {
    return adapter->sha256 == loaded->sha256;
  });
  if (same != kept_.end()) return *same;
  kept_.push_front(std::move(loaded));
  return kept_.front();
}

absl::StatusOr<AdapterShelf::Loaded> AdapterShelf::Read(const RequestAdapter& wanted) const {
  const auto opened = OpenAdapter(wanted.path, wanted.sha256, family_, table_);
  if (!opened.ok()) return OfName(wanted, opened.status());
  int64_t rank = 0;
  for (const AdaptedLayer& layer : opened->layers) rank = std::max(rank, layer.product.rank());
  if (AdapterColumnsOf(rank) > columns_.room().columns()) {
    return Refusal(wanted, absl::StrCat("its rank is ", rank, ", the model has room for ",
                                        columns_.room().columns(), kRegisterAsFixed));
  }
  absl::StatusOr<Loaded> loaded = LoadAdapter(opened->layers, opened->sha256, columns_.room());
  if (!loaded.ok()) return OfName(wanted, loaded.status());
  return loaded;
}

absl::StatusOr<AdapterShelf::Loaded> AdapterShelf::Upload(const RequestAdapter& wanted) {
  const auto began = std::chrono::steady_clock::now();
  absl::StatusOr<Loaded> loaded = Read(wanted);
  const auto took = std::chrono::steady_clock::now() - began;
  counts_.nanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  ++(loaded.ok() ? counts_.uploaded : counts_.refused);
  return loaded;
}

int64_t AdapterShelf::kept_bytes() const {
  int64_t bytes = 0;
  for (const Loaded& adapter : kept_) bytes += adapter->bytes;
  return bytes;
}

void AdapterShelf::Tidy() {
  int64_t idle = 0;
  for (auto adapter = kept_.begin(); adapter != kept_.end();) {
    if (adapter->use_count() == 1) idle += (*adapter)->bytes;
    adapter =
        adapter->use_count() == 1 && idle > kMostBytes ? kept_.erase(adapter) : std::next(adapter);
  }
}

void AdapterShelf::Forget() {
  columns_.Forget();
  kept_.remove_if([](const Loaded& adapter) { return adapter.use_count() == 1; });
}

absl::StatusOr<AppliedAdapters> TakeAdapters(AdapterShelf* shelf, const GenerationSpec& spec) {
  if (shelf != nullptr) {
    REEL_ASSIGN_OR_RETURN(AppliedAdapters taken, shelf->Take(spec.adapters));
    // A refinement makes the preset's second pass alone.
    return RefinedClipOf(spec) == nullptr ? std::move(taken) : InNextPass(std::move(taken));
  }
  if (spec.adapters.empty()) return AppliedAdapters();
  return Refusal(spec.adapters.front(),
                 "the model was loaded without room for adapters of requests (adapter_ranks)");
}

at::Tensor PlaceAdapters(AdapterShelf* shelf, const AppliedAdapters& adapters) {
  if (shelf == nullptr) return {};
  const AppliedAdapters* const job = &adapters;
  return shelf->columns().Place({&job, 1});
}

}  // namespace reel::model
