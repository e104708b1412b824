// SPDX-License-Identifier: Apache-2.0
// The JSON of what a video's readers are told at the same time, made once for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// Of progress alone: it is small, holds nothing of a request, and is most of what streams send.
// Thread-safe.
class ProgressTexts {
 public:
  using Text = std::shared_ptr<const std::string>;

  // Of the video's event `sequence`: what was made of it lately, or what `make` makes.
  Text Of(std::string_view video, uint64_t sequence, absl::FunctionRef<std::string()> make);

 private:
  struct Entry {
    std::string video;
    uint64_t sequence = 0;
    Text text;
  };
  static constexpr size_t kEntries = 64;  // the next one of its place takes it

  Mutex mutex_;
  std::array<Entry, kEntries> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
