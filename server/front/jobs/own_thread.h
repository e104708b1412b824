// SPDX-License-Identifier: Apache-2.0
// Moves callbacks from other threads to the owner's thread.
#pragma once

#include <functional>
#include <utility>

#include "absl/functional/any_invocable.h"

namespace reel::front {

// Thread-safe.
class OwnThread {
 public:
  using Task = absl::AnyInvocable<void()>;
  // `post` runs a task on the owner's thread and can be called on any.
  explicit OwnThread(std::function<void(Task)> post) : post_(std::move(post)) {}

  // The returned callback may be called on any thread; `then` runs on the owner's, as an event of
  // its own.
  template <typename Arg, typename F>
  absl::AnyInvocable<void(Arg)> Here(F then) const {
    return [post = post_, then = std::move(then)](Arg arg) mutable {
      post([then = std::move(then), arg = std::move(arg)]() mutable { then(std::move(arg)); });
    };
  }

 private:
  const std::function<void(Task)> post_;
};

}  // namespace reel::front
