// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/field_rules.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "reel/config/v1/config.pb.h"
#include "reel/config/v1/rules.pb.h"

namespace reel::front {
namespace {

using config::v1::ServerConfig;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(FieldRules, AnUnsetFieldGetsItsDefaultAndASetOneStays) {
  ServerConfig config;
  config.mutable_scheduler()->set_fill_rows(7);
  config.mutable_timing()->mutable_drain();  // set, to nothing
  FillFieldDefaults(config);
  EXPECT_EQ(config.listen(), "127.0.0.1:50051");
  EXPECT_EQ(config.scheduler().fill_rows(), 7);
  EXPECT_EQ(config.scheduler().max_queued_jobs(), 1000);
  EXPECT_EQ(config.scheduler().max_backlog_seconds(), 120);
  EXPECT_EQ(config.timing().drain().seconds(), 0);
  EXPECT_EQ(config.timing().max_timeout().seconds(), 30 * 60);
}

TEST(FieldRules, AMessageWhosePresenceSaysSomethingIsNotMade) {
  ServerConfig config;
  FillFieldDefaults(config);
  EXPECT_FALSE(config.has_fleet());
  EXPECT_FALSE(config.has_tls());
  config.mutable_fleet()->set_name("prod");
  FillFieldDefaults(config);
  EXPECT_EQ(config.fleet().nats().max_bytes(), int64_t{8} << 30);
  EXPECT_EQ(config.fleet().beat().seconds(), 1);
  EXPECT_FALSE(config.fleet().has_objects());
}

TEST(FieldRules, ElementsOfListsAreFilledToo) {
  ServerConfig config;
  config.mutable_auth()->add_tenants();
  config.add_experiments()->add_arms();
  FillFieldDefaults(config);
  EXPECT_EQ(config.auth().tenants(0).max_jobs(), 256);
  EXPECT_EQ(config.experiments(0).arms(0).weight(), 1);
}

TEST(FieldRules, EveryProblemIsToldWithThePathToItsField) {
  ServerConfig config;
  config.set_listen("nowhere");
  config.add_workers()->set_name("a");
  config.add_workers()->set_name("a");
  config.add_models();
  config.mutable_scheduler()->set_order("step");
  config.mutable_scheduler()->set_max_queued_jobs(-1);
  config.mutable_timing()->mutable_heartbeat()->set_seconds(60);
  config.mutable_timing()->mutable_drain()->set_seconds(-1);
  config.mutable_http()->add_allow_origins("http://a");
  config.mutable_http()->add_allow_origins("b");
  config.mutable_fleet()->mutable_nats()->set_max_bytes(5);
  // Of the fields whose defaults are not filled.
  config.mutable_scheduler()->set_max_backlog_seconds(1);
  config.mutable_scheduler()->set_fill_rows(1);
  config.mutable_fleet()->mutable_nats()->set_replicas(6);
  EXPECT_THAT(
      FieldProblems(config),
      UnorderedElementsAre(
          "listen: must be host:port, e.g. 127.0.0.1:50051; the port is missing: 'nowhere'",
          "workers[1].name: is listed twice: 'a'",
          "models[0].name: must be 1..63 of a-z, 0-9, '.', '_', '-', the first a letter or digit: "
          "''",
          "scheduler.order: must be one of steps, fifo: 'step'; the nearest is 'steps'",
          "scheduler.max_queued_jobs: must be at least 1: -1",
          "timing.heartbeat: must be 100ms to 10s: 1m", "timing.drain: must be at least 0: -1s",
          "http.allow_origins[1]: must be SCHEME://HOST[:PORT] without a path: 'b'",
          "fleet.name: must be set: 1 to 16 of a-z and 0-9",
          "fleet.node: must be 1..63 of a-z, 0-9, '.', '_', '-', the first a letter or digit: ''",
          "fleet.nats.urls: must be set: tls://HOST:PORT of a broker",
          "fleet.nats.max_bytes: must be at least 1 MiB: 5",
          "fleet.nats.replicas: must be 1 to 5: 6"));
}

TEST(FieldRules, ListsAreBounded) {
  ServerConfig config;
  config::v1::Experiment& experiment = *config.add_experiments();
  experiment.set_name("e");
  EXPECT_THAT(FieldProblems(config), ElementsAre("experiments[0].arms: must be 2: 0"));
  // Each of a list that is too long would be a problem more.
  for (int i = 0; i < 16; ++i) config.add_experiments();
  EXPECT_THAT(FieldProblems(config), ElementsAre("experiments: must be at most 16: 17"));
}

TEST(FieldRules, BoundsThemselvesAreLegalAndWhatIsNoNumberIsNot) {
  ServerConfig config;
  const auto problems = [&config](double share) {
    config.mutable_telemetry()->set_trace_share(share);
    return FieldProblems(config.telemetry());
  };
  EXPECT_THAT(problems(0), IsEmpty());
  EXPECT_THAT(problems(1), IsEmpty());
  EXPECT_THAT(problems(1.5), ElementsAre("trace_share: must be 0 to 1: 1.5"));
  EXPECT_THAT(problems(std::numeric_limits<double>::quiet_NaN()),
              ElementsAre("trace_share: must be 0 to 1: nan"));
}

TEST(FieldRules, AmountsAreNumbersTimesAndBytes) {
  EXPECT_EQ(ParseAmount("8192"), 8192);
  EXPECT_EQ(ParseAmount("0.001"), 0.001);
  EXPECT_EQ(ParseAmount("-1"), -1);
  EXPECT_EQ(ParseAmount("100ms"), 0.1);
  EXPECT_EQ(ParseAmount("24h"), 24 * 3600);
  EXPECT_EQ(ParseAmount("1 MiB"), 1 << 20);
  EXPECT_EQ(ParseAmount("8 GiB"), 8.0 * (1 << 30));
  for (const char* bad : {"", "MiB", " MiB", "1 TiB", "fast", "1 h"}) {
    EXPECT_EQ(ParseAmount(bad), std::nullopt) << bad;
  }
}

void CollectFields(const Descriptor& type, std::set<const FieldDescriptor*>& fields) {
  for (int i = 0; i < type.field_count(); ++i) {
    if (!fields.insert(type.field(i)).second) continue;
    if (type.field(i)->message_type() != nullptr)
      CollectFields(*type.field(i)->message_type(), fields);
  }
}

// A rule that nobody can apply would be ignored without a word.
TEST(FieldRules, EveryRuleFitsItsField) {
  std::set<const FieldDescriptor*> fields;
  CollectFields(*ServerConfig::descriptor(), fields);
  int rules = 0;
  for (const FieldDescriptor* field : fields) {
    if (!field->options().HasExtension(config::v1::rule)) continue;
    ++rules;
    const config::v1::Rule& rule = field->options().GetExtension(config::v1::rule);
    const std::string& name = field->full_name();
    const bool is_text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    const bool is_message = field->message_type() != nullptr &&
                            field->message_type()->full_name() != "google.protobuf.Duration";
    for (const std::string& bound : {rule.min(), rule.max()}) {
      EXPECT_TRUE(bound.empty() || ParseAmount(bound).has_value()) << name << ": " << bound;
      EXPECT_TRUE(bound.empty() || is_text || !is_message || field->is_repeated()) << name;
    }
    if (!is_text) {
      EXPECT_EQ(rule.format(), config::v1::FORMAT_UNSPECIFIED) << name;
      EXPECT_TRUE(rule.one_of().empty()) << name;
    }
    const std::string& value = rule.default_value();
    if (is_message) {
      EXPECT_TRUE(value.empty() || value == "{}") << name;
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
      EXPECT_TRUE(value.empty() || value == "true") << name << ": " << value;
    } else if (!is_text) {
      EXPECT_TRUE(value.empty() || ParseAmount(value).has_value()) << name << ": " << value;
    }
    EXPECT_FALSE(field->is_repeated() && !value.empty()) << name;
  }
  EXPECT_GT(rules, 40);
}

// But for what depends on the machine or has to be said.
TEST(FieldRules, DefaultsAreLegal) {
  ServerConfig config;
  FillFieldDefaults(config);
  EXPECT_THAT(FieldProblems(config), IsEmpty());
  EXPECT_EQ(DefaultText(config, "listen"), "127.0.0.1:50051");
  EXPECT_EQ(DefaultText(config, "health_listen"), "");
}

}  // namespace
}  // namespace reel::front
