// SPDX-License-Identifier: Apache-2.0
// A service's next process knows what the last one knew, after a SIGTERM and after a SIGKILL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <string>
#include <vector>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

// Everything that a service can have when it ends, one of each.
struct Kept {
  std::string finished, failed, cancelled, deleted, running, queued, last;
  std::map<std::string, std::string> ids;  // request ids by name
  v1::Video finished_video, failed_video, cancelled_video;
  std::string file;
};

// Signals a service in the middle of a video whose events it sees.
class EndAtStep {
 public:
  EndAtStep(Service& service, int signal) : service_(service), signal_(signal) {}
  void See(const v1::VideoEvent& event) {
    if (signalled_ || !event.has_progress() || event.progress().step() < 5) return;
    signalled_ = true;
    service_.server().Signal(signal_);
  }

 private:
  Service& service_;
  const int signal_;
  bool signalled_ = false;  // a second SIGTERM would end it at once
};

class Restart : public Conformance {
 protected:
  static ServiceSetup Slow() {
    return {.step_ms = 50,
            .faults = "faults { kind: 'nan' step: 2 prompt_contains: 'nan' }",
            .more = "scheduler { order: 'fifo' fill_rows: 1 }"};
  }
  static ServiceSetup Fast() {
    ServiceSetup setup = Slow();
    setup.step_ms = 5;
    return setup;
  }
  static v1::VideoSpec LongSpec() { return Steps("long", 100); }

  static Kept Fill(Service& service) {
    Caller caller(service.server());
    Kept kept;
    const auto create = [&](const v1::VideoSpec& spec) {
      const std::string id = NewRequestId();
      const std::string name = caller.Create(spec, id).video.name();
      kept.ids[name] = id;
      return name;
    };
    kept.finished = create(SmallSpec("finished"));
    kept.failed = create(SmallSpec("nan"));
    kept.deleted = create(SmallSpec("deleted"));
    kept.finished_video = caller.Await(kept.finished);
    kept.failed_video = caller.Await(kept.failed);
    caller.Await(kept.deleted);
    EXPECT_TRUE(caller.Delete(kept.deleted).ok());
    EXPECT_TRUE(service.Connect().Download(kept.finished, 0, &kept.file).ok());
    kept.running = create(LongSpec());
    caller.AwaitStep(kept.running);
    kept.queued = create(LongSpec());
    kept.last = create(LongSpec());
    kept.cancelled = create(LongSpec());
    EXPECT_TRUE(caller.Cancel(kept.cancelled).ok());
    kept.cancelled_video = caller.Await(kept.cancelled);
    return kept;
  }

  static void ExpectTheSame(Caller& caller, const v1::Video& before) {
    const Answer now = caller.Get(before.name());
    ASSERT_TRUE(now.ok()) << now.status.error_message();
    EXPECT_EQ(now.video.DebugString(), before.DebugString());
  }

  static void ExpectRequestIds(Caller& caller, const Kept& kept) {
    const auto again = [&](const v1::VideoSpec& spec, const std::string& name) {
      return caller.Create(spec, kept.ids.at(name));
    };
    EXPECT_EQ(again(SmallSpec("finished"), kept.finished).video.name(), kept.finished);
    EXPECT_EQ(again(LongSpec(), kept.running).video.name(), kept.running);
    EXPECT_EQ(again(LongSpec(), kept.queued).video.name(), kept.queued);
    EXPECT_EQ(again(SmallSpec("other"), kept.finished).reason(), "REQUEST_ID_CONFLICT");
    EXPECT_EQ(again(SmallSpec("other"), kept.queued).reason(), "REQUEST_ID_CONFLICT");
    EXPECT_EQ(again(SmallSpec("deleted"), kept.deleted).reason(), "VIDEO_EXPIRED");
    const Answer free = again(SmallSpec("free"), kept.cancelled);
    EXPECT_TRUE(free.ok()) << free.status.error_message();
    EXPECT_NE(free.video.name(), kept.cancelled);
    EXPECT_EQ(caller.Await(free.video.name()).state(), v1::VIDEO_STATE_SUCCEEDED);
  }

  void LosesNothing(int signal);
  void LetsAStreamGoOn(int signal);
  void EndsABoundVideo(int signal);
};

void Restart::LosesNothing(int signal) {
  Service service(GetParam(), Slow());
  const Kept kept = Fill(service);
  service.Configure(Fast());
  service.Restart(signal);
  Caller caller(service.server());
  Calls calls = service.Connect();
  ExpectTheSame(caller, kept.finished_video);
  ExpectTheSame(caller, kept.failed_video);
  ExpectTheSame(caller, kept.cancelled_video);
  EXPECT_EQ(caller.Get(kept.deleted).reason(), "VIDEO_NOT_FOUND");
  std::string bytes;
  EXPECT_TRUE(calls.Download(kept.finished, 0, &bytes).ok());
  EXPECT_EQ(bytes, kept.file);
  EXPECT_THAT(caller.Names(), ::testing::ElementsAre(kept.cancelled, kept.last, kept.queued,
                                                     kept.running, kept.failed, kept.finished));
  ExpectRequestIds(caller, kept);
  for (const std::string& name : {kept.running, kept.queued, kept.last}) {
    const v1::Video video = caller.Await(name);
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
    EXPECT_EQ(video.request_id(), kept.ids.at(name));
    bytes.clear();
    EXPECT_TRUE(calls.Download(name, 0, &bytes).ok());
    EXPECT_EQ(video.media().sha256(), Sha256Hex(bytes));
  }
  EXPECT_GT(caller.Get(kept.running).video.attempt(), 1);
  EXPECT_EQ(caller.Get(kept.last).video.attempt(), 1);
  // Names of a new process are like those of the one before.
  const std::string later = caller.Create(SmallSpec("x")).video.name();
  EXPECT_EQ(later.substr(0, later.find('-')), kept.finished.substr(0, kept.finished.find('-')));
  caller.Await(later);
}

TEST_P(Restart, LosesNothing) { LosesNothing(SIGTERM); }
TEST_P(Restart, ByAKillLosesNothing) { LosesNothing(SIGKILL); }

// With what its client has of it.
void Restart::LetsAStreamGoOn(int signal) {
  Service service(GetParam(), Slow());
  EndAtStep end(service, signal);
  v1::WatchVideoRequest watch;
  watch.set_name(Caller(service.server()).Create(LongSpec()).video.name());
  const StreamResult cut = service.Connect().Watch(watch, [&](const v1::VideoEvent& event) {
    watch.set_after_sequence(event.sequence());
    end.See(event);
    return true;
  });
  EXPECT_EQ(cut.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  if (signal == SIGTERM) {
    EXPECT_EQ(cut.reason(), "SERVER_DRAINING");
  }
  ASSERT_TRUE(service.server().WaitForExit().ok());
  service.Configure(Fast());
  service.Start();
  watch.set_attempt(1);
  const StreamResult rest = service.Connect().Watch(watch);
  EXPECT_TRUE(rest.is_finished) << rest.status.error_message();
  EXPECT_THAT(rest.faults, IsEmpty());
  EXPECT_EQ(rest.restarts, 1) << "what was received is void";
  ASSERT_GT(rest.events.size(), 1U);
  EXPECT_GT(rest.events[1].sequence(), watch.after_sequence());
  EXPECT_GT(rest.finished.attempt(), 1);
  EXPECT_EQ(Sha256Hex(rest.file), rest.finished.media().sha256());
}

TEST_P(Restart, LetsAStreamGoOn) { LetsAStreamGoOn(SIGTERM); }
TEST_P(Restart, ByAKillLetsAStreamGoOn) { LetsAStreamGoOn(SIGKILL); }

// One that runs is finished within the drain.
TEST_P(Restart, ADrainFinishesWhatRunsAndRefusesTheRest) {
  ServiceSetup setup = Fast();
  setup.step_ms = 20;
  setup.drain_ms = 30'000;
  Service service(GetParam(), setup);
  Caller caller(service.server());
  std::string queued;
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = LongSpec();
  bool signalled = false;
  std::string refused;
  const StreamResult running =
      service.Connect().Generate(request, [&](const v1::VideoEvent& event) {
        if (!signalled && event.has_progress() && event.progress().step() >= 2) {
          signalled = true;
          for (int i = 0; i < 3; ++i) queued = caller.Create(LongSpec()).video.name();
          service.server().Signal(SIGTERM);
          EXPECT_TRUE(Eventually([&] {
            refused = caller.Create(SmallSpec("refused")).reason();
            return !refused.empty() || !service.server().Alive();
          }));
        }
        return true;
      });
  EXPECT_TRUE(running.is_finished) << running.status.error_message();
  EXPECT_EQ(refused, "SERVER_DRAINING");
  const auto exit = service.server().WaitForExit();
  ASSERT_TRUE(exit.ok()) << exit.status();
  EXPECT_EQ(*exit, 0);
  service.Configure(Fast());
  service.Start();
  Caller again(service.server());
  EXPECT_EQ(again.Await(queued).state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(again.Get(running.accepted.name()).video.SerializeAsString(),
            running.finished.SerializeAsString());
}

// Of the one call that a video is for the process's end is the end.
void Restart::EndsABoundVideo(int signal) {
  Service service(GetParam(), Slow());
  EndAtStep end(service, signal);
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = LongSpec();
  std::string name;
  const StreamResult cut = service.Connect().Generate(request, [&](const v1::VideoEvent& event) {
    if (event.has_accepted()) name = event.accepted().name();
    end.See(event);
    return true;
  });
  EXPECT_EQ(cut.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  ASSERT_TRUE(service.server().WaitForExit().ok());
  service.Configure(Fast());
  service.Start();
  const v1::Video video = Caller(service.server()).Await(name);
  // Who is killed ends nobody's video.
  if (signal == SIGKILL) {
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
    return;
  }
  EXPECT_EQ(video.state(), v1::VIDEO_STATE_CANCELLED) << video.DebugString();
  EXPECT_EQ(ErrorOf(video), "OWNER_LEFT");
}

TEST_P(Restart, EndsABoundVideo) { EndsABoundVideo(SIGTERM); }
TEST_P(Restart, ByAKillEndsABoundVideo) { EndsABoundVideo(SIGKILL); }

REEL_EVERY_LIFE(Restart);

}  // namespace
}  // namespace reel::tests
