// SPDX-License-Identifier: Apache-2.0
// A video from its creation to its deletion, and its ways to fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

class Lifecycle : public Conformance {
 protected:
  Service& service() {
    return Shared({.faults = "faults { kind: 'nan' step: 2 prompt_contains: 'nan' } "
                             "faults { kind: 'oom' step: 2 prompt_contains: 'oom' }"});
  }
};

TEST_P(Lifecycle, EveryReadTellsTheSameOfAFinishedVideo) {
  Caller caller(service().server());
  Calls calls = service().Connect();
  v1::CreateVideoRequest request;
  *request.mutable_spec() = Steps("a kite", 100);
  request.set_priority(v1::PRIORITY_HIGH);
  (*request.mutable_labels())["shot"] = "7";
  const Answer created = caller.Create(request);
  ASSERT_TRUE(created.ok()) << created.status.error_message();
  const std::string name = created.video.name();
  EXPECT_LE(created.video.state(), v1::VIDEO_STATE_RUNNING);
  EXPECT_EQ(created.video.spec().prompt(), "a kite");
  EXPECT_TRUE(created.video.has_create_time() && created.video.has_deadline());
  caller.AwaitStep(name);
  const v1::Video running = caller.Get(name).video;
  EXPECT_TRUE(running.has_start_time());
  EXPECT_EQ(running.attempt(), 1);
  EXPECT_FALSE(running.worker().empty());
  EXPECT_FALSE(running.has_end_time() || running.has_expire_time() || running.has_stats());

  const v1::Video video = caller.Await(name);
  EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
  EXPECT_TRUE(video.has_end_time() && video.has_expire_time() && video.has_stats());
  EXPECT_EQ(video.labels().at("shot"), "7");
  EXPECT_EQ(video.priority(), v1::PRIORITY_HIGH);
  EXPECT_GT(video.stats().device_seconds(), 0);
  std::string file;
  ASSERT_TRUE(calls.Download(name, 0, &file).ok());
  EXPECT_EQ(video.media().size_bytes(), static_cast<int64_t>(file.size()));
  EXPECT_EQ(video.media().sha256(), Sha256Hex(file));
  v1::WatchVideoRequest watch;
  watch.set_name(name);
  const StreamResult replay = calls.Watch(watch);
  EXPECT_EQ(replay.finished.SerializeAsString(), video.SerializeAsString());
  const Page page = caller.List(1, "", {v1::VIDEO_STATE_SUCCEEDED});
  ASSERT_EQ(page.videos.size(), 1U);
  v1::Video listed = video;
  listed.clear_stats();
  EXPECT_EQ(page.videos[0].SerializeAsString(), listed.SerializeAsString());
}

TEST_P(Lifecycle, AResolvedSpecSentAgainGivesTheSameFile) {
  Calls calls = service().Connect();
  v1::VideoSpec spec = SmallSpec("a kite");
  spec.clear_seed();
  const StreamResult first = calls.Generate(spec);
  ASSERT_TRUE(first.is_finished && first.finished.spec().has_seed());
  const StreamResult second = calls.Generate(first.finished.spec());
  EXPECT_EQ(second.file, first.file);
  EXPECT_EQ(second.finished.spec().SerializeAsString(), first.finished.spec().SerializeAsString());
}

TEST_P(Lifecycle, DeleteRemovesAFinishedVideoAndRefusesARunningOne) {
  Caller caller(service().server());
  Calls calls = service().Connect();
  const std::string name = caller.Create(Steps("x", 100)).video.name();
  EXPECT_EQ(ReasonOf(caller.Delete(name)), "VIDEO_NOT_FINAL");
  caller.AwaitStep(name);
  EXPECT_EQ(ReasonOf(caller.Delete(name)), "VIDEO_NOT_FINAL");
  EXPECT_TRUE(caller.Cancel(name).ok());
  caller.Await(name);
  EXPECT_TRUE(caller.Delete(name).ok());
  const std::string finished = caller.Create(SmallSpec("x")).video.name();
  caller.Await(finished);
  EXPECT_TRUE(caller.Delete(finished).ok());
  std::string bytes;
  v1::WatchVideoRequest watch;
  for (const std::string& gone : {name, finished}) {
    EXPECT_EQ(caller.Get(gone).reason(), "VIDEO_NOT_FOUND");
    EXPECT_EQ(caller.Cancel(gone).reason(), "VIDEO_NOT_FOUND");
    EXPECT_EQ(ReasonOf(caller.Delete(gone)), "VIDEO_NOT_FOUND");
    EXPECT_EQ(ReasonOf(calls.Download(gone, 0, &bytes)), "VIDEO_NOT_FOUND");
    watch.set_name(gone);
    EXPECT_EQ(calls.Watch(watch).reason(), "VIDEO_NOT_FOUND");
    EXPECT_THAT(caller.Names(), Not(Contains(gone)));
  }
}

TEST_P(Lifecycle, AVideoThatFailsSaysWhyToEverybody) {
  Caller caller(service().server());
  Calls calls = service().Connect();
  for (const auto& [prompt, reason] :
       {std::pair{"nan", "NUMERICAL_FAULT"}, {"oom", "OUT_OF_DEVICE_MEMORY"}}) {
    const StreamResult stream = calls.Generate(SmallSpec(prompt));
    EXPECT_EQ(stream.reason(), reason);
    EXPECT_EQ(stream.status.error_code(), grpc::StatusCode::INTERNAL);
    const std::string name = stream.accepted.name();
    const v1::Video video = caller.Await(name);
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_FAILED);
    EXPECT_EQ(ErrorOf(video), reason);
    EXPECT_TRUE(video.has_end_time() && video.has_expire_time());
    EXPECT_EQ(video.media().size_bytes(), 0);
    v1::WatchVideoRequest watch;
    watch.set_name(name);
    const StreamResult late = calls.Watch(watch);
    EXPECT_EQ(late.status.error_message(), stream.status.error_message());
    EXPECT_EQ(late.reason(), reason);
    std::string bytes;
    EXPECT_EQ(ReasonOf(calls.Download(name, 0, &bytes)), "VIDEO_NOT_READY");
    EXPECT_THAT(caller.Names(200, {v1::VIDEO_STATE_FAILED}), Contains(name));
    EXPECT_TRUE(caller.Delete(name).ok());
  }
}

TEST_P(Lifecycle, AKilledWorkerCostsTimeOnly) {
  ReelServer& server = service().server();
  Calls calls = service().Connect();
  const double losses = server.Metric("reel_worker_restarts_total");
  const double restarts = server.Metric("reel_restarted_jobs_total");
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = Steps("killed", 100);
  bool killed = false;
  const StreamResult result = calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (!killed && event.has_progress() && event.progress().step() >= 5) {
      killed = true;
      for (const pid_t worker : server.Children()) ::kill(worker, SIGKILL);
    }
    return true;
  });
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_EQ(result.restarts, 1);
  EXPECT_EQ(result.finished.attempt(), 2);
  EXPECT_EQ(result.finished.stats().restarts(), 1);
  EXPECT_EQ(result.finished.media().sha256(), Sha256Hex(result.file));
  EXPECT_EQ(server.Metric("reel_worker_restarts_total"), losses + 1);
  EXPECT_EQ(server.Metric("reel_restarted_jobs_total"), restarts + 1);
}

TEST_P(Lifecycle, EstimateAndValidateStartNothing) {
  Caller caller(service().server());
  Calls calls = service().Connect();
  const size_t before = caller.Names().size();
  v1::EstimateVideoRequest estimate;
  *estimate.mutable_spec() = SmallSpec("x");
  v1::EstimateVideoResponse cost;
  grpc::ClientContext context;
  ASSERT_TRUE(calls.videos().EstimateVideo(&context, estimate, &cost).ok());
  EXPECT_TRUE(cost.admissible());
  EXPECT_GT(cost.run_p50().seconds() + cost.run_p50().nanos(), 0);
  v1::CreateVideoRequest create;
  *create.mutable_spec() = SmallSpec("x");
  create.set_validate_only(true);
  const Answer validated = caller.Create(create);
  EXPECT_TRUE(validated.ok()) << validated.status.error_message();
  EXPECT_TRUE(validated.video.name().empty());
  EXPECT_EQ(validated.video.spec().width(), 128);
  create.mutable_spec()->set_width(65);
  EXPECT_EQ(caller.Create(create).reason(), "INVALID_SPEC");
  EXPECT_EQ(caller.Names().size(), before);
}

TEST_P(Lifecycle, NamesOfNoVideoAreRefused) {
  Caller caller(service().server());
  const std::string name = caller.Create(SmallSpec("x")).video.name();
  caller.Await(name);
  std::string unknown = name;
  unknown.back() = unknown.back() == 'a' ? 'b' : 'a';
  EXPECT_EQ(caller.Get(unknown).reason(), "VIDEO_NOT_FOUND");
  EXPECT_EQ(caller.Cancel(unknown).reason(), "VIDEO_NOT_FOUND");
  EXPECT_EQ(ReasonOf(caller.Delete(unknown)), "VIDEO_NOT_FOUND");
  const std::string elsewhere = "videos/other-" + name.substr(name.find('-') + 1);
  EXPECT_EQ(caller.Get(elsewhere).reason(), "WRONG_REPLICA");
  EXPECT_EQ(caller.Cancel(elsewhere).reason(), "WRONG_REPLICA");
  EXPECT_EQ(ReasonOf(caller.Delete(elsewhere)), "WRONG_REPLICA");
  for (const char* const bad : {"", "videos/", "x", "videos/a/b"}) {
    const Answer answer = caller.Get(bad);
    EXPECT_EQ(answer.reason(), "INVALID_REQUEST") << bad << ": " << answer.status.error_message();
  }
}

REEL_EVERY_LIFE(Lifecycle);

}  // namespace
}  // namespace reel::tests
