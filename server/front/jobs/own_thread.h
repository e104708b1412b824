// SPDX-License-Identifier: Apache-2.0
// The way back to the dispatcher's thread, for answers that come on another.
#pragma once

#include <functional>
#include <utility>

#include "absl/functional/any_invocable.h"

namespace reel::front {

// Thread-safe.
class OwnThread {
 public:
  using Task = absl::AnyInvocable<void()>;
  // `post` brings a task to the thread, from any other.
  explicit OwnThread(std::function<void(Task)> post) : post_(std::move(post)) {}

  // May be called anywhere; `then` runs on the thread, as an event of its own.
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
