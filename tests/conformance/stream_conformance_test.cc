// SPDX-License-Identifier: Apache-2.0
// Streams: the history and the bytes of a video, while it is made and afterwards, from any point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::IsEmpty;

class Stream : public Conformance {
 protected:
  Service& service() { return Shared(); }
  static v1::WatchVideoRequest WatchOf(const std::string& name) {
    v1::WatchVideoRequest watch;
    watch.set_name(name);
    return watch;
  }
  static void ExpectWhole(const StreamResult& stream) {
    EXPECT_TRUE(stream.is_finished) << stream.status.error_message();
    EXPECT_TRUE(stream.status.ok()) << stream.status.error_message();
    EXPECT_THAT(stream.faults, IsEmpty());
    EXPECT_EQ(stream.restarts, 0);
    EXPECT_EQ(Sha256Hex(stream.file), stream.finished.media().sha256());
  }
};

TEST_P(Stream, OneCallBringsProgressPreviewsAndTheWholeFile) {
  Calls calls = service().Connect();
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = Steps("a lighthouse", 10);
  request.mutable_spec()->mutable_preview()->set_every_steps(5);
  const StreamResult result = calls.Generate(request);
  ExpectWhole(result);
  int progress = 0, previews = 0, first_step = -1, last_step = 0;
  for (const v1::VideoEvent& event : result.events) {
    previews += event.has_preview() ? 1 : 0;
    if (!event.has_progress()) continue;
    ++progress;
    if (event.progress().step() > 0 && first_step < 0) first_step = event.progress().step();
    last_step = event.progress().step();
  }
  EXPECT_GE(progress, 3);
  EXPECT_EQ(first_step, 1);
  EXPECT_EQ(last_step, 10);
  EXPECT_GE(previews, 1);
  EXPECT_EQ(result.events.front().sequence(), 1U);
  EXPECT_EQ(result.finished.name(), result.accepted.name());
}

TEST_P(Stream, WatchersWhoComeSoonLateAndAfterwardsSeeTheSame) {
  Caller caller(service().server());
  const std::string name = caller.Create(Steps("a fox", 100)).video.name();
  std::vector<StreamResult> seen(3);
  std::vector<std::thread> watchers;
  for (size_t i = 0; i < 2; ++i) {
    watchers.emplace_back([&, i] { seen[i] = service().Connect().Watch(WatchOf(name)); });
    caller.AwaitStep(name, 10);
  }
  for (std::thread& watcher : watchers) watcher.join();
  Calls calls = service().Connect();
  seen[2] = calls.Watch(WatchOf(name));
  for (const StreamResult& stream : seen) {
    ExpectWhole(stream);
    EXPECT_EQ(stream.file, seen[0].file);
    EXPECT_EQ(stream.finished.SerializeAsString(), seen[0].finished.SerializeAsString());
    EXPECT_EQ(stream.events.back().sequence(), seen[0].events.back().sequence());
  }
  std::string downloaded;
  v1::MediaInfo media;
  ASSERT_TRUE(calls.Download(name, 0, &downloaded, &media).ok());
  EXPECT_EQ(downloaded, seen[0].file);
  EXPECT_EQ(media.sha256(), Sha256Hex(downloaded));
}

TEST_P(Stream, ResumesAtAnyOffset) {
  Calls calls = service().Connect();
  const StreamResult made = calls.Generate(SmallSpec("a bridge", 13));
  ExpectWhole(made);
  const std::string name = made.accepted.name();
  for (const size_t offset : {size_t{1}, made.file.size() / 2, made.file.size()}) {
    v1::WatchVideoRequest watch = WatchOf(name);
    watch.set_after_sequence(1);
    watch.set_media_offset(static_cast<int64_t>(offset));
    watch.set_attempt(1);
    const StreamResult rest = calls.Watch(watch);
    ASSERT_TRUE(rest.status.ok()) << rest.status.error_message();
    EXPECT_THAT(rest.faults, IsEmpty());
    EXPECT_EQ(rest.file, made.file.substr(offset));
    std::string downloaded;
    EXPECT_TRUE(calls.Download(name, watch.media_offset(), &downloaded).ok());
    EXPECT_EQ(downloaded, made.file.substr(offset));
  }
  v1::WatchVideoRequest beyond = WatchOf(name);
  beyond.set_media_offset(static_cast<int64_t>(made.file.size()) + 1);
  EXPECT_EQ(calls.Watch(beyond).reason(), "OFFSET_PAST_END");
  std::string none;
  EXPECT_EQ(ReasonOf(calls.Download(name, beyond.media_offset(), &none)), "OFFSET_PAST_END");
  // Of another attempt it begins anew.
  v1::WatchVideoRequest other = WatchOf(name);
  other.set_media_offset(5);
  other.set_attempt(7);
  std::string whole;
  const StreamResult anew = calls.Watch(other, [&](const v1::VideoEvent& event) {
    if (event.has_media()) whole += event.media().data();
    return true;
  });
  EXPECT_TRUE(anew.is_finished) << anew.status.error_message();
  EXPECT_EQ(whole, made.file);
}

TEST_P(Stream, GoesOnAfterTheLastSequenceThatWasSeen) {
  Calls calls = service().Connect();
  const StreamResult made = calls.Generate(Steps("a road", 20));
  ExpectWhole(made);
  v1::WatchVideoRequest watch = WatchOf(made.accepted.name());
  watch.set_without_media(true);
  watch.set_after_sequence(made.events.back().sequence() - 1);
  const StreamResult rest = calls.Watch(watch);
  ASSERT_EQ(rest.events.size(), 2U) << "accepted and finished";
  EXPECT_TRUE(rest.events[0].has_accepted());
  EXPECT_EQ(rest.events[0].sequence(), 1U);
  EXPECT_EQ(rest.events[1].sequence(), made.events.back().sequence());
  EXPECT_EQ(rest.finished.SerializeAsString(), made.finished.SerializeAsString());
}

TEST_P(Stream, WithoutMediaLeavesTheBytesForLater) {
  Calls calls = service().Connect();
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = SmallSpec("a train", 17);
  request.set_without_media(true);
  const StreamResult result = calls.Generate(request);
  ASSERT_TRUE(result.is_finished) << result.status.error_message();
  EXPECT_THAT(result.file, IsEmpty());
  std::string downloaded;
  ASSERT_TRUE(calls.Download(result.accepted.name(), 0, &downloaded).ok());
  EXPECT_EQ(Sha256Hex(downloaded), result.finished.media().sha256());
}

TEST_P(Stream, AVideoUnderWayCannotBeDownloaded) {
  Caller caller(service().server());
  const std::string name = caller.Create(Steps("x", 100)).video.name();
  caller.AwaitStep(name);
  std::string bytes;
  EXPECT_EQ(ReasonOf(service().Connect().Download(name, 0, &bytes)), "VIDEO_NOT_READY");
  EXPECT_TRUE(caller.Cancel(name).ok());
  caller.Await(name);
  EXPECT_EQ(ReasonOf(service().Connect().Download(name, 0, &bytes)), "VIDEO_NOT_READY");
  EXPECT_THAT(bytes, IsEmpty());
}

// Whoever waits in the queue hears where it stands, and hears it often.
TEST_P(Stream, OfAQueuedVideoTellsItsPlaceAndIsNeverSilent) {
  if (GetParam() == Life::kFleet) GTEST_SKIP() << "README.md: a fleet's is silent, and 0";
  Service service(GetParam(), {.step_ms = 50,
                               .timing = "heartbeat { nanos: 200000000 }",
                               .more = "scheduler { order: 'fifo' fill_rows: 1 }"});
  Caller caller(service.server());
  std::vector<std::string> before;
  for (int i = 0; i < 4; ++i) before.push_back(caller.Create(Steps("x", 100)).video.name());
  caller.AwaitStep(before[0]);
  const std::string name = caller.Create(SmallSpec("x")).video.name();
  EXPECT_EQ(caller.Get(name).video.progress().queue_position(), 3);
  int signs = 0;
  service.Connect().Watch(WatchOf(name), [&](const v1::VideoEvent& event) {
    if (!event.has_progress()) return true;
    EXPECT_EQ(event.progress().stage(), v1::STAGE_QUEUE);
    EXPECT_EQ(event.progress().queue_position(), 3);
    return ++signs < 4;
  });
  EXPECT_EQ(signs, 4);
  for (const std::string& other : before) EXPECT_TRUE(caller.Cancel(other).ok());
  EXPECT_EQ(caller.Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
}

REEL_EVERY_LIFE(Stream);

}  // namespace
}  // namespace reel::tests
