// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/device_timer.h"

#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

using testing::SizeIs;

// A device on which each recorded event is 100 ns after the one before.
struct FakeDevice {
  std::map<void*, int64_t> recorded;
  std::set<void*> alive;
  int64_t now = 0;
  int64_t made = 0;
  int most_events = 1 << 20;
  bool refuses_records = false;
  void* last_stream = nullptr;
};
FakeDevice* device = nullptr;

int32_t Create(int32_t, void** event) {
  if (static_cast<int>(device->alive.size()) >= device->most_events) return 2;
  *event = reinterpret_cast<void*>(++device->made);
  device->alive.insert(*event);
  return 0;
}
int32_t Record(void* event, void* stream) {
  if (device->refuses_records) return 1;
  device->recorded[event] = device->now += 100;
  device->last_stream = stream;
  return 0;
}
int32_t Between(void* start, void* end, int64_t* nanoseconds) {
  *nanoseconds = device->recorded[end] - device->recorded[start];
  return 0;
}
void Destroy(void* event) { EXPECT_EQ(device->alive.erase(event), 1u); }

class DeviceTimerTest : public testing::Test {
 protected:
  DeviceTimerTest() {
    device = &fake_;
    library_.event_create = &Create;
    library_.event_record = &Record;
    library_.nanoseconds_between = &Between;
    library_.event_destroy = &Destroy;
  }
  void Time(DeviceTimer& timer, std::string_view op, std::string_view variant) {
    timer.Start(op, variant, stream_);
    timer.Stop(stream_);
  }

  FakeDevice fake_;
  CudaLibraryTable library_{};
  DeviceStream stream_{.device = 0, .handle = &fake_};
};

TEST_F(DeviceTimerTest, AddsTheCallsOfAVariantUp) {
  DeviceTimer timer(library_, 0);
  Time(timer, "rms_norm", "sm90");
  Time(timer, "rms_norm", "generic");
  Time(timer, "rms_norm", "sm90");
  const auto times = timer.Take();
  ASSERT_THAT(times, SizeIs(2));
  EXPECT_EQ(times[0].variant, "generic");
  EXPECT_EQ(times[0].calls, 1);
  EXPECT_EQ(times[1].variant, "sm90");
  EXPECT_EQ(times[1].calls, 2);
  EXPECT_EQ(times[1].total_ns, 200);
  EXPECT_EQ(fake_.last_stream, &fake_);
  EXPECT_EQ(timer.TakenSpan(), 500);  // six events, with what lies between the calls
  EXPECT_TRUE(timer.Take().empty());
  EXPECT_EQ(timer.TakenSpan(), 0);
}

TEST_F(DeviceTimerTest, UsesItsEventsAgainAndGivesThemBack) {
  {
    DeviceTimer timer(library_, 0);
    for (int step = 0; step < 5; ++step) {
      Time(timer, "a", "x");
      Time(timer, "b", "x");
      EXPECT_THAT(timer.Take(), SizeIs(2));
    }
    EXPECT_EQ(fake_.made, 4);
  }
  EXPECT_TRUE(fake_.alive.empty());
}

TEST_F(DeviceTimerTest, TimesABoundedNumberOfCalls) {
  DeviceTimer timer(library_, 0);
  for (size_t i = 0; i < DeviceTimer::kMostCalls + 10; ++i) Time(timer, "a", "x");
  const auto times = timer.Take();
  ASSERT_THAT(times, SizeIs(1));
  EXPECT_EQ(times[0].calls, static_cast<int64_t>(DeviceTimer::kMostCalls));
}

TEST_F(DeviceTimerTest, LeavesOutWhatTheDeviceCannotTime) {
  fake_.most_events = 3;  // one span, and half of another
  DeviceTimer timer(library_, 0);
  Time(timer, "a", "x");
  Time(timer, "a", "x");
  EXPECT_EQ(timer.Take()[0].calls, 1);
  EXPECT_THAT(fake_.alive, SizeIs(2));
  fake_.refuses_records = true;
  Time(timer, "a", "x");
  EXPECT_TRUE(timer.Take().empty());
}

TEST_F(DeviceTimerTest, LeavesOutACallThatNeverStopped) {
  DeviceTimer timer(library_, 0);
  timer.Start("a", "x", stream_);
  Time(timer, "b", "x");
  timer.Stop(stream_);
  const auto times = timer.Take();
  ASSERT_THAT(times, SizeIs(1));
  EXPECT_EQ(times[0].op, "b");
}

}  // namespace
}  // namespace reel::kernels
