// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/server_options.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/dispatch/device_name.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "reel/config/v1/config.pb.h"
#include "server/convert/proto_duration.h"
#include "server/convert/worker_convert.h"
#include "server/front/config/experiment_options.h"
#include "server/front/config/field_rules.h"
#include "server/front/config/fleet_options.h"
#include "server/front/config/option_reader.h"
#include "server/front/config/plugin_options.h"
#include "server/front/config/visible_gpus.h"

namespace reel::front {
namespace {

namespace pb = config::v1;

// Who calls where there are no tokens.
constexpr char kOnlyTenant[] = "default";
constexpr int kMaxWarmUps = 16;
constexpr int kStreamsPerTenant = 64;
constexpr int kNeverSampled = -1;

using Reader = OptionReader;

std::string At(const char* list, int index, const char* field) {
  return absl::StrCat(list, "[", index, "].", field);
}

AuthOptions ReadAuth(const pb::Auth& auth, Reader& reader) {
  AuthOptions out;
  out.tokens_file = auth.tokens_file();
  for (int i = 0; i < auth.tenants_size(); ++i) {
    const pb::Tenant& tenant = auth.tenants(i);
    if (out.tokens_file.empty() && tenant.name() != kOnlyTenant) {
      reader.Problem(At("auth.tenants", i, "name"),
                     absl::StrCat("needs auth.tokens_file: without it every caller is the tenant '",
                                  kOnlyTenant, "', with the role admin: '", tenant.name(), "'"));
    }
    out.tenants.push_back({tenant.name(), tenant.weight(), tenant.max_jobs(),
                           tenant.device_seconds_per_hour(), tenant.max_stored_bytes(),
                           tenant.max_queued_device_seconds()});
  }
  return out;
}

void CheckTestCard(const std::string& key, const worker::v1::TestCard& card, Reader& reader) {
  for (int i = 0; i < card.faults_size(); ++i) {
    reader.OneOf(absl::StrCat(key, ".faults[", i, "].kind"), card.faults(i).kind(),
                 {"hang", "exit", "nan", "oom", "sticky", "lost"});
  }
}

// What only weights have.
void CheckWithoutWeights(int index, const pb::Model& model, Reader& reader) {
  const auto check = [&](const char* field, const std::string& value) {
    if (value.empty()) return;
    reader.Problem(At("models", index, field), "the test card has no weights; leave it out");
  };
  check("dtype", model.dtype());
  check("manifest_file", model.manifest_file());
  check("text_folder", model.text_folder());
  if (model.has_random_weights()) check("random_weights", "set");
  if (model.parts_size() > 0) check("parts", "set");
}

// How large a video may be is the model's to say, when it is loaded.
model::WarmUp ReadWarmUp(const std::string& key, const worker::v1::WarmUp& warm_up,
                         Reader& reader) {
  if (warm_up.off() && warm_up.sizes_size() > 0) {
    reader.Problem(key, "has sizes and is off; leave one of them out");
  }
  if (warm_up.sizes_size() > kMaxWarmUps) {
    reader.Problem(absl::StrCat(key, ".sizes"),
                   absl::StrCat(warm_up.sizes_size(), " are too many: at most ", kMaxWarmUps));
  }
  return WarmUpFromProto(warm_up);
}

std::vector<model::PartFile> ReadParts(int index, const pb::Model& model, Reader& reader) {
  std::set<std::string> named;
  for (int i = 0; i < model.parts_size(); ++i) {
    const worker::v1::PartFile& file = model.parts(i);
    const std::string key = absl::StrCat(At("models", index, "parts"), "[", i, "]");
    if (!model::PartNamed(file.part()).has_value()) {
      reader.Problem(key + ".part",
                     absl::StrCat("unknown part \"", file.part(), "\": ", model::PartNames()));
    } else if (!named.insert(file.part()).second) {
      reader.Problem(key + ".part", absl::StrCat("two files bring \"", file.part(), "\""));
    }
    if (file.path().empty()) reader.Problem(key + ".path", "is missing");
  }
  if (model.has_path() && model.has_random_weights() && model.parts_size() > 0) {
    reader.Problem(At("models", index, "parts"),
                   "random weights read no files; leave out one of the two");
  }
  return PartsFromProto(model.parts());
}

std::vector<model::LoadOptions> ReadModels(const pb::ServerConfig& config, Reader& reader) {
  std::vector<model::LoadOptions> out;
  for (int i = 0; i < config.models_size(); ++i) {
    const pb::Model& model = config.models(i);
    model::LoadOptions options{model.name(), model.path(), model.dtype(), {}};
    options.manifest_file = model.manifest_file();
    options.text_folder = model.text_folder();
    options.parts = ReadParts(i, model, reader);
    options.warm_up = ReadWarmUp(At("models", i, "warm_up"), model.warm_up(), reader);
    options.on_demand = model.on_demand();
    if (model.has_random_weights()) options.random_weights = model.random_weights().seed();
    if (model.has_test_card()) {
      CheckTestCard(At("models", i, "test_card"), model.test_card(), reader);
      CheckWithoutWeights(i, model, reader);
      options.test_card = TestCardFromProto(model.test_card());
    } else if (model.path().empty()) {
      reader.Problem(absl::StrCat("models[", i, "]"), "needs either path or test_card");
    } else if (model.has_random_weights() && !model.manifest_file().empty()) {
      reader.Problem(At("models", i, "manifest_file"),
                     "random weights are in no manifest; leave out one of the two");
    }
    out.push_back(std::move(options));
  }
  return out;
}

std::vector<ConfiguredWorker> ReadWorkers(const pb::ServerConfig& config, Reader& reader) {
  std::vector<std::string> models;
  for (const pb::Model& model : config.models()) models.push_back(model.name());
  std::vector<ConfiguredWorker> out;
  for (int i = 0; i < config.workers_size(); ++i) {
    const pb::Worker& worker = config.workers(i);
    const absl::Status device = kernels::OwnDevicesOf(worker.device()).status();
    if (worker.device() == kAllGpus) {
      reader.Problem(At("workers", i, "device"), "cuda:all, and no GPU can be seen here");
    } else if (!device.ok()) {
      reader.Problem(At("workers", i, "device"), std::string(device.message()));
    }
    for (const std::string& model : worker.models()) {
      reader.OneOf(At("workers", i, "models"), model, models);
    }
    out.push_back({worker.name(),
                   worker.device(),
                   {worker.models().begin(), worker.models().end()},
                   worker.memory_bytes()});
  }
  return out;
}

// The profile that another one starts from, written out: a built-in one, and single variants.
void StartFrom(const std::vector<ConfiguredProfile>& before, ConfiguredProfile& profile) {
  for (const ConfiguredProfile& base : before) {
    if (base.name != profile.base) continue;
    profile.base = base.base;
    // Its own variants win.
    profile.variants.insert(base.variants.begin(), base.variants.end());
    return;
  }
}

std::vector<ConfiguredProfile> ReadProfiles(const pb::ServerConfig& config, Reader& reader) {
  std::vector<std::string> known = kernels::BuiltInProfiles();
  const std::set<std::string> built_in(known.begin(), known.end());
  std::vector<ConfiguredProfile> out;
  for (int i = 0; i < config.kernel_profiles_size(); ++i) {
    const pb::KernelProfile& profile = config.kernel_profiles(i);
    if (built_in.contains(profile.name())) {
      reader.Problem(At("kernel_profiles", i, "name"),
                     absl::StrCat("is a built-in profile: '", profile.name(), "'"));
    }
    // Only what stands before it can be a base, so that there are no circles.
    reader.OneOf(At("kernel_profiles", i, "base"), profile.base(), known);
    known.push_back(profile.name());
    ConfiguredProfile read = {
        profile.name(), profile.base(), {profile.variants().begin(), profile.variants().end()}};
    StartFrom(out, read);
    out.push_back(std::move(read));
  }
  return out;
}

void ReadTiming(const pb::Timing& timing, Reader& reader, TimingOptions& out) {
  out.default_timeout = FromProtoDuration(timing.default_timeout());
  out.max_timeout = FromProtoDuration(timing.max_timeout());
  out.propagation = FromProtoDuration(timing.propagation());
  out.drain = FromProtoDuration(timing.drain());
  out.heartbeat = FromProtoDuration(timing.heartbeat());
  out.write_stall = FromProtoDuration(timing.write_stall());
  if (out.default_timeout > out.max_timeout) {
    reader.Problem(
        "timing.default_timeout",
        absl::StrCat("must be at most max_timeout (", absl::FormatDuration(out.max_timeout),
                     "): ", absl::FormatDuration(out.default_timeout)));
  }
}

SchedulerOptions ReadScheduler(const pb::Scheduler& scheduler) {
  return {scheduler.max_backlog_seconds(), scheduler.max_queued_jobs(), scheduler.fill_rows(),
          scheduler.order() == "fifo"};
}

void ReadTraces(const pb::Telemetry& telemetry, Reader& reader, TelemetryOptions& out) {
  out.trace_share = telemetry.trace_share();
  if (telemetry.otlp_endpoint().empty()) {
    if (out.trace_share != 0) reader.Problem("telemetry.trace_share", "needs otlp_endpoint");
    return;
  }
  auto collector = ParseCollectorAddress(telemetry.otlp_endpoint());
  if (collector.ok()) out.collector = *std::move(collector);
}

void ReadTelemetry(const pb::Telemetry& telemetry, Reader& reader, TelemetryOptions& out) {
  out.log_level = telemetry.log_level();
  out.log_format = telemetry.log_format();
  // 0 is unset in the configuration, and none for a worker.
  const int every = telemetry.kernel_sample_every();
  out.kernel_sample_every = every == kNeverSampled ? 0 : every;
  ReadTraces(telemetry, reader, out);
}

void ReadHttp(const pb::ServerConfig& config, Reader& reader, HttpOptions& out) {
  const pb::Http& http = config.http();
  out.hosts = {http.hosts().begin(), http.hosts().end()};
  out.allow_origins = {http.allow_origins().begin(), http.allow_origins().end()};
  out.playground = !http.has_playground() || http.playground();
  out.model_aliases = {http.model_aliases().begin(), http.model_aliases().end()};
  // Without tokens all callers are one tenant, and a bound would let one of them shut the others
  // out.
  const int usual = config.auth().tokens_file().empty() ? 0 : kStreamsPerTenant;
  const int given = http.max_streams_per_tenant();
  out.max_streams_per_tenant = given == 0 ? usual : given;
  out.listen = AddressOf(http.listen());
  if (!out.enabled()) return;
  const bool certified = !config.tls().certificate_file().empty();
  out.tls = http.has_tls() ? http.tls() : certified && !out.listen.loopback();
  if (out.tls && !certified) reader.Problem("http.tls", "needs the certificate of tls");
  if (out.tls || out.listen.loopback() || config.insecure_listen()) return;
  reader.Problem("http.listen",
                 absl::StrCat("can be reached from other machines (", out.listen.ToString(),
                              "): set tls, or insecure_listen where a proxy or mesh encrypts"));
}

void ReadListeners(const pb::ServerConfig& config, Reader& reader, ServerOptions& out) {
  out.listen = AddressOf(config.listen());
  out.metrics_listen = AddressOf(config.metrics_listen());
  out.health_listen = config.health_listen();
  out.reflection = config.reflection() || out.listen.loopback();
  out.tls = {config.tls().certificate_file(), config.tls().key_file(),
             config.tls().client_ca_file()};
  if (out.tls.certificate_file.empty() != out.tls.key_file.empty()) {
    reader.Problem("tls", "needs both certificate_file and key_file");
  }
  if (!out.tls.client_ca_file.empty() && !out.tls.enabled()) {
    reader.Problem("tls.client_ca_file", "needs certificate_file and key_file");
  }
  if (out.listen.host.empty() || out.listen.loopback() || out.tls.enabled()) return;
  if (config.insecure_listen()) {
    out.warnings.emplace_back("insecure_listen: calls from other machines are not encrypted");
  } else {
    reader.Problem("listen",
                   absl::StrCat("can be reached from other machines (", out.listen.ToString(),
                                "): set tls, or insecure_listen where a proxy or mesh "
                                "encrypts"));
  }
}

void ReadData(const pb::Data& data, Reader& reader, DataOptions& out) {
  out.folder = data.folder();
  if (out.folder.empty()) {
    reader.Problem("data.folder", "must be set: neither XDG_STATE_HOME nor HOME is set");
  }
  out.max_bytes = data.max_bytes();
  out.keep = FromProtoDuration(data.keep());
  out.replica = data.replica();
}

// Parts of the file's language whose machinery is not built yet must not look as if they worked.
void RefuseUnbuilt(const pb::ServerConfig& config, Reader& reader) {
  if (config.telemetry().log_prompts()) {
    reader.Problem("telemetry.log_prompts", "no log of this version shows prompts");
  }
}

}  // namespace

CheckedOptions MakeServerOptions(const pb::ServerConfig& config) {
  CheckedOptions checked;
  checked.problems = FieldProblems(config);
  Reader reader(checked.problems);
  ServerOptions& out = checked.options;
  ReadListeners(config, reader, out);
  ReadHttp(config, reader, out.http);
  out.auth = ReadAuth(config.auth(), reader);
  ReadData(config.data(), reader, out.data);
  if (config.data().experimental_log())
    out.warnings.emplace_back("data.experimental_log: has no effect any more: leave it out");
  out.models = ReadModels(config, reader);
  out.workers = ReadWorkers(config, reader);
  out.kernel_profiles = ReadProfiles(config, reader);
  out.experiments = ReadExperiments(config, reader, out.warnings);
  out.plugins = ReadPlugins(config, checked.problems);
  out.scheduler = ReadScheduler(config.scheduler());
  ReadTiming(config.timing(), reader, out.timing);
  ReadTelemetry(config.telemetry(), reader, out.telemetry);
  if (config.has_fleet()) ReadFleet(config, reader, out);
  RefuseUnbuilt(config, reader);
  return checked;
}

}  // namespace reel::front
