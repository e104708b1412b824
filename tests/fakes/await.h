// SPDX-License-Identifier: Apache-2.0
// Waiting for answers that come through callbacks: no test sleeps.
#pragma once

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"

namespace reel::testing {

// A value that another thread will give.
template <typename T>
class Promised {
 public:
  void Give(T value) {
    MutexLock lock(mutex_);
    value_ = std::move(value);
    given_.NotifyAll();
  }
  // Gives up after half a minute: what is read then is an error of the test.
  std::optional<T> Take() {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    MutexLock lock(mutex_);
    while (!value_ && absl::Now() < end) given_.WaitFor(mutex_, end - absl::Now());
    return std::move(value_);
  }
  bool given() {
    MutexLock lock(mutex_);
    return value_.has_value();
  }

 private:
  Mutex mutex_;
  CondVar given_;
  std::optional<T> value_ ABSL_GUARDED_BY(mutex_);
};

// Await<T>([&](auto done) { store.Find(id, std::move(done)); })
template <typename T, typename Call>
absl::StatusOr<T> Await(Call call) {
  auto promised = std::make_shared<Promised<absl::StatusOr<T>>>();
  call([promised](absl::StatusOr<T> value) { promised->Give(std::move(value)); });
  auto taken = promised->Take();
  if (!taken) return absl::DeadlineExceededError("no answer came");
  return *std::move(taken);
}

template <typename Call>
absl::Status AwaitStatus(Call call) {
  auto promised = std::make_shared<Promised<absl::Status>>();
  call([promised](absl::Status value) { promised->Give(std::move(value)); });
  auto taken = promised->Take();
  if (!taken) return absl::DeadlineExceededError("no answer came");
  return *std::move(taken);
}

}  // namespace reel::testing
