// SPDX-License-Identifier: Apache-2.0
// Tests that a worker's last words are read after it is gone, while a report before them waits for
// the disk.
#include "server/front/workers/worker_slot.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/convert/report_convert.h"
#include "tests/fakes/recording_events.h"

namespace reel::front {
namespace {

class DeafSession final : public Session {
 public:
  void Send(const std::string&, worker::v1::AttachResponse) override {}
  void Resume() override {}
  void Close() override {}
};

class WorkerSlotTest : public testing::Test {
 protected:
  WorkerSlotTest() : slot_({.name = "w0", .models = {}}, options_, [] {}) {
    slot_.SetEvents(events_);
  }
  ~WorkerSlotTest() override {
    events_.HoldMedia(false);
    slot_.EndReports();
  }

  static WorkerPoolOptions OneModel() {
    WorkerPoolOptions options;
    options.models.resize(1);
    options.models[0].name = "m";
    return options;
  }
  void Attach() {
    worker::v1::Hello hello;
    hello.set_token(slot_.BeginIncarnation("socket").token);
    hello.set_protocol(kWorkerProtocol);
    hello.set_copy_bytes_per_second(55);
    ASSERT_TRUE(slot_.Admit(hello, std::make_shared<DeafSession>()).ok());
  }
  template <typename Event>
  void Say(Event event) {
    slot_.OnMessage(ReportToProto({.worker = "w0", .ref = {"j", 1}, .event = std::move(event)}));
  }
  void SayModelLoaded() {
    ModelLoaded loaded{.model = "m", .card = {}};
    loaded.card.name = "m";
    Say(loaded);
  }
  // Its last words are a model's that is loaded; they stay unread.
  void EndUnheard(OutReason out) {
    events_.HoldMedia(true);
    Say(JobMedia{.bytes = "frames"});
    SayModelLoaded();
    slot_.OnBroken();
    slot_.EndIncarnation(LossCause::kExit, out);
  }
  // Until all that was posted is reported.
  void Hear() {
    events_.HoldMedia(false);
    slot_.EndReports();
  }

  const WorkerPoolOptions options_ = OneModel();
  RecordingEvents events_;
  WorkerSlot slot_;
};

TEST_F(WorkerSlotTest, IsReadyWithItsModel) {
  Attach();
  EXPECT_EQ(slot_.Info().state, WorkerState::kStarting);
  SayModelLoaded();
  Hear();
  EXPECT_EQ(slot_.Info().state, WorkerState::kReady);
  EXPECT_EQ(slot_.Info().models, std::vector<std::string>{"m"});
}

TEST_F(WorkerSlotTest, KnowsTheLinkThatItsWorkerMeasured) {
  EXPECT_EQ(slot_.Info().copy_bytes_per_second, 0);
  Attach();
  EXPECT_EQ(slot_.Info().copy_bytes_per_second, 55);
}

TEST_F(WorkerSlotTest, StaysOutWhateverItsLastProcessHadSaid) {
  Attach();
  EndUnheard(OutReason::kFaults);
  Hear();
  EXPECT_EQ(slot_.Info().state, WorkerState::kOut);
  EXPECT_EQ(slot_.Info().out, OutReason::kFaults);
  EXPECT_TRUE(slot_.Info().models.empty());
  EXPECT_EQ(events_.Take().workers.at("w0").state, WorkerState::kOut);
}

TEST_F(WorkerSlotTest, IsNotReadyByWhatTheProcessBeforeHadSaid) {
  Attach();
  EndUnheard(OutReason::kNone);
  Attach();
  Hear();
  EXPECT_EQ(slot_.Info().state, WorkerState::kStarting);
  EXPECT_TRUE(slot_.Info().models.empty());
}

TEST_F(WorkerSlotTest, ReportsTheLastWordsOfAWorkerBeforeItsLoss) {
  Attach();
  EndUnheard(OutReason::kNone);
  Hear();
  const std::vector<std::string> log = events_.Take().log;
  const auto loaded = std::ranges::find(log, "model w0 m");
  ASSERT_NE(loaded, log.end());
  EXPECT_LT(loaded, std::ranges::find(log, "lost w0 1"));
}

}  // namespace
}  // namespace reel::front
