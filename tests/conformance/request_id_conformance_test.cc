// SPDX-License-Identifier: Apache-2.0
// A request id stands for one video: whoever calls again, however often, and whatever became of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>
#include <vector>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RequestId : public Conformance {
 protected:
  Service& service() {
    return Shared({.faults = "faults { kind: 'nan' step: 2 prompt_contains: 'nan' times: 1 }"});
  }
  // The name under which the id is answered with this spec.
  static std::string NameOf(Caller& caller, const std::string& id, const v1::VideoSpec& spec) {
    const Answer answer = caller.Create(spec, id);
    EXPECT_TRUE(answer.ok()) << answer.status.error_message();
    return answer.video.name();
  }
};

TEST_P(RequestId, AHundredDuplicateCreatesRenderOnce) {
  constexpr size_t kCreates = 100;
  const auto steps = [&] {
    return service().server().Metric("reel_denoise_step_duration_seconds_count");
  };
  const double before = steps();
  const std::string id = NewRequestId();
  std::latch all_at_once(kCreates);
  std::vector<std::thread> threads;
  std::vector<std::string> names(kCreates);
  for (size_t t = 0; t < kCreates; ++t) {
    threads.emplace_back([&, t] {
      Caller caller(service().server());
      all_at_once.arrive_and_wait();
      names[t] = NameOf(caller, id, SmallSpec("x"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 1U);
  Caller caller(service().server());
  EXPECT_EQ(caller.Await(names[0]).state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(caller.Get(names[0]).video.request_id(), id);
  EXPECT_TRUE(Eventually([&] { return steps() >= before + 4; }));
  EXPECT_EQ(steps(), before + 4) << "rendered twice";
}

TEST_P(RequestId, JoinsARunningAndAFinishedVideo) {
  Caller caller(service().server());
  Calls calls = service().Connect();
  const v1::VideoSpec spec = Steps("joined", 100);
  const std::string id = NewRequestId();
  const std::string name = NameOf(caller, id, spec);
  caller.AwaitStep(name);
  EXPECT_EQ(NameOf(caller, id, spec), name);
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = spec;
  request.set_request_id(id);
  const StreamResult joined = calls.Generate(request);
  ASSERT_TRUE(joined.status.ok()) << joined.status.error_message();
  EXPECT_EQ(joined.accepted.name(), name);
  EXPECT_THAT(joined.faults, IsEmpty());
  const Answer finished = caller.Create(spec, id);
  EXPECT_EQ(finished.video.SerializeAsString(), caller.Get(name).video.SerializeAsString());
  const StreamResult again = calls.Generate(request);
  EXPECT_EQ(again.file, joined.file);
  EXPECT_EQ(again.finished.SerializeAsString(), joined.finished.SerializeAsString());
}

TEST_P(RequestId, WithAnotherSpecIsAConflict) {
  Caller caller(service().server());
  Calls calls = service().Connect();
  const std::string id = NewRequestId();
  const std::string name = NameOf(caller, id, SmallSpec("x"));
  const auto expect_conflict = [&] {
    const Answer conflict = caller.Create(SmallSpec("y"), id);
    EXPECT_EQ(conflict.status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
    EXPECT_EQ(conflict.reason(), "REQUEST_ID_CONFLICT");
    EXPECT_THAT(conflict.status.error_message(), HasSubstr(name));
    v1::GenerateVideoRequest request;
    *request.mutable_spec() = SmallSpec("y");
    request.set_request_id(id);
    EXPECT_EQ(calls.Generate(request).reason(), "REQUEST_ID_CONFLICT");
  };
  expect_conflict();
  caller.Await(name);
  expect_conflict();
}

TEST_P(RequestId, IsFreeAgainAfterACancelOrAFailure) {
  Caller caller(service().server());
  const std::string id = NewRequestId(), other = NewRequestId();
  const std::string cancelled = NameOf(caller, id, Steps("x", 100));
  EXPECT_TRUE(caller.Cancel(cancelled).ok());
  EXPECT_EQ(caller.Await(cancelled).state(), v1::VIDEO_STATE_CANCELLED);
  const std::string next = NameOf(caller, id, SmallSpec("another spec"));
  EXPECT_NE(next, cancelled);
  EXPECT_EQ(caller.Await(next).state(), v1::VIDEO_STATE_SUCCEEDED);
  const std::string failed = NameOf(caller, other, SmallSpec("nan"));
  EXPECT_EQ(caller.Await(failed).state(), v1::VIDEO_STATE_FAILED);
  const std::string retried = NameOf(caller, other, SmallSpec("nan"));
  EXPECT_NE(retried, failed);
  EXPECT_EQ(caller.Await(retried).state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(caller.Get(cancelled).video.state(), v1::VIDEO_STATE_CANCELLED);
  EXPECT_EQ(caller.Get(failed).video.state(), v1::VIDEO_STATE_FAILED);
}

// A client whose connection broke calls again at once, while its video is still being cancelled.
TEST_P(RequestId, IsFreeForWhoCallsAgainDuringACancel) {
  Service slow(GetParam(), {.step_ms = 200});
  Caller caller(slow.server());
  const std::string id = NewRequestId();
  const v1::VideoSpec spec = Steps("x", 100);
  const auto runs = [&](const std::string& name) {
    return Eventually([&] { return caller.Get(name).video.state() == v1::VIDEO_STATE_RUNNING; });
  };
  const std::string cancelled = NameOf(caller, id, spec);
  EXPECT_TRUE(runs(cancelled));
  EXPECT_TRUE(caller.Cancel(cancelled).ok());
  const std::string next = NameOf(caller, id, spec);
  EXPECT_NE(next, cancelled);
  EXPECT_EQ(caller.Get(cancelled).video.state(), v1::VIDEO_STATE_CANCELLED);
  EXPECT_TRUE(runs(next));
  EXPECT_TRUE(caller.Cancel(next).ok());
}

TEST_P(RequestId, OfADeletedVideoIsGoneWhateverIsAskedFor) {
  Caller caller(service().server());
  const std::string id = NewRequestId();
  const std::string name = NameOf(caller, id, SmallSpec("x"));
  caller.Await(name);
  ASSERT_TRUE(caller.Delete(name).ok());
  for (const char* const prompt : {"x", "another"}) {
    const Answer gone = caller.Create(SmallSpec(prompt), id);
    EXPECT_EQ(gone.status.error_code(), grpc::StatusCode::NOT_FOUND) << prompt;
    EXPECT_EQ(gone.reason(), "VIDEO_EXPIRED") << prompt;
  }
}

TEST_P(RequestId, OfADeletedFailureIsFree) {
  Caller caller(service().server());
  const std::string id = NewRequestId();
  const std::string name = NameOf(caller, id, Steps("x", 100));
  caller.Cancel(name);
  caller.Await(name);
  ASSERT_TRUE(caller.Delete(name).ok());
  const std::string next = NameOf(caller, id, SmallSpec("y"));
  EXPECT_NE(next, name);
  EXPECT_EQ(caller.Await(next).state(), v1::VIDEO_STATE_SUCCEEDED);
}

TEST_P(RequestId, OfARefusedCallIsFree) {
  Caller caller(service().server());
  const std::string id = NewRequestId();
  v1::VideoSpec bad = SmallSpec("x");
  bad.set_width(65);
  EXPECT_EQ(caller.Create(bad, id).reason(), "INVALID_SPEC");
  caller.Await(NameOf(caller, id, SmallSpec("x")));
  EXPECT_EQ(caller.Create(SmallSpec("x"), "no uuid").reason(), "INVALID_REQUEST");
}

REEL_EVERY_LIFE(RequestId);

}  // namespace
}  // namespace reel::tests
