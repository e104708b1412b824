// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/api/stream_driver.h"

namespace reel::front {
namespace {

class Counter final : public Pumped {
 public:
  void Pump() override { Count(pumps_); }
  void Check() override { Count(checks_); }
  void Close() override { Count(closes_); }
  void WaitForCloses(int count) { WaitFor(closes_, count); }
  void WaitForPumps(int count) { WaitFor(pumps_, count); }
  void WaitForChecks(int count) { WaitFor(checks_, count); }

 private:
  void Count(int& counter) {
    MutexLock lock(mutex_);
    ++counter;
    changed_.NotifyAll();
  }
  void WaitFor(const int& counter, int count) {
    MutexLock lock(mutex_);
    while (counter < count) changed_.Wait(mutex_);
  }
  Mutex mutex_;
  CondVar changed_;
  int pumps_ = 0, checks_ = 0, closes_ = 0;
};

TEST(StreamPump, PumpsWhatIsPosted) {
  StreamPump pump(2, absl::Hours(1));
  auto stream = std::make_shared<Counter>();
  for (int i = 0; i < 100; ++i) pump.Post(stream);
  stream->WaitForPumps(100);
}

TEST(StreamPump, WatchesUntilAStreamIsGone) {
  StreamPump pump(1, absl::Milliseconds(1));
  auto stream = std::make_shared<Counter>();
  pump.Watch(stream);
  stream->WaitForChecks(3);
  const std::weak_ptr<Counter> weak = stream;
  stream.reset();
  auto other = std::make_shared<Counter>();
  pump.Watch(other);
  other->WaitForChecks(2);  // a whole round has passed
  EXPECT_TRUE(weak.expired());
}

TEST(StreamPump, ClosesStreamsOfNowAndLater) {
  StreamPump pump(1, absl::Hours(1));
  auto now = std::make_shared<Counter>(), later = std::make_shared<Counter>();
  pump.Watch(now);
  pump.CloseAll();
  now->WaitForCloses(1);
  pump.Watch(later);
  later->WaitForCloses(1);
}

TEST(StreamPump, EndsWithStreamsWaiting) {
  auto stream = std::make_shared<Counter>();
  {
    StreamPump pump(1, absl::Hours(1));
    for (int i = 0; i < 1000; ++i) pump.Post(stream);
  }
  EXPECT_EQ(stream.use_count(), 1);
}

}  // namespace
}  // namespace reel::front
