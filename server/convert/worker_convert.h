// SPDX-License-Identifier: Apache-2.0
// Conversions for messages between reeld and its workers and for the configuration: for
// front/workers, worker/link and front/config. Separate from convert.h, so that rpc/ does not see
// the worker protocol.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "kernels/dispatch/plugin_source.h"
#include "model/model_card.h"
#include "model/registry.h"
#include "reel/worker/v1/worker.pb.h"

namespace reel {

// The version of worker.proto that both sides speak.
inline constexpr int kWorkerProtocol = 1;

// A worker's settings. 0 means the default, except for kernel_sample_every, where it means never.
struct WorkerSettings {
  std::vector<model::LoadOptions> models;  // in loading order
  int kernel_sample_every = 32;
  int encoder_threads = 0;
  int64_t fill_rows = 8192;
  std::vector<kernels::PluginSource> plugins;  // in opening order
  int64_t memory_bytes = 0;                    // 0: all of the device's
};

worker::v1::Configure SettingsToProto(const WorkerSettings& settings);
WorkerSettings SettingsFromProto(const worker::v1::Configure& proto);

model::Offload OffloadFromProto(const worker::v1::Offload& proto);
worker::v1::LoadModel LoadToProto(const model::LoadOptions& options);
model::LoadOptions LoadFromProto(const worker::v1::LoadModel& proto);
// Parts whose names no part has are left out.
std::vector<model::PartFile> PartsFromProto(
    const google::protobuf::RepeatedPtrField<worker::v1::PartFile>& parts);
worker::v1::WarmUp WarmUpToProto(const model::WarmUp& warm_up);
model::WarmUp WarmUpFromProto(const worker::v1::WarmUp& proto);
worker::v1::WarmUp::Size SizeToProto(const model::WarmUpSize& size);
model::WarmUpSize SizeFromProto(const worker::v1::WarmUp::Size& proto);

// Unset durations take the defaults of TestCardOptions.
worker::v1::TestCard TestCardToProto(const model::TestCardOptions& options);
model::TestCardOptions TestCardFromProto(const worker::v1::TestCard& proto);

// The whole card: v1.Model alone would lose defaults, presets and calls.
worker::v1::ModelState CardToModelState(const model::ModelCard& card);
model::ModelCard CardFromModelState(const worker::v1::ModelState& state);

// Carries an error by the name of its reason; a status without one becomes INTERNAL. Of the details
// only the metadata is kept.
worker::v1::JobError ErrorToProto(const absl::Status& error, bool suspect);
absl::Status ErrorFromProto(const worker::v1::JobError& proto);

}  // namespace reel
