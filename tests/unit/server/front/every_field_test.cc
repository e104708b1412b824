// SPDX-License-Identifier: Apache-2.0
// No field of the configuration is accepted and ignored: whichever of them changes, what the parts
// of reeld are made with changes too, or the file is refused. That app.cc and main.cc read what
// they need themselves is held by the lint `read_values`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "reel/config/v1/config.pb.h"
#include "server/convert/worker_convert.h"
#include "server/front/app_parts.h"
#include "server/front/config/config_checks.h"
#include "server/front/config/default_config.h"
#include "server/front/config/load_config.h"
#include "tests/fakes/changed_fields.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using config::v1::ServerConfig;

// One of everything that can stand together.
constexpr char kBase[] = R"(
  listen: "0.0.0.0:1" metrics_listen: "127.0.0.1:2" health_listen: "127.0.0.1:3"
  insecure_listen: true
  http { listen: "127.0.0.1:4" hosts: "h" allow_origins: "http://o" playground: false tls: false model_aliases { key: "k" value: "v" } max_streams_per_tenant: 9 }
  auth { tokens_file: "/t" tenants { name: "a" } }
  models { name: "m" path: "/m" dtype: "bf16" manifest_file: "/f" text_folder: "/x"
    parts { part: "vae" path: "/v" } adapters { name: "l" scale: 1.5 }
    warm_up { sizes { width: 64 height: 96 num_frames: 9 } } }
  models { name: "t" test_card { faults { kind: "exit" step: 3 prompt_contains: "x" times: 2 }
    memory { weights: 1 } } }
  workers { name: "w" device: "cpu" models: "m" }
  kernel_profiles { name: "p" variants { key: "a" value: "b" } }
  experiments {
    name: "e" model: "m" share: 0.25
    arms { name: "x" profile: "auto" weight: 2 } arms { name: "y" profile: "p" weight: 3 }
  }
  adapters { name: "l" file: "l.safetensors" models: "m" max_scale: 4 } adapter_root: "/loras"
  plugins { name: "k" folder: "f" } plugin_root: "/plugins"
  fleet { name: "prod" node: "n1" advertise: "h:1" listen: "127.0.0.1:5"
    tls { certificate_file: "/a" key_file: "/b" client_ca_file: "/d" }
    nats { urls: "nats://127.0.0.1:4222" urls: "nats://h:1" insecure: true replicas: 3 } }
)";

class Dump {
 public:
  template <typename... Parts>
  void Line(const Parts&... parts) {
    absl::StrAppend(&text_, absl::StrJoin(std::make_tuple(Text(parts)...), "|"), "\n");
  }
  std::string text_;

 private:
  static std::string Text(const std::string& value) { return value; }
  static std::string Text(absl::Duration value) { return absl::FormatDuration(value); }
  static std::string Text(const std::vector<std::string>& value) {
    return absl::StrJoin(value, ",");
  }
  static std::string Text(const std::map<std::string, std::string>& value) {
    return absl::StrJoin(value, ",", absl::PairFormatter("="));
  }
  template <typename T>
  static std::string Text(T value) {
    return absl::StrCat(value);
  }
};

void DumpJobs(const JobOptions& jobs, Dump& dump) {
  for (const auto& [name, t] : jobs.tenants) {
    dump.Line(name, t.weight, t.max_jobs, t.device_seconds_per_hour, t.max_stored_bytes,
              t.max_queued_device_seconds);
  }
  for (const KernelProfileOptions& p : jobs.kernel_profiles) dump.Line(p.name, p.base, p.variants);
  for (const ExperimentOptions& e : jobs.experiments) {
    dump.Line(e.name, e.model, e.share, e.shadow_share);
    for (const ExperimentArm& arm : e.arms) dump.Line(arm.name, arm.profile, arm.share);
  }
  dump.Line(jobs.max_backlog_seconds, jobs.max_queued_jobs, jobs.fill_rows, jobs.fifo);
  dump.Line(jobs.default_timeout, jobs.max_timeout, jobs.heartbeat, jobs.keep);
  dump.Line(jobs.limits.max_file_bytes);
  dump.Line(static_cast<int>(jobs.state.keep), jobs.state.max_age, jobs.state.max_bytes);
}

void DumpPool(const WorkerPoolOptions& pool, Dump& dump) {
  for (const model::LoadOptions& model : pool.models) {
    dump.Line(LoadToProto(model).ShortDebugString(), model.on_demand);
  }
  for (const WorkerOptions& w : pool.workers) dump.Line(w.name, w.device, w.models, w.memory_bytes);
  for (const kernels::PluginSource& p : pool.plugins) dump.Line(p.name, p.root, p.folder, p.sha256);
  dump.Line(pool.fill_rows, pool.kernel_sample_every);
}

void DumpFleet(const NodeOptions& node, const absl::StatusOr<FleetLogOptions>& log, Dump& dump) {
  dump.Line(node.node, node.address, node.gateway, node.beat, node.silence, node.lease,
            node.max_clock_skew, node.deliver_backlog, node.max_file_bytes);
  dump.Line(log.status().ToString());
  if (!log.ok()) return;
  dump.Line(log->urls, log->user, log->password, log->ca_file, log->certificate_file, log->key_file,
            log->fleet, log->replicas, log->max_bytes);
}

std::string TextOf(const config::v1::Tls& tls) { return tls.ShortDebugString(); }

// What app.cc and main.cc read themselves.
void DumpOthers(const ServerConfig& config, Dump& dump) {
  dump.Line(config.listen(), config.metrics_listen(), config.health_listen(), config.reflection(),
            TextOf(config.tls()), config.auth().tokens_file(), config.adapter_root());
  for (const config::v1::Adapter& adapter : config.adapters()) {
    dump.Line(std::vector<std::string>(adapter.tenants().begin(), adapter.tenants().end()),
              adapter.default_scale(), adapter.description());
  }
  dump.Line(config.http().listen(), config.http().tls());
  dump.Line(config.state().keep());  // this fleet has no store and keeps none, whatever it says
  dump.Line(config.data().folder(), config.data().max_bytes(), config.data().replica());
  const config::v1::Timing& timing = config.timing();
  dump.Line(timing.propagation().seconds(), timing.drain().seconds(),
            timing.write_stall().seconds());
  const config::v1::Telemetry& telemetry = config.telemetry();
  dump.Line(telemetry.log_level(), telemetry.log_format(), telemetry.otlp_endpoint(),
            telemetry.otlp_ca_file(), telemetry.otlp_headers_file(), telemetry.trace_share(),
            telemetry.kernel_log());
  const config::v1::Fleet& fleet = config.fleet();
  dump.Line(fleet.listen(), TextOf(fleet.tls()), fleet.encrypt_prompts_key_file(),
            fleet.objects().ShortDebugString());
}

class EveryField : public ::testing::Test {
 protected:
  EveryField() {
    const std::string credentials = temp_.Write("credentials", "user:password");
    EXPECT_EQ(chmod(credentials.c_str(), 0600), 0);
    EXPECT_THAT(ParseConfigText(kBase, base_), ::testing::IsEmpty());
    base_.mutable_fleet()->mutable_nats()->set_credentials_file(credentials);
  }

  // What the server would do with it; nullopt: it is refused.
  std::optional<std::string> Outcome(ServerConfig config) {
    FillDefaults({"/state", ""}, config);
    if (!CheckConfig(config).problems.empty()) return std::nullopt;
    AppOptions app;
    app.config = config;
    Dump dump;
    DumpJobs(MakeJobOptions(app, "eu1"), dump);
    DumpPool(MakePoolOptions(app), dump);
    DumpFleet(MakeNodeOptions(app, *folder_, "eu1"), MakeFleetLogOptions(config), dump);
    const DoorOptions door = MakeDoorOptions(config.http());
    dump.Line(door.guard.hosts, door.guard.allow_origins, door.page, door.model_aliases,
              door.streams_per_tenant);
    DumpOthers(config, dump);
    return dump.text_;
  }

  const reel::testing::TempFolder temp_;
  const absl::StatusOr<DataFolder> folder_ = DataFolder::Open(temp_.File("data"));
  ServerConfig base_;
};

TEST_F(EveryField, OfTheConfigurationCountsOrIsRefused) {
  ASSERT_TRUE(folder_.ok()) << folder_.status();
  const std::optional<std::string> before = Outcome(base_);
  ASSERT_TRUE(before.has_value()) << "the base is not legal";
  const auto fields = reel::testing::EachFieldChanged(base_);
  EXPECT_GT(fields.size(), 50U);
  for (const auto& [path, copies] : fields) {
    if (path == "data.experimental_log") continue;  // it warns: config_checks_test
    // A refused value says nothing of the legal ones: every number has values that are refused.
    bool is_taken = false, counts = false;
    for (const auto& copy : copies) {
      const auto outcome = Outcome(static_cast<const ServerConfig&>(*copy));
      is_taken |= outcome.has_value();
      counts |= outcome.has_value() && outcome != before;
    }
    EXPECT_TRUE(counts || !is_taken) << path << " is accepted and ignored";
  }
}

// So that the test above can fail: each field has copies of its own, and none of them is the base.
TEST(ChangedFields, EachIsChangedAlone) {
  config::v1::Telemetry base;
  base.set_log_level("info");
  const auto fields = reel::testing::EachFieldChanged(base);
  EXPECT_EQ(static_cast<int>(fields.size()), base.GetDescriptor()->field_count());
  for (const auto& [path, copies] : fields) {
    ASSERT_FALSE(copies.empty()) << path;
    for (const auto& copy : copies) {
      const auto* field = base.GetDescriptor()->FindFieldByName(path);
      ASSERT_NE(field, nullptr) << path;
      EXPECT_NE(copy->SerializeAsString(), base.SerializeAsString()) << path;
      copy->GetReflection()->ClearField(copy.get(), field);
      config::v1::Telemetry without = base;
      without.GetReflection()->ClearField(&without, field);
      EXPECT_EQ(copy->SerializeAsString(), without.SerializeAsString()) << path;
    }
  }
}

}  // namespace
}  // namespace reel::front
