// SPDX-License-Identifier: Apache-2.0
#include "server/convert/worker_convert.h"

#include <string>
#include <string_view>

#include "absl/strings/cord.h"
#include "google/rpc/error_details.pb.h"
#include "server/convert/convert.h"
#include "server/convert/field_convert.h"
#include "server/convert/proto_duration.h"
#include "server/errors/error.h"

namespace reel {
namespace {

using model::operator""_field;

template <typename Visitor, typename MemoryCosts>
void VisitMemory(Visitor& visit, MemoryCosts& costs) {
  visit("job"_field, costs.job);
  visit("token"_field, costs.token);
  visit("step_row"_field, costs.step_row);
  visit("clip_pixel"_field, costs.clip_pixel);
  visit("decode_pixel"_field, costs.decode_pixel);
  visit("decode_pixels_at_once"_field, costs.decode_pixels_at_once);
  visit("frame_pixel"_field, costs.frame_pixel);
  visit("rows_at_once"_field, costs.rows_at_once);
  visit("encode_pixel"_field, costs.encode_pixel);
  visit("upsample_token"_field, costs.upsample_token);
}

worker::v1::Pass PassToProto(const model::Pass& pass) {
  worker::v1::Pass proto;
  proto.set_steps(pass.steps);
  proto.set_by_strength(pass.by_strength);
  proto.set_sides_numerator(pass.sides.numerator);
  proto.set_sides_denominator(pass.sides.denominator);
  proto.set_guided(pass.guided);
  proto.set_extra_rows(pass.extra_rows);
  proto.mutable_timesteps()->Add(pass.timesteps.begin(), pass.timesteps.end());
  return proto;
}

model::Pass PassFromProto(const worker::v1::Pass& proto) {
  return {.steps = proto.steps(),
          .by_strength = proto.by_strength(),
          .sides = {.numerator = proto.sides_numerator(), .denominator = proto.sides_denominator()},
          .guided = proto.guided(),
          .extra_rows = proto.extra_rows(),
          .timesteps = {proto.timesteps().begin(), proto.timesteps().end()}};
}

std::vector<model::FixedAdapter> AdaptersFromProto(
    const google::protobuf::RepeatedPtrField<worker::v1::FixedAdapter>& adapters) {
  std::vector<model::FixedAdapter> out;
  for (const worker::v1::FixedAdapter& adapter : adapters) {
    out.push_back({.name = adapter.name(),
                   .path = adapter.path(),
                   .scale = adapter.scale(),
                   .sha256 = adapter.sha256()});
  }
  return out;
}

}  // namespace

worker::v1::Configure SettingsToProto(const WorkerSettings& settings) {
  worker::v1::Configure proto;
  for (const model::LoadOptions& load : settings.models) *proto.add_models() = LoadToProto(load);
  proto.set_kernel_sample_every(settings.kernel_sample_every);
  proto.set_encoder_threads(settings.encoder_threads);
  proto.set_fill_rows(settings.fill_rows);
  proto.set_memory_bytes(settings.memory_bytes);
  for (const kernels::PluginSource& plugin : settings.plugins) {
    worker::v1::Plugin& added = *proto.add_plugins();
    added.set_name(plugin.name);
    added.set_root(plugin.root);
    added.set_folder(plugin.folder);
    added.set_sha256(plugin.sha256);
  }
  return proto;
}

WorkerSettings SettingsFromProto(const worker::v1::Configure& proto) {
  WorkerSettings settings;
  for (const worker::v1::LoadModel& load : proto.models()) {
    settings.models.push_back(LoadFromProto(load));
  }
  settings.kernel_sample_every = proto.kernel_sample_every();
  if (proto.encoder_threads() > 0) settings.encoder_threads = proto.encoder_threads();
  if (proto.fill_rows() > 0) settings.fill_rows = proto.fill_rows();
  for (const worker::v1::Plugin& plugin : proto.plugins()) {
    settings.plugins.push_back({.name = plugin.name(),
                                .root = plugin.root(),
                                .folder = plugin.folder(),
                                .sha256 = plugin.sha256()});
  }
  settings.memory_bytes = proto.memory_bytes();
  return settings;
}

std::vector<model::PartFile> PartsFromProto(
    const google::protobuf::RepeatedPtrField<worker::v1::PartFile>& parts) {
  std::vector<model::PartFile> files;
  for (const worker::v1::PartFile& part : parts) {
    // Names were checked with the configuration.
    const auto named = model::PartNamed(part.part());
    if (named.has_value()) files.push_back({*named, part.path()});
  }
  return files;
}

worker::v1::Offload OffloadToProto(const model::Offload& offload) {
  worker::v1::Offload proto;
  if (offload.text == model::Place::kDevice) proto.set_text("device");
  if (offload.text == model::Place::kHost) proto.set_text("host");
  if (offload.resident_blocks) proto.set_resident_blocks(*offload.resident_blocks);
  return proto;
}

model::Offload OffloadFromProto(const worker::v1::Offload& proto) {
  model::Offload offload;
  // Other texts were refused with the configuration.
  if (proto.text() == "device") offload.text = model::Place::kDevice;
  if (proto.text() == "host") offload.text = model::Place::kHost;
  if (proto.has_resident_blocks()) offload.resident_blocks = proto.resident_blocks();
  return offload;
}

worker::v1::LoadModel LoadToProto(const model::LoadOptions& options) {
  worker::v1::LoadModel proto;
  proto.set_model(options.name);
  proto.set_path(options.path);
  proto.set_dtype(options.dtype);
  proto.set_manifest_file(options.manifest_file);
  proto.set_text_folder(options.text_folder);
  *proto.mutable_warm_up() = WarmUpToProto(options.warm_up);
  proto.set_on_demand(options.on_demand);
  for (const model::PartFile& file : options.parts) {
    worker::v1::PartFile& part = *proto.add_parts();
    part.set_part(std::string(NameOf(file.part)));
    part.set_path(file.path);
  }
  for (const model::FixedAdapter& adapter : options.adapters) {
    worker::v1::FixedAdapter& added = *proto.add_adapters();
    added.set_name(adapter.name);
    added.set_path(adapter.path);
    added.set_scale(adapter.scale);
    added.set_sha256(adapter.sha256);
  }
  if (options.offload != model::Offload()) {
    *proto.mutable_offload() = OffloadToProto(options.offload);
  }
  proto.set_weights_form(std::string(model::NameOf(options.weights_form)));
  proto.set_text_form(std::string(model::NameOf(options.text_form)));
  proto.set_decoder(options.decoder);
  proto.set_adapter_ranks(options.adapter_ranks);
  if (options.random_weights) proto.mutable_random_weights()->set_seed(*options.random_weights);
  if (options.path.empty()) *proto.mutable_test_card() = TestCardToProto(options.test_card);
  return proto;
}

model::LoadOptions LoadFromProto(const worker::v1::LoadModel& proto) {
  return {.name = proto.model(),
          .path = proto.path(),
          .dtype = proto.dtype(),
          .test_card = TestCardFromProto(proto.test_card()),
          .text_folder = proto.text_folder(),
          .parts = PartsFromProto(proto.parts()),
          .adapters = AdaptersFromProto(proto.adapters()),
          .adapter_ranks = proto.adapter_ranks(),
          .manifest_file = proto.manifest_file(),
          .random_weights = proto.has_random_weights()
                                ? std::optional(proto.random_weights().seed())
                                : std::nullopt,
          .warm_up = WarmUpFromProto(proto.warm_up()),
          .offload = OffloadFromProto(proto.offload()),
          .weights_form = model::WeightsFormNamed(proto.weights_form()),
          .text_form = model::WeightsFormNamed(proto.text_form()),
          .decoder = proto.decoder(),
          .on_demand = proto.on_demand()};
}

worker::v1::WarmUp WarmUpToProto(const model::WarmUp& warm_up) {
  worker::v1::WarmUp proto;
  proto.set_off(warm_up.off);
  for (const model::WarmUpSize& size : warm_up.sizes) *proto.add_sizes() = SizeToProto(size);
  return proto;
}

model::WarmUp WarmUpFromProto(const worker::v1::WarmUp& proto) {
  model::WarmUp warm_up;
  warm_up.off = proto.off();
  for (const worker::v1::WarmUp::Size& size : proto.sizes()) {
    warm_up.sizes.push_back(SizeFromProto(size));
  }
  return warm_up;
}

worker::v1::WarmUp::Size SizeToProto(const model::WarmUpSize& size) {
  worker::v1::WarmUp::Size proto;
  proto.set_width(size.width);
  proto.set_height(size.height);
  proto.set_num_frames(size.num_frames);
  return proto;
}

model::WarmUpSize SizeFromProto(const worker::v1::WarmUp::Size& proto) {
  return {proto.width(), proto.height(), proto.num_frames()};
}

worker::v1::TestCard TestCardToProto(const model::TestCardOptions& options) {
  worker::v1::TestCard proto;
  SetProtoDuration(*proto.mutable_step_time(), options.step_time);
  SetProtoDuration(*proto.mutable_step_time_per_extra_job(), options.step_time_per_extra_job);
  SetProtoDuration(*proto.mutable_decode_time_per_frame(), options.decode_time_per_frame);
  SetProtoDuration(*proto.mutable_load_time(), options.load_time);
  for (const model::TestCardFault& fault : options.faults) {
    worker::v1::Fault& added = *proto.add_faults();
    added.set_kind(fault.kind);
    added.set_step(fault.step);
    added.set_prompt_contains(fault.prompt_contains);
    added.set_times(fault.times);
  }
  worker::v1::TestCardMemory& memory = *proto.mutable_memory();
  memory.set_weights(options.memory.weights);
  memory.set_per_token(options.memory.per_token);
  memory.set_per_step_row(options.memory.per_step_row);
  memory.set_per_decoded_pixel(options.memory.per_decoded_pixel);
  memory.set_untold_per_token(options.memory.untold_per_token);
  memory.set_kept_per_video(options.memory.kept_per_video);
  proto.set_sound(options.sound);
  proto.set_pictures(options.pictures);
  return proto;
}

model::TestCardOptions TestCardFromProto(const worker::v1::TestCard& proto) {
  model::TestCardOptions options;
  if (proto.has_step_time()) options.step_time = FromProtoDuration(proto.step_time());
  if (proto.has_step_time_per_extra_job()) {
    options.step_time_per_extra_job = FromProtoDuration(proto.step_time_per_extra_job());
  }
  if (proto.has_decode_time_per_frame()) {
    options.decode_time_per_frame = FromProtoDuration(proto.decode_time_per_frame());
  }
  if (proto.has_load_time()) options.load_time = FromProtoDuration(proto.load_time());
  for (const worker::v1::Fault& fault : proto.faults()) {
    options.faults.push_back({.kind = fault.kind(),
                              .step = fault.step(),
                              .prompt_contains = fault.prompt_contains(),
                              .times = fault.times()});
  }
  const worker::v1::TestCardMemory& memory = proto.memory();
  options.memory = {.weights = memory.weights(),
                    .per_token = memory.per_token(),
                    .per_step_row = memory.per_step_row(),
                    .per_decoded_pixel = memory.per_decoded_pixel(),
                    .untold_per_token = memory.untold_per_token(),
                    .kept_per_video = memory.kept_per_video()};
  options.sound = proto.sound();
  options.pictures = proto.pictures();
  return options;
}

worker::v1::ModelState CardToModelState(const model::ModelCard& card) {
  worker::v1::ModelState state;
  state.set_model(card.name);
  *state.mutable_card() = CardToProto(card);
  for (const kernels::KernelCall& call : card.calls) {
    worker::v1::KernelCall& added = *state.add_calls();
    added.set_op(call.op);
    added.set_dtype(call.dtype);
    added.set_width(call.width);
  }
  *state.mutable_defaults() = SpecToProto(card.defaults);
  state.set_steps_alone(card.steps_alone);
  state.set_takes_references(card.takes_references);
  if (card.memory != model::MemoryCosts()) {
    MessageWriter write_memory(*state.mutable_memory());
    VisitMemory(write_memory, card.memory);
  }
  for (const model::Preset& preset : card.presets) {
    worker::v1::Preset& added = *state.add_presets();
    added.set_name(preset.name);
    *added.mutable_values() = SpecToProto(preset.values);
    for (const model::Pass& pass : preset.passes) *added.add_passes() = PassToProto(pass);
  }
  return state;
}

model::ModelCard CardFromModelState(const worker::v1::ModelState& state) {
  model::ModelCard card = CardFromProto(state.card());
  card.defaults = SpecFromProto(state.defaults());
  card.steps_alone = state.steps_alone();
  card.takes_references = state.takes_references();
  MessageReader read_memory(state.memory());
  VisitMemory(read_memory, card.memory);
  for (const worker::v1::Preset& preset : state.presets()) {
    model::Preset& added = card.presets.emplace_back();
    added.name = preset.name();
    added.values = SpecFromProto(preset.values());
    for (const worker::v1::Pass& pass : preset.passes()) {
      added.passes.push_back(PassFromProto(pass));
    }
  }
  for (const worker::v1::KernelCall& call : state.calls()) {
    card.calls.push_back({.op = call.op(), .dtype = call.dtype(), .width = call.width()});
  }
  return card;
}

worker::v1::JobError ErrorToProto(const absl::Status& error, bool suspect) {
  const ReasonRow& row = Describe(ReasonOf(error).value_or(Reason::kInternal));
  worker::v1::JobError proto;
  proto.set_code(static_cast<int>(row.code));
  proto.set_reason(std::string(row.name));
  proto.set_message(std::string(error.message().data(), error.message().size()));
  proto.set_job_is_suspect(suspect);
  google::rpc::ErrorInfo info;
  const auto payload = error.GetPayload("type.googleapis.com/google.rpc.ErrorInfo");
  if (payload && info.ParseFromString(std::string(*payload))) {
    for (const auto& [key, value] : info.metadata()) {
      (*proto.mutable_metadata()->mutable_fields())[key].set_string_value(value);
    }
  }
  return proto;
}

absl::Status ErrorFromProto(const worker::v1::JobError& proto) {
  ErrorDetails details;
  for (const auto& [key, value] : proto.metadata().fields()) {
    details.metadata[key] = value.string_value();
  }
  return MakeError(ReasonFromName(proto.reason()), proto.message(), details);
}

}  // namespace reel
