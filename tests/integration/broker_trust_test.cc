// SPDX-License-Identifier: Apache-2.0
// A malicious member of a fleet: what it can write over a real broker with its permissions, and how
// the others react.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/nats_port.h"
#include "tests/integration/fleet_log_fixture.h"

namespace reel::tests {
namespace {

using front::NatsPort;
using front::NodeBeat;

// Remembers what it was told of the log.
class Told final : public front::LogReader {
 public:
  bool OnMessages(const std::vector<front::StoredMessage>& messages) override {
    const MutexLock lock(mutex_);
    for (const front::StoredMessage& message : messages) {
      said_.push_back(absl::StrCat(message.sequence, " ", message.subject));
    }
    return true;
  }
  void OnRebuild() override {}
  bool OnCaughtUp(const front::StreamFacts&) override { return true; }
  std::vector<std::string> said() const {
    const MutexLock lock(mutex_);
    return said_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::string> said_ ABSL_GUARDED_BY(mutex_);
};

class BrokerTrustTest : public FleetLogTest {
 protected:
  void SetUp() override {
    FleetLogTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(Eventually([&] {
      auto opened = NatsPort::Open(options_, told_);
      if (opened.ok()) port_ = *std::move(opened);
      return port_ != nullptr;
    }));
    natsConnection* connection = nullptr;
    ASSERT_EQ(natsConnection_ConnectTo(&connection, options_.urls[0].c_str()), NATS_OK);
    harmful_.reset(connection);
    jsCtx* context = nullptr;
    ASSERT_EQ(natsConnection_JetStream(&context, connection, nullptr), NATS_OK);
    jet_stream_.reset(context);
  }

  void Beat(const std::string& subject, const std::string& node) {
    NodeBeat beat;
    beat.node = node;
    const std::string bytes = WriteBeat(beat);
    ASSERT_EQ(natsConnection_Publish(harmful_.get(), subject.c_str(), bytes.data(),
                                     static_cast<int>(bytes.size())),
              NATS_OK);
  }

  // Stores a message with headers as the broker gives them to copies.
  void StoreWithHeaders(const std::string& subject, const std::string& sequence,
                        const std::string& headers_subject, const std::string& payload = "") {
    natsMsg* made = nullptr;
    ASSERT_EQ(natsMsg_Create(&made, subject.c_str(), nullptr, payload.data(),
                             static_cast<int>(payload.size())),
              NATS_OK);
    const front::NatsMessagePtr message(made);
    natsMsgHeader_Set(made, "Nats-Sequence", sequence.c_str());
    natsMsgHeader_Set(made, "Nats-Subject", headers_subject.c_str());
    jsPubAck* ack = nullptr;
    jsErrCode code{};
    ASSERT_EQ(js_PublishMsg(&ack, jet_stream_.get(), made, nullptr, &code), NATS_OK) << code;
    jsPubAck_Destroy(ack);
  }

  // Has the broker send all that is stored under a subject that nobody may publish under.
  void DeliverTo(const std::string& subject) {
    natsSubscription* made = nullptr;
    ASSERT_EQ(natsConnection_SubscribeSync(&made, harmful_.get(), subject.c_str()), NATS_OK);
    interest_.emplace_back(made);
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    config.DeliverSubject = subject.c_str();
    config.DeliverPolicy = js_DeliverAll;
    config.AckPolicy = js_AckNone;
    jsConsumerInfo* info = nullptr;
    jsErrCode code{};
    ASSERT_EQ(js_AddConsumer(&info, jet_stream_.get(), "REEL_prod", &config, nullptr, &code),
              NATS_OK)
        << code;
    jsConsumerInfo_Destroy(info);
    natsMsg* first = nullptr;
    ASSERT_EQ(natsSubscription_NextMsg(&first, made, absl::ToInt64Milliseconds(kSoon)), NATS_OK);
    natsMsg_Destroy(first);
  }

  // Once a beat of `last` has come, those before it have, too.
  std::vector<std::string> NodesUntil(const std::string& last) {
    std::vector<std::string> nodes;
    EXPECT_TRUE(Eventually([&] {
      for (const std::string& bytes : port_->TakeBeats())
        nodes.push_back(front::ReadBeat(bytes)->node);
      return !nodes.empty() && nodes.back() == last;
    }));
    return nodes;
  }

  Told told_;
  std::unique_ptr<NatsPort> port_;
  front::NatsConnectionPtr harmful_;
  front::JetStreamPtr jet_stream_;
  std::vector<front::NatsSubscriptionPtr> interest_;
};

TEST_F(BrokerTrustTest, ABeatCountsForTheNodeThatMayPublishIt) {
  Beat("reel.prod.hb.one", "two");
  // And one that the broker was made to send, from what one's rights let one store.
  NodeBeat forged;
  forged.node = "two";
  StoreWithHeaders("reel.prod.j.t.v1.c.1", "1", "reel.prod.hb.two", WriteBeat(forged));
  DeliverTo("reel.prod.hb.two");
  Beat("reel.prod.hb.one", "one");
  EXPECT_EQ(NodesUntil("one"), std::vector<std::string>{"one"});
}

TEST_F(BrokerTrustTest, TheLogIsWhatTheBrokerStoredWhateverAMessageSaysOfItself) {
  StoreWithHeaders("reel.prod.j.t.v1.c.1", "2", "reel.prod.j.t.v9.f.1");
  StoreWithHeaders("reel.prod.j.t.v1.c.2", "3", "reel.prod.j.t.v9.f.2");
  DeliverTo("reel.prod.live.reel.prod.j.t.v9.f.3");
  StoreWithHeaders("reel.prod.j.t.v1.c.3", "4", "reel.prod.j.t.v9.f.4");
  const std::vector<std::string> stored = {"1 j.t.v1.c.1", "2 j.t.v1.c.2", "3 j.t.v1.c.3"};
  ASSERT_TRUE(Eventually([&] { return told_.said().size() >= stored.size(); }));
  EXPECT_EQ(told_.said(), stored);
}

}  // namespace
}  // namespace reel::tests
