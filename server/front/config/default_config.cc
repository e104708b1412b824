// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/default_config.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kernels/base/program/flag_spelling.h"
#include "kernels/base/program/nearest_name.h"
#include "kernels/dispatch/device_name.h"
#include "model/bundled_model.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/address.h"
#include "server/front/config/field_rules.h"
#include <CLI/CLI.hpp>

namespace reel::front {
namespace {

void Declare(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config_file, "Configuration file (protobuf text format)");
  app.add_flag("--check_config", flags.check_config,
               "Check the configuration, print every problem, and exit");
  app.add_flag("--version", flags.version, "Print the version and exit");
  const auto with_default = [](const char* text, const char* field) {
    return absl::StrCat(text, " [", DefaultText(config::v1::ServerConfig(), field), "]");
  };
  app.add_option("--listen", flags.listen, with_default("gRPC address", "listen"));
  app.add_option("--metrics", flags.metrics, with_default("Metrics and probes", "metrics_listen"));
  app.add_option("--http", flags.http, "HTTP: JSON, events and media [none]");
  app.add_option("--data_dir", flags.data_dir, "Where videos are stored [the user's state folder]");
  app.add_option("--model", flags.model,
                 "Default model: a configured name, testcard, or a folder or checkpoint file");
  app.add_option(
      "--devices", flags.devices,
      "One worker each, e.g. cpu, cuda:0,cuda:1, a UUID of nvidia-smi -L, or cuda:all; one for two "
      "to four GPUs: cuda:0+cuda:1 [all GPUs, else cpu]");
  app.add_option("--log", flags.log, "debug, info, warning or error");
  app.add_option("--worker_binary", flags.worker_binary, "[reel-worker beside reeld]");
  app.add_option("--port_file", flags.port_file,
                 "Write the bound addresses to this file once serving");
}

}  // namespace

ParsedFlags ParseFlags(const std::vector<std::string>& arguments) {
  ParsedFlags parsed;
  CLI::App app("Renders videos from text and streams them over gRPC and HTTP.", "reeld");
  Declare(app, parsed.flags);
  std::vector<std::string> reversed = WithFlagsSpelt('_', arguments);
  std::reverse(reversed.begin(), reversed.end());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    // CLI11 tells by exceptions what it found; they end here.
    std::ostringstream text;
    const int code = app.exit(error, text, text);
    parsed.exit_code = code == 0 ? 0 : 2;
    parsed.output = text.str();
  }
  return parsed;
}

namespace {

int NumberOfGpus(const std::string& devices) {
  int count = 0;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(devices, error)) {
    const std::string name = file.path().filename();
    const absl::string_view number =
        absl::StartsWith(name, "nvidia") ? absl::string_view(name).substr(6) : "";
    count += !number.empty() && std::all_of(number.begin(), number.end(),
                                            [](char c) { return absl::ascii_isdigit(c); });
  }
  return count;
}

}  // namespace

int VisibleGpus(const std::string& devices, std::optional<absl::string_view> chosen) {
  const int there = NumberOfGpus(devices);
  if (!chosen) return there;
  int count = 0;
  for (const absl::string_view one : absl::StrSplit(*chosen, ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(one);
    int number = -1;
    const bool is_number = absl::SimpleAtoi(name, &number) && number >= 0 && number < there;
    if (!is_number && !absl::StartsWith(name, "GPU-") && !absl::StartsWith(name, "MIG-")) break;
    ++count;
    // Of slices a process sees one.
    if (absl::StartsWith(name, "MIG-")) break;
  }
  return std::min(count, there);
}

namespace {

using config::v1::ServerConfig;
using config::v1::Timing;

constexpr char kTestCard[] = "testcard";
constexpr char kNoDoor[] = "-";
constexpr int kStreamsPerTenant = 64;
// For balancers to notice that a server drains.
constexpr int kPropagationSeconds = 5;

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

// Before the fields' defaults: a timeout that nobody has set stays below the longest.
void BoundDefaultTimeout(Timing& timing) {
  if (timing.has_default_timeout() || !timing.has_max_timeout()) return;
  Timing usual;
  FillFieldDefaults(usual);
  *timing.mutable_default_timeout() = std::min(usual.default_timeout(), timing.max_timeout());
}

// A legal name: "cuda0-cuda1" of "cuda:0+cuda:1", "gpu-8932f937" of a UUID. A device that is
// refused gives the number, so that its name is no further problem.
std::string NameOfDevice(const std::string& device, int number) {
  constexpr size_t kOfUuid = 12;
  if (!kernels::OwnDevicesOf(device).ok()) return absl::StrCat("worker", number);
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

// All GPUs that can be used, where this build has kernels for them.
std::string BestDevice(const Surroundings& surroundings) {
  std::error_code ignored;
  const bool has_kernels = std::filesystem::exists(surroundings.cuda_library, ignored);
  return has_kernels && surroundings.visible_gpus > 0 ? kAllGpus : "cpu";
}

void FillModelsAndWorkers(const Surroundings& surroundings, ServerConfig& config) {
  if (config.fleet().gateway()) return;  // it has none
  if (config.models().empty()) {
    for (const auto& bundled : model::FindBundledModels(surroundings.models_folder)) {
      *config.add_models() = Bundled(bundled);
    }
    *config.add_models() = TestCard();
  }
  if (config.workers().empty()) config.add_workers()->set_device(BestDevice(surroundings));
  ForAllGpus(surroundings.visible_gpus, config);
  int number = 0;
  for (auto& worker : *config.mutable_workers()) {
    if (worker.name().empty()) worker.set_name(NameOfDevice(worker.device(), number));
    ++number;
    if (worker.models().empty()) {
      for (const auto& model : config.models()) worker.add_models(model.name());
    }
  }
}

// What depends on the listener and on tokens.
void FillDoor(ServerConfig& config) {
  if (!config.has_http()) return;
  config::v1::Http& http = *config.mutable_http();
  if (http.listen() == kNoDoor) http.clear_listen();
  if (!http.has_tls() && !http.listen().empty()) {
    const bool is_certified = !config.tls().certificate_file().empty();
    http.set_tls(is_certified && !AddressOf(http.listen()).loopback());
  }
  // Without tokens all callers are one tenant, and a bound would let one of them shut the others
  // out.
  if (http.max_streams_per_tenant() == 0 && !config.auth().tokens_file().empty()) {
    http.set_max_streams_per_tenant(kStreamsPerTenant);
  }
}

void FillFleet(const Surroundings& surroundings, ServerConfig& config) {
  if (!config.has_fleet()) return;
  config::v1::Fleet& fleet = *config.mutable_fleet();
  if (fleet.node().empty()) fleet.set_node(surroundings.host_name);
  if (!fleet.advertise().empty()) return;
  fleet.set_advertise(fleet.listen().empty() ? config.listen() : fleet.listen());
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
  FillModelsAndWorkers(surroundings, config);
  BoundDefaultTimeout(*config.mutable_timing());
  FillFieldDefaults(config);
  FillDoor(config);
  auto& data = *config.mutable_data();
  if (data.folder().empty() && !surroundings.xdg_state_home.empty()) {
    data.set_folder(surroundings.xdg_state_home + "/reel");
  } else if (data.folder().empty() && !surroundings.home.empty()) {
    data.set_folder(surroundings.home + "/.local/state/reel");
  }
  const bool is_loopback = AddressOf(config.listen()).loopback();
  if (is_loopback) config.set_reflection(true);
  if (!config.timing().has_propagation()) {
    config.mutable_timing()->mutable_propagation()->set_seconds(is_loopback ? 0
                                                                            : kPropagationSeconds);
  }
  FillFleet(surroundings, config);
  auto& telemetry = *config.mutable_telemetry();
  const bool traces = !telemetry.otlp_endpoint().empty();
  if (traces && telemetry.trace_share() == 0) telemetry.set_trace_share(1);
}

}  // namespace reel::front
