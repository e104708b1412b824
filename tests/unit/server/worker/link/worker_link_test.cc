// SPDX-License-Identifier: Apache-2.0
// The link against the front's own server.
#include "server/worker/link/worker_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <thread>

#include "kernels/base/mutex.h"
#include "server/errors/error.h"
#include "server/front/workers/attach_server.h"
#include "server/front/workers/worker_host.h"

namespace reel::worker {
namespace {

using worker::v1::AttachRequest;
using worker::v1::AttachResponse;

// The front as far as a link sees it.
class Front final : public front::SessionOwner {
 public:
  Front() : folder_(*front::RuntimeFolder::Make("")) {
    server_ = *front::AttachServer::Start(
        folder_.socket(),
        [this](const worker::v1::Hello& hello,
               std::shared_ptr<front::Session> session) -> absl::StatusOr<front::SessionOwner*> {
          if (hello.token() != "token") return absl::UnauthenticatedError("wrong token");
          MutexLock lock(mutex_);
          hello_ = hello;
          session_ = std::move(session);
          AttachResponse configure;
          configure.mutable_configure()->set_fill_rows(77);
          session_->Send({}, configure);
          return this;
        });
  }

  std::string socket() const { return folder_.socket(); }
  worker::v1::Hello hello() {
    MutexLock lock(mutex_);
    return hello_;
  }
  void Send(const AttachResponse& message) {
    MutexLock lock(mutex_);
    session_->Send({}, message);
  }
  void Close() {
    MutexLock lock(mutex_);
    session_->Close();
  }
  void SetReading(bool reading) {
    MutexLock lock(mutex_);
    reading_ = reading;
    if (reading) session_->Resume();
  }
  AttachRequest WaitFor(const std::function<bool(const AttachRequest&)>& matches) {
    MutexLock lock(mutex_);
    for (;;) {
      const auto found = std::ranges::find_if(received_, matches);
      if (found != received_.end()) return *found;
      changed_.Wait(mutex_);
    }
  }
  size_t Count(const std::function<bool(const AttachRequest&)>& matches) {
    MutexLock lock(mutex_);
    return static_cast<size_t>(std::ranges::count_if(received_, matches));
  }
  void WaitForEnd() {
    MutexLock lock(mutex_);
    while (!broken_) changed_.Wait(mutex_);
  }

  bool OnMessage(AttachRequest message) override {
    MutexLock lock(mutex_);
    received_.push_back(std::move(message));
    changed_.NotifyAll();
    return reading_;
  }
  void OnBroken() override {
    MutexLock lock(mutex_);
    broken_ = true;
    changed_.NotifyAll();
  }

 private:
  front::RuntimeFolder folder_;
  Mutex mutex_;
  CondVar changed_;
  worker::v1::Hello hello_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<front::Session> session_ ABSL_GUARDED_BY(mutex_);
  std::vector<AttachRequest> received_ ABSL_GUARDED_BY(mutex_);
  bool reading_ ABSL_GUARDED_BY(mutex_) = true;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<front::AttachServer> server_;  // last: its threads use the rest
};

class RecordingTarget final : public CommandTarget {
 public:
  void Post(EngineCommand command) override {
    MutexLock lock(mutex_);
    commands_.push_back(std::move(command));
    changed_.NotifyAll();
  }
  absl::Duration in_step() const override { return absl::Seconds(6); }
  EngineCommand WaitForNth(size_t n) {
    MutexLock lock(mutex_);
    while (commands_.size() < n) changed_.Wait(mutex_);
    return commands_[n - 1];
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<EngineCommand> commands_ ABSL_GUARDED_BY(mutex_);
};

class WorkerLinkTest : public testing::Test {
 protected:
  WorkerLinkTest() {
    options_.socket = front_.socket();
    options_.worker = "w0";
    options_.token = "token";
    options_.heartbeat = absl::Milliseconds(10);
  }
  void Connect() {
    auto link = WorkerLink::Connect(options_);
    ASSERT_TRUE(link.ok()) << link.status();
    link_ = *std::move(link);
  }
  void Serve() {
    Connect();
    link_->Serve(target_, {.on_broken = [this] { broken_.count_down(); },
                           .on_device_lost = [this](const absl::Status&) { device_lost_ = true; }});
  }
  void Report(WorkerEvent event) { link_->Report({{}, {"j", 1}, std::move(event)}); }

  Front front_;
  RecordingTarget target_;
  std::latch broken_{1};
  std::atomic<bool> device_lost_ = false;
  LinkOptions options_;
  std::unique_ptr<WorkerLink> link_;
};

TEST_F(WorkerLinkTest, SaysWhoItIsAndTakesItsSettings) {
  options_.device = "cpu";
  options_.memory_total_bytes = 5;
  options_.compute_capability = 90;
  options_.copy_bytes_per_second = 7;
  options_.kernels = {
      {.op = "rope",
       .variants = {
           {.name = "loops", .origin = "built-in", .runs = true, .is_auto = true, .reason = ""}}}};
  options_.versions = {{"reel", "1"}};
  Connect();
  const worker::v1::Hello hello = front_.hello();
  EXPECT_EQ(hello.protocol(), kWorkerProtocol);
  EXPECT_EQ(hello.worker(), "w0");
  EXPECT_EQ(hello.compute_capability(), 90);
  EXPECT_EQ(hello.memory_total_bytes(), 5);
  EXPECT_EQ(hello.copy_bytes_per_second(), 7);
  EXPECT_EQ(hello.kernels(0).variants(0).support(0).worker(), "w0");
  EXPECT_EQ(hello.versions().at("reel"), "1");
  EXPECT_EQ(link_->settings().fill_rows, 77);
}

TEST_F(WorkerLinkTest, ReturnsTheFrontsRefusal) {
  options_.token = "wrong";
  EXPECT_EQ(WorkerLink::Connect(options_).status().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(WorkerLinkTest, SaysWhenNobodyListens) {
  options_.socket += ".nobody";
  options_.dial_timeout = absl::Milliseconds(50);
  EXPECT_EQ(WorkerLink::Connect(options_).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(WorkerLinkTest, HandsCommandsOverInOrder) {
  Serve();
  for (const char* job : {"a", "b", "c"}) {
    AttachResponse assign;
    assign.mutable_assign()->set_job(job);
    front_.Send(assign);
  }
  EXPECT_EQ(std::get<Assignment>(target_.WaitForNth(1)).ref.job, "a");
  EXPECT_EQ(std::get<Assignment>(target_.WaitForNth(3)).ref.job, "c");
}

TEST_F(WorkerLinkTest, SendsALifeSignWhileAStepRuns) {
  Serve();
  const auto beat = front_.WaitFor(
      [](const AttachRequest& message) { return message.heartbeat().has_in_step(); });
  EXPECT_EQ(beat.heartbeat().in_step().seconds(), 6);
}

TEST_F(WorkerLinkTest, SendsLifeSignsMoreOftenOfALongStep) {
  options_.heartbeat = absl::Seconds(2);  // the target's step is in its seventh second
  Connect();
  // That of the start tells nothing of the engine, so that the next one comes after a whole beat.
  front_.WaitFor([](const AttachRequest& message) { return message.has_heartbeat(); });
  Serve();
  const auto in_step = [](const AttachRequest& message) {
    return message.heartbeat().has_in_step();
  };
  front_.WaitFor(in_step);
  const absl::Time first = absl::Now();
  while (front_.Count(in_step) < 2 && absl::Now() - first < absl::Seconds(2)) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_LT(absl::Now() - first, absl::Milliseconds(1500));
}

TEST_F(WorkerLinkTest, SendsALifeSignBeforeThereIsAnEngine) {
  Connect();
  front_.WaitFor([](const AttachRequest& message) { return message.has_heartbeat(); });
}

TEST_F(WorkerLinkTest, ReportsAJobWithItsLastMessageBehindItsMedia) {
  Serve();
  Report(JobProgress{model::Stage::kDenoise, 1, 2});
  Report(JobMedia{0, "media", true});
  Report(JobFinished{});
  front_.WaitFor([](const AttachRequest& message) { return message.has_finished(); });
  EXPECT_EQ(front_.Count([](const AttachRequest& message) { return message.has_media(); }), 1u);
}

TEST_F(WorkerLinkTest, CarriesTheReasonOfAFailure) {
  Serve();
  Report(JobFailed{MakeError(Reason::kEncoderFault, "broken"), true});
  const auto failed =
      front_.WaitFor([](const AttachRequest& message) { return message.has_failed(); });
  EXPECT_EQ(failed.failed().error().reason(), "ENCODER_FAULT");
  EXPECT_TRUE(failed.failed().error().job_is_suspect());
}

TEST_F(WorkerLinkTest, CarriesTheWholeCardUnderTheConfiguredName) {
  Serve();
  model::ModelCard card;
  card.name = "m";
  card.defaults.max_text_tokens = 128;
  Report(ModelLoaded{"m", card});
  const auto state =
      front_.WaitFor([](const AttachRequest& message) { return message.has_model_state(); });
  EXPECT_EQ(CardFromModelState(state.model_state()).defaults.max_text_tokens, 128);
}

TEST_F(WorkerLinkTest, SendsEverythingBeforeItLeaves) {
  Serve();
  for (int i = 0; i < 50; ++i) Report(JobMedia{i * 1000, std::string(1000, 'x'), true});
  Report(JobFinished{});
  link_->Leave(absl::InfiniteDuration());
  EXPECT_EQ(front_.Count([](const AttachRequest& message) { return message.has_media(); }), 50u);
  EXPECT_EQ(front_.Count([](const AttachRequest& message) { return message.has_finished(); }), 1u);
  EXPECT_FALSE(broken_.try_wait());
}

TEST_F(WorkerLinkTest, LeavesInTimeWhenTheFrontDoesNotRead) {
  options_.media_buffer_bytes = 1 << 20;
  Serve();
  front_.SetReading(false);
  std::thread encoder([&] {
    // More than every buffer on the way holds.
    for (int i = 0; i < 64; ++i) Report(JobMedia{0, std::string(1 << 20, 'x'), true});
  });
  link_->Leave(absl::Milliseconds(50));
  encoder.join();
}

TEST_F(WorkerLinkTest, TellsWhenTheFrontIsGoneAndReleasesTheEncoders) {
  options_.media_buffer_bytes = 1 << 20;
  Serve();
  front_.SetReading(false);
  std::thread encoder([&] {
    for (int i = 0; i < 64; ++i) Report(JobMedia{0, std::string(1 << 20, 'x'), true});
  });
  front_.Close();
  broken_.wait();
  encoder.join();
}

TEST_F(WorkerLinkTest, PassesOnThatTheDeviceIsLost) {
  Serve();
  link_->DeviceLost(absl::AbortedError("context"));
  EXPECT_TRUE(device_lost_);
}

}  // namespace
}  // namespace reel::worker
