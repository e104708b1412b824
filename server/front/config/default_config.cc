// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/default_config.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kernels/base/program/nearest_name.h"
#include "kernels/dispatch/device_name.h"
#include "model/bundled_model.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/address.h"
#include "server/front/config/visible_gpus.h"

namespace reel::front {
namespace {

using config::v1::ServerConfig;
using config::v1::Timing;
using google::protobuf::util::TimeUtil;

constexpr char kTestCard[] = "testcard";
constexpr int64_t kDefaultLogBytes = int64_t{8} << 30;
constexpr int kDefaultDeliverBacklog = 32;

// A folder's or file's name as a model name: "LTX-Video/" becomes "ltx-video".
std::string NameOfPath(const std::string& path) {
  std::filesystem::path p(path);
  if (p.filename().empty()) p = p.parent_path();
  std::string name = p.extension() == ".safetensors" ? p.stem() : p.filename();
  std::string legal;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool first_ok = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (first_ok || (!legal.empty() && (c == '.' || c == '_' || c == '-'))) legal += c;
  }
  return legal.empty() ? "model" : legal.substr(0, 63);
}

config::v1::Model TestCard() {
  config::v1::Model model;
  model.set_name(kTestCard);
  model.mutable_test_card();
  return model;
}

config::v1::Model Bundled(const model::BundledModel& bundled) {
  config::v1::Model model;
  model.set_name(bundled.name);
  model.set_path(bundled.path);
  model.set_dtype(bundled.dtype);
  model.set_manifest_file(bundled.manifest_file);
  return model;
}

void PutFirst(config::v1::Model model, ServerConfig& config) {
  *config.add_models() = std::move(model);
  for (int i = config.models_size() - 1; i > 0; --i)
    config.mutable_models()->SwapElements(i, i - 1);
}

// A configured name becomes the default; anything else is served beside what is configured.
std::string ApplyModel(const std::string& wanted, const Surroundings& surroundings,
                       ServerConfig& config) {
  for (int i = 0; i < config.models_size(); ++i) {
    if (config.models(i).name() != wanted) continue;
    for (; i > 0; --i) config.mutable_models()->SwapElements(i, i - 1);
    return "";
  }
  config::v1::Model model;
  std::error_code ignored;
  const auto bundled = model::FindBundledModels(surroundings.models_folder);
  const auto named = std::ranges::find(bundled, wanted, &model::BundledModel::name);
  if (wanted == kTestCard) {
    model = TestCard();
  } else if (named != bundled.end()) {
    model = Bundled(*named);
  } else if (wanted.find('/') != std::string::npos || std::filesystem::exists(wanted, ignored)) {
    model.set_name(NameOfPath(wanted));
    model.set_path(wanted);
  } else {
    // Of one more string put behind a list of one, GCC 14 warns falsely.
    std::vector<std::string> known;
    known.emplace_back(kTestCard);
    for (const auto& one : bundled) known.push_back(one.name);
    for (const auto& configured : config.models()) known.push_back(configured.name());
    const std::string nearest = NearestName(wanted, known);
    return absl::StrCat(
        "--model: neither a configured name, nor testcard, nor a folder or file: '", wanted, "'",
        nearest.empty() ? "" : absl::StrCat("; the nearest name is '", nearest, "'"));
  }
  PutFirst(std::move(model), config);
  return "";
}

// Asks before it touches: a mutable accessor sets the field.
template <typename Message>
void DefaultDuration(Message& message, bool (Message::*has)() const,
                     google::protobuf::Duration* (Message::*field)(), int64_t seconds) {
  if (!(message.*has)()) *(message.*field)() = TimeUtil::SecondsToDuration(seconds);
}

void FillTiming(bool loopback, ServerConfig& config) {
  auto& timing = *config.mutable_timing();
  DefaultDuration(timing, &Timing::has_max_timeout, &Timing::mutable_max_timeout, 30 * 60);
  if (!timing.has_default_timeout()) {
    *timing.mutable_default_timeout() =
        std::min(timing.max_timeout(), TimeUtil::SecondsToDuration(10 * 60));
  }
  DefaultDuration(timing, &Timing::has_propagation, &Timing::mutable_propagation, loopback ? 0 : 5);
  DefaultDuration(timing, &Timing::has_drain, &Timing::mutable_drain, 30);
  DefaultDuration(timing, &Timing::has_heartbeat, &Timing::mutable_heartbeat, 5);
  DefaultDuration(timing, &Timing::has_write_stall, &Timing::mutable_write_stall, 30);
}

// A legal name: "cuda0-cuda1" of "cuda:0+cuda:1", "gpu-8932f937" of a UUID.
std::string NameOfDevice(const std::string& device) {
  constexpr size_t kOfUuid = 12;
  std::vector<std::string> names;
  for (const absl::string_view member : absl::StrSplit(device, '+')) {
    const bool is_uuid = kernels::IsGpuUuid(member);
    names.push_back(absl::AsciiStrToLower(is_uuid ? member.substr(0, kOfUuid) : member));
    std::erase(names.back(), ':');
  }
  return absl::StrJoin(names, "-");
}

// "cuda:all" is a worker for each. Where there is none it stays, and is refused as a device.
void ForAllGpus(int gpus, ServerConfig& config) {
  const auto given = config.workers();
  config.clear_workers();
  for (const auto& worker : given) {
    const bool is_all = worker.device() == kAllGpus && gpus > 0;
    for (int i = 0; i < (is_all ? gpus : 1); ++i) {
      auto& one = *config.add_workers() = worker;
      if (!is_all) continue;
      one.set_device(absl::StrCat("cuda:", i));
      if (!worker.name().empty()) one.set_name(absl::StrCat(worker.name(), i));
    }
  }
}

void FillModelsAndWorkers(const Surroundings& surroundings, ServerConfig& config) {
  if (config.fleet().gateway()) return;  // it has none
  if (config.models().empty()) {
    for (const auto& bundled : model::FindBundledModels(surroundings.models_folder)) {
      *config.add_models() = Bundled(bundled);
    }
    *config.add_models() = TestCard();
  }
  if (config.workers().empty()) config.add_workers()->set_device("cpu");
  ForAllGpus(surroundings.visible_gpus, config);
  for (auto& worker : *config.mutable_workers()) {
    if (worker.name().empty()) worker.set_name(NameOfDevice(worker.device()));
    if (worker.models().empty()) {
      for (const auto& model : config.models()) worker.add_models(model.name());
    }
  }
}

// Not of an unset fleet: setting a field would make one.
void FillFleet(const Surroundings& surroundings, ServerConfig& config) {
  using config::v1::Fleet;
  if (!config.has_fleet()) return;
  Fleet& fleet = *config.mutable_fleet();
  if (fleet.node().empty()) fleet.set_node(surroundings.host_name);
  if (fleet.advertise().empty()) {
    fleet.set_advertise(fleet.listen().empty() ? config.listen() : fleet.listen());
  }
  DefaultDuration(fleet, &Fleet::has_beat, &Fleet::mutable_beat, 1);
  DefaultDuration(fleet, &Fleet::has_silence, &Fleet::mutable_silence, 5);
  DefaultDuration(fleet, &Fleet::has_lease, &Fleet::mutable_lease, 15);
  DefaultDuration(fleet, &Fleet::has_max_clock_skew, &Fleet::mutable_max_clock_skew, 5);
  config::v1::Nats& nats = *fleet.mutable_nats();
  if (nats.replicas() == 0) nats.set_replicas(1);
  if (nats.max_bytes() == 0) nats.set_max_bytes(kDefaultLogBytes);
  if (!fleet.has_objects()) return;
  config::v1::Objects& objects = *fleet.mutable_objects();
  if (objects.region().empty()) objects.set_region("us-east-1");
  if (objects.deliver_backlog() == 0) objects.set_deliver_backlog(kDefaultDeliverBacklog);
}

}  // namespace

std::vector<std::string> ApplyFlags(const Flags& flags, const Surroundings& surroundings,
                                    ServerConfig& config) {
  std::vector<std::string> problems;
  if (!flags.listen.empty()) config.set_listen(flags.listen);
  if (!flags.metrics.empty()) config.set_metrics_listen(flags.metrics);
  if (!flags.http.empty()) config.mutable_http()->set_listen(flags.http);
  if (!flags.data_dir.empty()) config.mutable_data()->set_folder(flags.data_dir);
  if (!flags.log.empty()) config.mutable_telemetry()->set_log_level(flags.log);
  if (!flags.model.empty()) {
    std::string problem = ApplyModel(flags.model, surroundings, config);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  if (!flags.devices.empty()) {
    config.clear_workers();
    const std::vector<std::string> devices = absl::StrSplit(flags.devices, ',');
    for (const std::string& device : devices) config.add_workers()->set_device(device);
  }
  return problems;
}

void FillDefaults(const Surroundings& surroundings, ServerConfig& config) {
  if (config.listen().empty()) config.set_listen("127.0.0.1:50051");
  if (config.metrics_listen().empty()) config.set_metrics_listen("127.0.0.1:9464");
  auto& data = *config.mutable_data();
  if (data.folder().empty() && !surroundings.xdg_state_home.empty()) {
    data.set_folder(surroundings.xdg_state_home + "/reel");
  } else if (data.folder().empty() && !surroundings.home.empty()) {
    data.set_folder(surroundings.home + "/.local/state/reel");
  }
  DefaultDuration(data, &config::v1::Data::has_keep, &config::v1::Data::mutable_keep, 24 * 3600);
  FillModelsAndWorkers(surroundings, config);
  for (auto& profile : *config.mutable_kernel_profiles()) {
    if (profile.base().empty()) profile.set_base("auto");
  }
  if (config.has_auth()) {
    for (auto& tenant : *config.mutable_auth()->mutable_tenants()) {
      if (tenant.weight() == 0) tenant.set_weight(1);
      if (tenant.max_jobs() == 0) tenant.set_max_jobs(256);
    }
  }
  auto& scheduler = *config.mutable_scheduler();
  if (scheduler.max_backlog_seconds() == 0) scheduler.set_max_backlog_seconds(120);
  if (scheduler.max_queued_jobs() == 0) scheduler.set_max_queued_jobs(1000);
  if (scheduler.fill_rows() == 0) scheduler.set_fill_rows(8192);
  if (scheduler.order().empty()) scheduler.set_order("steps");
  const auto listen = ParseAddress(config.listen());
  FillTiming(listen.ok() && listen->loopback(), config);
  FillFleet(surroundings, config);
  auto& telemetry = *config.mutable_telemetry();
  if (telemetry.log_level().empty()) telemetry.set_log_level("info");
  if (telemetry.kernel_sample_every() == 0) telemetry.set_kernel_sample_every(32);
  const bool traces = !telemetry.otlp_endpoint().empty();
  if (traces && telemetry.trace_share() == 0) telemetry.set_trace_share(1);
}

}  // namespace reel::front
