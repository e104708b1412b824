// SPDX-License-Identifier: Apache-2.0
// One worker and a video on it that has run long enough to be parked.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {

// The card's jobs have ten steps of a second.
class ParkingTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    Start();
    AddWorker();
    StepSample sample;
    sample.model = "card";
    sample.plan = "auto";
    sample.rows = 512;
    sample.duration = absl::Seconds(1);
    for (int i = 0; i < 20; ++i) Step(sample);
    Settle();
  }
  // One that has run long enough to be parked.
  Sent StartLong(const NewJob& request) {
    job_ = MustCreate(request);
    const Sent sent = Take();
    Progress(sent, model::Stage::kDenoise, 0);
    Settle();
    clock.Advance(absl::Seconds(1));
    Progress(sent, model::Stage::kDenoise, 5);
    Settle();
    return sent;
  }
  NewJob Tight(absl::Duration timeout = absl::Seconds(13)) {
    NewJob request = Request("tight");
    request.timeout = timeout;
    return request;
  }
  NewJob Of(const std::string& tenant) {
    NewJob request = Request();
    request.tenant = tenant;
    return request;
  }
  // So many seconds of the device, for a video that is cancelled.
  void Use(const std::string& tenant, int steps) {
    JobPtr job = MustCreate(Of(tenant));
    const Sent sent = Take();
    Progress(sent, model::Stage::kDenoise, steps);
    Settle();
    EXPECT_TRUE(Cancel(job->Snapshot().id).ok());
    CancelledAtWorker(sent);
    Settle();
  }
  // What the worker says when it has parked it.
  void Parked(const Sent& sent) {
    Report(sent, JobParked{100});
    Settle();
  }

  // In GiB.
  static model::DeviceMemory MemoryOf(int64_t total, int64_t held, int64_t reserved,
                                      int64_t in_use) {
    return {.total = total << 30,
            .held = held << 30,
            .reserved = reserved << 30,
            .in_use = in_use << 30};
  }

  // Whether the state of a parked job leaves a device with that memory.
  bool ParkedLeaves(const model::DeviceMemory& memory) {
    WorkerInfo info = dispatcher->Workers()[0];
    info.memory = memory;
    dispatcher->WorkerChanged(info);
    const Sent running = StartLong(Request());
    MustCreate(Tight());
    Take();
    Parked(running);
    return pool.parked_to_host(running);
  }

  JobPtr job_;
};

}  // namespace reel::front
