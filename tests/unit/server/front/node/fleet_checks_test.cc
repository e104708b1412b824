// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/front/node/status_report.h"
#include "tests/fakes/memory_objects.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kKey[] = "prod/media/-/doctor";

const FleetCheck* FindCheck(const std::vector<FleetCheck>& checks, const std::string& name) {
  for (const FleetCheck& check : checks) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

TEST(CheckStore, LeavesNothingInAStoreThatIsWell) {
  reel::testing::MemoryObjects store;
  const auto checks = CheckStore(store, kKey);
  ASSERT_NE(FindCheck(checks, "fleet store"), nullptr);
  ASSERT_NE(FindCheck(checks, "fleet clock"), nullptr);
  for (const FleetCheck& check : checks) {
    EXPECT_TRUE(check.ok) << check.detail;
    EXPECT_THAT(check.hint, IsEmpty());
  }
  EXPECT_THAT(store.All(), IsEmpty());
}

TEST(CheckStore, SaysWhatToDoByWhatTheStoreAnswers) {
  reel::testing::MemoryObjects store;
  const auto hint = [&](const absl::Status& failure) {
    store.FailWith(failure);
    const auto checks = CheckStore(store, kKey);
    EXPECT_EQ(checks.size(), 1U);
    EXPECT_FALSE(checks[0].ok);
    EXPECT_THAT(checks[0].detail, HasSubstr(std::string(failure.message())));
    return checks[0].hint;
  };
  EXPECT_THAT(hint(absl::PermissionDeniedError("no")), HasSubstr("credentials_file"));
  EXPECT_THAT(hint(absl::FailedPreconditionError("no bucket")), HasSubstr("bucket"));
  EXPECT_THAT(hint(absl::ResourceExhaustedError("full")), HasSubstr("Make room"));
  EXPECT_THAT(hint(absl::UnavailableError("away")), HasSubstr("endpoint"));
}

TEST(CheckStore, AClockThatIsOffIsTold) {
  reel::testing::MemoryObjects store;
  store.Place(kKey, "reel doctor", absl::Now() - absl::Minutes(10));
  const auto checks = CheckStore(store, kKey);
  const FleetCheck* const clock = FindCheck(checks, "fleet clock");
  ASSERT_NE(clock, nullptr);
  EXPECT_FALSE(clock->ok);
  EXPECT_THAT(clock->hint, HasSubstr("NTP"));
}

FleetStatus TwoNodes() {
  FleetStatus status;
  status.fleet = "prod";
  status.node = "a";
  status.log.ready = true;
  for (const char* name : {"a", "b"}) {
    FleetStatus::Node node;
    node.name = name;
    node.build = "1";
    node.is_this = status.nodes.empty();
    status.nodes.push_back(node);
  }
  return status;
}

TEST(CheckNodes, SaysHowFarTheClockIsFromTheBrokers) {
  FleetStatus status;
  status.clock = {-absl::Seconds(660), absl::Seconds(5)};
  auto checks = CheckNodes(status);
  const FleetCheck* time = FindCheck(checks, "fleet time");
  ASSERT_NE(time, nullptr);
  EXPECT_FALSE(time->ok);
  EXPECT_THAT(time->detail, HasSubstr("11m behind the brokers'"));
  EXPECT_THAT(time->hint, HasSubstr("NTP"));
  status.clock.skew = absl::Milliseconds(12);
  checks = CheckNodes(status);
  time = FindCheck(checks, "fleet time");
  EXPECT_TRUE(time->ok);
  EXPECT_THAT(time->detail, HasSubstr("12ms ahead of the brokers'"));
  EXPECT_THAT(time->hint, IsEmpty());
}

TEST(CheckNodes, FindsNothingWrongWithAFleetThatIsWell) {
  for (const FleetCheck& check : CheckNodes(TwoNodes())) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
    EXPECT_THAT(check.hint, IsEmpty());
  }
}

TEST(CheckNodes, NamesTheSilentTheMixedAndWhatIsNotHeard) {
  FleetStatus status = TwoNodes();
  status.nodes[1].state = FleetStatus::NodeState::kSilent;
  EXPECT_THAT(FindCheck(CheckNodes(status), "fleet servers")->detail, HasSubstr("silent: b"));
  status = TwoNodes();
  status.nodes[1].build = "2";
  EXPECT_FALSE(FindCheck(CheckNodes(status), "fleet builds")->ok);
  status = TwoNodes();
  status.nodes[0].is_this = false;
  EXPECT_THAT(FindCheck(CheckNodes(status), "fleet servers")->hint, HasSubstr("reel.prod.hb.a"));
  status = TwoNodes();
  status.log.behind = absl::Minutes(1);
  EXPECT_FALSE(FindCheck(CheckNodes(status), "fleet view")->ok);
}

TEST(CheckNodes, SaysWhoDoesNotReadWhatOthersEncrypt) {
  const auto check = [](const std::vector<std::string>& own,
                        const std::vector<std::string>& other) {
    FleetStatus status = TwoNodes();
    status.nodes[0].prompt_keys = own;
    status.nodes[1].prompt_keys = other;
    return *FindCheck(CheckNodes(status), "fleet prompts");
  };
  EXPECT_TRUE(check({}, {}).ok);
  EXPECT_THAT(check({}, {}).detail, HasSubstr("in the clear"));
  EXPECT_TRUE(check({"k1"}, {"k1"}).ok);
  EXPECT_EQ(check({"k1"}, {"k1"}).detail, "encrypted with the key k1");
  // In the middle of a change of keys all is well: both read both.
  EXPECT_TRUE(check({"k1", "k2"}, {"k2", "k1"}).ok);
  EXPECT_THAT(check({"k1"}, {"k2", "k1"}).detail, HasSubstr("b encrypts with k2"));
  EXPECT_THAT(check({"k2", "k1"}, {"k1"}).detail, HasSubstr("b lacks this key"));
  EXPECT_THAT(check({"k1"}, {}).detail, HasSubstr("b does not encrypt"));
  EXPECT_THAT(check({}, {"k1"}).detail, HasSubstr("b encrypts, this server does not"));
  for (const auto& apart : {check({"k1"}, {"k2", "k1"}), check({"k2", "k1"}, {"k1"}),
                            check({"k1"}, {}), check({}, {"k1"})}) {
    EXPECT_FALSE(apart.ok) << apart.detail;
    EXPECT_THAT(apart.hint, HasSubstr("encrypt_prompts_key_file"));
  }
  // Who is gone reads nothing any more.
  FleetStatus status = TwoNodes();
  status.nodes[0].prompt_keys = {"k1"};
  status.nodes[1].state = FleetStatus::NodeState::kLeft;
  EXPECT_TRUE(FindCheck(CheckNodes(status), "fleet prompts")->ok);
}

using CheckFleetTest = FleetFixture;

TEST_F(CheckFleetTest, AServerLooksAtItsFleetAndItsStore) {
  reel::testing::MemoryObjects store;
  objects_ = &store;
  Member& a = Add("a");
  ASSERT_TRUE(Comes([&] { return !a.service->Fleet()->nodes.empty(); }));
  const auto checks =
      Await<std::vector<FleetCheck>>([&](auto done) { a.service->CheckFleet(std::move(done)); });
  ASSERT_TRUE(checks.ok()) << checks.status();
  for (const char* name :
       {"fleet servers", "fleet builds", "fleet view", "fleet prompts", "fleet store"}) {
    ASSERT_NE(FindCheck(*checks, name), nullptr) << name;
    EXPECT_TRUE(FindCheck(*checks, name)->ok) << FindCheck(*checks, name)->detail;
  }
  EXPECT_THAT(store.All(), IsEmpty());
  members_.clear();
}

}  // namespace
}  // namespace reel::front
