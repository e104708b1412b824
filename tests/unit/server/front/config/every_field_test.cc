// SPDX-License-Identifier: Apache-2.0
// No field of the configuration is accepted and ignored: whichever of them changes, the options
// change with it, or the file is refused. Where the options go is held by the lint `read_values`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/config_text.h"
#include "server/front/config/default_config.h"
#include "server/front/config/server_options.h"
#include "tests/fakes/changed_fields.h"

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
    parts { part: "vae" path: "/v" }
    warm_up { sizes { width: 64 height: 96 num_frames: 9 } } }
  models { name: "t" test_card { faults { kind: "exit" step: 3 prompt_contains: "x" times: 2 }
    memory { weights: 1 } } }
  workers { name: "w" device: "cpu" models: "m" }
  kernel_profiles { name: "p" variants { key: "a" value: "b" } }
  experiments {
    name: "e" model: "m" share: 0.5
    arms { name: "x" profile: "auto" weight: 2 } arms { name: "y" profile: "p" weight: 3 }
  }
  plugins { name: "k" folder: "f" } plugin_root: "/plugins"
  fleet { name: "prod" node: "n1" advertise: "h:1" listen: "127.0.0.1:5"
    tls { certificate_file: "/a" key_file: "/b" client_ca_file: "/d" }
    nats { urls: "nats://127.0.0.1:4222" urls: "nats://h:1" insecure: true credentials_file: "/c" } }
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

std::string TextOf(const ServerOptions& o) {
  Dump dump;
  dump.Line(o.listen.ToString(), o.metrics_listen.ToString(), o.health_listen, o.reflection);
  dump.Line(o.tls.certificate_file, o.tls.key_file, o.tls.client_ca_file);
  dump.Line(o.http.listen.ToString(), o.http.hosts, o.http.allow_origins, o.http.playground,
            o.http.tls, o.http.model_aliases, o.http.max_streams_per_tenant);
  dump.Line(o.auth.tokens_file);
  for (const ConfiguredTenant& t : o.auth.tenants) {
    dump.Line(t.name, t.weight, t.max_jobs, t.device_seconds_per_hour, t.max_stored_bytes,
              t.max_queued_device_seconds);
  }
  dump.Line(o.data.folder, o.data.max_bytes, o.data.keep, o.data.replica);
  for (const model::LoadOptions& m : o.models) {
    dump.Line(m.name, m.path, m.dtype, m.text_folder, m.manifest_file, m.warm_up.off, m.on_demand,
              m.random_weights.value_or(0));
    for (const model::PartFile& file : m.parts)
      dump.Line(std::string(model::NameOf(file.part)), file.path);
    for (const model::WarmUpSize& size : m.warm_up.sizes) {
      dump.Line(size.width, size.height, size.num_frames);
    }
    const model::TestCardOptions& card = m.test_card;
    dump.Line(card.step_time, card.step_time_per_extra_job, card.decode_time_per_frame,
              card.load_time, card.sound);
    dump.Line(card.memory.weights, card.memory.per_token, card.memory.per_step_row,
              card.memory.per_decoded_pixel, card.memory.untold_per_token,
              card.memory.kept_per_video);
    for (const auto& fault : card.faults) {
      dump.Line(fault.kind, fault.step, fault.prompt_contains, fault.times);
    }
  }
  for (const ConfiguredWorker& w : o.workers) {
    dump.Line(w.name, w.device, w.models, w.memory_bytes);
  }
  for (const ConfiguredProfile& p : o.kernel_profiles) dump.Line(p.name, p.base, p.variants);
  for (const ConfiguredExperiment& e : o.experiments) {
    dump.Line(e.name, e.model, e.share, e.shadow_share);
    for (const ConfiguredArm& a : e.arms) dump.Line(a.name, a.profile, a.share);
  }
  for (const kernels::PluginSource& p : o.plugins) dump.Line(p.name, p.root, p.folder, p.sha256);
  dump.Line(o.scheduler.max_backlog_seconds, o.scheduler.max_queued_jobs, o.scheduler.fill_rows,
            o.scheduler.fifo);
  dump.Line(o.timing.default_timeout, o.timing.max_timeout, o.timing.propagation, o.timing.drain,
            o.timing.heartbeat, o.timing.write_stall);
  dump.Line(o.telemetry.log_level, o.telemetry.log_format, o.telemetry.kernel_sample_every,
            o.telemetry.collector.ToString(), o.telemetry.trace_share);
  dump.Line(o.fleet.name, o.fleet.node, o.fleet.advertise, o.fleet.beat, o.fleet.silence,
            o.fleet.lease, o.fleet.max_clock_skew, o.fleet.nats.urls, o.fleet.nats.replicas,
            o.fleet.nats.credentials_file, o.fleet.nats.max_bytes);
  dump.Line(o.fleet.listen.ToString(), o.fleet.tls.certificate_file, o.fleet.tls.key_file,
            o.fleet.tls.client_ca_file, o.fleet.gateway, o.fleet.encrypt_prompts_key_file);
  return dump.text_;
}

// What the server would do with it.
std::string Outcome(ServerConfig config) {
  FillDefaults({"/state", ""}, config);
  const CheckedOptions checked = MakeServerOptions(config);
  if (!checked.problems.empty()) return absl::StrJoin(checked.problems, "\n");
  return TextOf(checked.options);
}

TEST(EveryField, OfTheConfigurationCountsOrIsRefused) {
  ServerConfig base;
  ASSERT_THAT(ParseConfigText(kBase, base), ::testing::IsEmpty());
  const std::string before = Outcome(base);
  ASSERT_THAT(before, ::testing::HasSubstr("exit|3|x|2")) << "the base is not legal: " << before;
  const auto fields = reel::testing::EachFieldChanged(base);
  EXPECT_GT(fields.size(), 50U);
  for (const auto& [path, copies] : fields) {
    if (path == "data.experimental_log") continue;  // it warns: server_options_test
    bool counts = false;
    for (const auto& copy : copies) {
      counts |= Outcome(static_cast<const ServerConfig&>(*copy)) != before;
    }
    EXPECT_TRUE(counts) << path << " is accepted and ignored";
  }
}

// So that the test above can fail: each field has copies of its own, and none of them is the base.
TEST(EveryField, IsChangedAlone) {
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
