// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/stream_driver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "server/errors/error.h"

namespace reel::front {
namespace {

// A call whose writes a test takes by hand. The driver's lock guards the calls that it makes; the
// test waits on a lock of its own.
class FakeCall final : public StreamCall {
 public:
  void Offer(int messages) {
    MutexLock lock(mutex_);
    offered_ += messages;
  }
  void EndAfterwards(const absl::Status& status) {
    MutexLock lock(mutex_);
    end_ = status;
  }
  StreamStep Prepare(absl::Status& end) override {
    MutexLock lock(mutex_);
    if (offered_ > 0) {
      --offered_;
      return StreamStep::kMessage;
    }
    if (!end_) return StreamStep::kWait;
    end = *end_;
    return StreamStep::kEnd;
  }
  void StartWrite() override {
    MutexLock lock(mutex_);
    ++writes_;
    changed_.NotifyAll();
  }
  void Finish(const absl::Status& status) override {
    MutexLock lock(mutex_);
    finishes_.push_back(status);
    changed_.NotifyAll();
  }
  void Abort() override {
    MutexLock lock(mutex_);
    aborted_ = true;
    changed_.NotifyAll();
  }
  absl::Status Allowed() override {
    MutexLock lock(mutex_);
    return allowed_;
  }
  void Revoke() {
    MutexLock lock(mutex_);
    allowed_ = absl::UnauthenticatedError("revoked");
  }

  void WaitForWrites(int count) {
    MutexLock lock(mutex_);
    while (writes_ < count) changed_.Wait(mutex_);
  }
  absl::Status WaitForFinish() {
    MutexLock lock(mutex_);
    while (finishes_.empty()) changed_.Wait(mutex_);
    return finishes_.front();
  }
  void WaitForAbort() {
    MutexLock lock(mutex_);
    while (!aborted_) changed_.Wait(mutex_);
  }
  size_t finishes() {
    MutexLock lock(mutex_);
    return finishes_.size();
  }
  int writes() {
    MutexLock lock(mutex_);
    return writes_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int offered_ = 0, writes_ = 0;
  bool aborted_ = false;
  absl::Status allowed_;
  std::optional<absl::Status> end_;
  std::vector<absl::Status> finishes_;
};

struct Stream {
  explicit Stream(absl::Duration stall = absl::Hours(1), absl::Duration period = absl::Hours(1))
      : pump(1, period), driver(std::make_shared<StreamDriver>(call, pump, stall)) {
    pump.Watch(driver);
  }
  FakeCall call;
  StreamPump pump;
  std::shared_ptr<StreamDriver> driver;
};

TEST(StreamDriver, HasOneWriteOutstanding) {
  Stream stream;
  stream.call.Offer(3);
  stream.driver->Start();
  stream.call.WaitForWrites(1);
  for (int i = 0; i < 10; ++i) stream.driver->Pump();
  EXPECT_EQ(stream.call.writes(), 1);
  stream.driver->OnWriteDone(true);
  EXPECT_EQ(stream.call.writes(), 2);
}

TEST(StreamDriver, SendsNothingBeforeItIsStarted) {
  Stream stream;
  stream.call.Offer(1);
  stream.driver->Pump();
  EXPECT_EQ(stream.call.writes(), 0);
}

TEST(StreamDriver, AWakeBringsTheNextMessage) {
  Stream stream;
  stream.driver->Start();
  stream.call.Offer(1);
  stream.driver->Wake();
  stream.call.WaitForWrites(1);
}

TEST(StreamDriver, FinishesOnceAtItsEnd) {
  Stream stream;
  stream.call.Offer(1);
  stream.call.EndAfterwards(absl::OkStatus());
  stream.driver->Start();
  stream.call.WaitForWrites(1);
  stream.driver->OnWriteDone(true);
  EXPECT_TRUE(stream.call.WaitForFinish().ok());
  stream.driver->OnCancel();
  stream.driver->Pump();
  EXPECT_EQ(stream.call.finishes(), 1U);
  EXPECT_EQ(stream.driver->Detach(), StreamEnd::kServed);
}

TEST(StreamDriver, AFailureWaitsForTheWriteThatIsOut) {
  Stream stream;
  stream.call.Offer(1);
  stream.driver->Start();
  stream.call.WaitForWrites(1);
  stream.driver->Fail(absl::InternalError("x"));
  stream.driver->Pump();
  EXPECT_EQ(stream.call.finishes(), 0U);
  stream.driver->OnWriteDone(true);
  EXPECT_EQ(stream.call.WaitForFinish(), absl::InternalError("x"));
}

TEST(StreamDriver, ARefusalNeedsNoPump) {
  Stream stream;
  stream.driver->FailNow(absl::UnavailableError("x"));
  EXPECT_EQ(stream.call.finishes(), 1U);
  stream.driver->OnCancel();
  EXPECT_EQ(stream.call.finishes(), 1U);
}

TEST(StreamDriver, ACancelBeforeTheStartEndsTheCall) {
  Stream stream;
  stream.driver->OnCancel();
  EXPECT_EQ(stream.call.WaitForFinish().code(), absl::StatusCode::kCancelled);
  stream.driver->Start();  // the answer of jobs/ comes too late
  EXPECT_EQ(stream.driver->Detach(), StreamEnd::kCallerGone);
  stream.driver->Wake();
  stream.driver->Pump();
  EXPECT_EQ(stream.call.finishes(), 1U);
}

TEST(StreamDriver, AFailedWriteIsACallerWhoHasGone) {
  Stream stream;
  stream.call.Offer(1);
  stream.driver->Start();
  stream.call.WaitForWrites(1);
  stream.driver->OnWriteDone(false);
  EXPECT_EQ(stream.call.WaitForFinish().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(stream.driver->Detach(), StreamEnd::kCallerGone);
}

TEST(StreamDriver, AStalledWriteIsBrokenOff) {
  Stream stream(absl::Milliseconds(5), absl::Milliseconds(1));
  stream.call.Offer(1);
  stream.driver->Start();
  stream.call.WaitForAbort();
  // As gRPC does once it is told.
  stream.driver->OnCancel();
  stream.driver->OnWriteDone(false);
  EXPECT_FALSE(stream.call.WaitForFinish().ok());
  EXPECT_EQ(stream.driver->Detach(), StreamEnd::kSlowReader);
}

TEST(StreamDriver, AnIdleStreamIsNoStalledOne) {
  Stream stream(absl::Milliseconds(1), absl::Hours(1));
  stream.driver->Start();
  stream.call.Offer(1);
  stream.driver->Wake();
  stream.call.WaitForWrites(1);
  stream.driver->OnWriteDone(true);
  stream.driver->Check();
  stream.call.EndAfterwards(absl::OkStatus());
  stream.driver->Wake();
  EXPECT_TRUE(stream.call.WaitForFinish().ok());
}

TEST(StreamDriver, ARevokedCallersStreamEnds) {
  Stream stream(absl::Hours(1), absl::Milliseconds(1));
  stream.driver->Start();
  stream.call.Revoke();
  EXPECT_EQ(stream.call.WaitForFinish().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(stream.driver->Detach(), StreamEnd::kCallerGone);
}

TEST(StreamDriver, ARevokedCallersWriteIsTheLast) {
  Stream stream;
  stream.call.Offer(2);
  stream.driver->Start();
  stream.call.WaitForWrites(1);
  stream.call.Revoke();
  stream.driver->Check();
  EXPECT_EQ(stream.call.finishes(), 0U);
  stream.driver->OnWriteDone(true);
  EXPECT_EQ(stream.call.WaitForFinish().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(stream.call.writes(), 1);
}

TEST(StreamDriver, ClosingDeliversWhatIsThereFirst) {
  Stream stream;
  stream.call.Offer(2);
  stream.driver->Start();
  stream.call.WaitForWrites(1);
  stream.driver->Close();
  stream.driver->OnWriteDone(true);
  stream.call.WaitForWrites(2);
  EXPECT_EQ(stream.call.finishes(), 0U);
  stream.driver->OnWriteDone(true);
  EXPECT_EQ(ReasonOf(stream.call.WaitForFinish()), Reason::kServerDraining);
}

TEST(StreamDriver, ClosingAnIdleStreamEndsIt) {
  Stream stream;
  stream.driver->Start();
  stream.driver->Close();
  EXPECT_EQ(ReasonOf(stream.call.WaitForFinish()), Reason::kServerDraining);
}

// Everything at once, many times: the call must end exactly once and never be touched afterwards.
TEST(StreamDriver, RacesEndInOneFinish) {
  StreamPump pump(2, absl::Milliseconds(1));
  for (int round = 0; round < 300; ++round) {
    auto call = std::make_unique<FakeCall>();
    auto driver = std::make_shared<StreamDriver>(*call, pump, absl::Hours(1));
    call->Offer(round % 3);
    if (round % 2 == 0) call->EndAfterwards(absl::OkStatus());
    std::vector<std::thread> threads;
    threads.emplace_back([&] { driver->Start(); });
    threads.emplace_back([&] { driver->OnCancel(); });
    threads.emplace_back([&] { driver->Wake(); });
    threads.emplace_back([&] { driver->Fail(absl::InternalError("x")); });
    for (std::thread& thread : threads) thread.join();
    if (call->writes() > 0) driver->OnWriteDone(false);
    (void)call->WaitForFinish();
    driver->Detach();
    EXPECT_EQ(call->finishes(), 1U);
    call.reset();
    driver->Wake();
    driver->Pump();
    driver->Check();
  }
}

}  // namespace
}  // namespace reel::front
