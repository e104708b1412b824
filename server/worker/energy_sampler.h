// SPDX-License-Identifier: Apache-2.0
// The energy of a device, read on a thread of its own: asking the driver takes milliseconds, in
// which the engine would give the device nothing to do.
#pragma once

#include <cstdint>
#include <optional>
#include <thread>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/worker/engine/energy_watch.h"

namespace reel::worker {

// A counter, and when it was read, since any one moment.
struct EnergySample {
  int64_t millijoules = 0;
  absl::Duration at;
};

// What the counter shows at `now`, at the rate between two readings.
int64_t EnergyAt(const EnergySample& before, const EnergySample& last, absl::Duration now);

// Until the next reading. A driver takes 4 to 6 ms of a core to answer for one H100, and a group
// has four: asking takes a twentieth of a core at most.
absl::Duration PauseAfter(absl::Duration reading, absl::Duration every);

// Thread-safe.
class EnergySampler {
 public:
  EnergySampler(EnergyReader reader, absl::Duration every);
  ~EnergySampler();
  EnergySampler(const EnergySampler&) = delete;
  EnergySampler& operator=(const EnergySampler&) = delete;

  // Of this moment, without asking the device; never less than the time before. Nothing where it
  // has not told.
  std::optional<int64_t> Now();

 private:
  void Read();
  void Loop();

  const EnergyReader reader_;
  const absl::Duration every_;
  Mutex mutex_;
  CondVar changed_;
  absl::Duration pause_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<EnergySample> before_ ABSL_GUARDED_BY(mutex_);
  std::optional<EnergySample> last_ ABSL_GUARDED_BY(mutex_);
  int64_t told_ ABSL_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

// A reader that never waits; null of null.
EnergyReader Sampled(EnergyReader reader, absl::Duration every = EnergyWatch::kEvery);

}  // namespace reel::worker
