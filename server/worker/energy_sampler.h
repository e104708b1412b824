// SPDX-License-Identifier: Apache-2.0
// Reads a device's energy on a thread of its own: the driver takes milliseconds to answer, in which
// the engine would leave the device idle.
#pragma once

#include <cstdint>
#include <optional>
#include <thread>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/worker/engine/energy_watch.h"

namespace reel::worker {

// A reading of the counter and its time, both from an arbitrary start.
struct EnergySample {
  int64_t millijoules = 0;
  absl::Duration at;
};

// The counter at `now`, extrapolated at the rate between the last two readings.
int64_t EnergyAt(const EnergySample& before, const EnergySample& last, absl::Duration now);

// The pause between two readings. A driver uses 4 to 6 ms of a core to answer for one H100, and a
// group has four, so this costs at most a twentieth of a core.
absl::Duration PauseAfter(absl::Duration reading, absl::Duration every);

// Thread-safe.
class EnergySampler {
 public:
  EnergySampler(EnergyReader reader, absl::Duration every);
  ~EnergySampler();
  EnergySampler(const EnergySampler&) = delete;
  EnergySampler& operator=(const EnergySampler&) = delete;

  // An estimate for now, without a call of the driver; never less than an earlier one. Nothing
  // before the first reading.
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

// A reader that never waits; null if `reader` is null.
EnergyReader Sampled(EnergyReader reader, absl::Duration every = EnergyWatch::kEvery);

}  // namespace reel::worker
