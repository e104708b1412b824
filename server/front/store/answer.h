// SPDX-License-Identifier: Apache-2.0
// Waits for one answer of a store, for whoever has nothing else to do: at the start.
#pragma once

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// Blocks. `call` is given what takes the answer, which must come.
template <typename Answer, typename Call>
Answer WaitForAnswer(Call call) {
  Mutex mutex;
  CondVar answered;
  std::optional<Answer> answer;
  call([&](Answer value) {
    MutexLock lock(mutex);
    answer = std::move(value);
    answered.NotifyAll();
  });
  MutexLock lock(mutex);
  while (!answer) answered.Wait(mutex);
  return *std::move(answer);
}

}  // namespace reel::front
