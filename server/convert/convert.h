// SPDX-License-Identifier: Apache-2.0
// Converts messages to values and back, for the front's rpc/ and workers/ and the worker's link/.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "kernels/dispatch/kernel_listing.h"
#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/run_stats.h"
#include "reel/v1/server_service.pb.h"
#include "reel/v1/video.pb.h"

namespace reel {

// A message cannot be malformed beyond what Resolve checks, except for enum values: unknown ones
// become kUnspecified. If a condition's bytes are there, its size, type and hash are computed from
// them. `with_bytes`: conditions carry their bytes; otherwise only kind, size, type and hash.
model::GenerationSpec SpecFromProto(const v1::VideoSpec& proto);
v1::VideoSpec SpecToProto(const model::GenerationSpec& spec, bool with_bytes = false);

// The part of a card that clients see; the caller gives `is_default` and `ready`.
v1::Model CardToProto(const model::ModelCard& card);
// Reads what a v1.Model holds, without defaults, presets and calls (CardFromModelState of
// worker_convert.h has those).
model::ModelCard CardFromProto(const v1::Model& proto);

v1::RunStats StatsToProto(const model::RunStats& stats);
model::RunStats StatsFromProto(const v1::RunStats& proto);
v1::KernelStat KernelStatToProto(const kernels::VariantTime& time);
kernels::VariantTime KernelStatFromProto(const v1::KernelStat& proto);
v1::MediaInfo MediaToProto(const model::MediaInfo& media);
model::MediaInfo MediaFromProto(const v1::MediaInfo& proto);
v1::Notice NoticeToProto(const model::Notice& notice);
model::Notice NoticeFromProto(const v1::Notice& proto);
v1::Stage StageToProto(model::Stage stage);
model::Stage StageFromProto(v1::Stage stage);

// The operators of one process; `worker` names it in the support entries.
v1::KernelOp ListingToProto(const kernels::OpListing& op, const std::string& worker);
kernels::OpListing ListingFromProto(const v1::KernelOp& proto);
v1::KernelPlugin PluginToProto(const kernels::PluginListing& plugin, const std::string& worker);
kernels::PluginListing PluginFromProto(const v1::KernelPlugin& proto);

}  // namespace reel
