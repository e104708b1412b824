// SPDX-License-Identifier: Apache-2.0
// A serializer without a format: bytes are the number of a video that it keeps.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/mutex.h"
#include "server/front/jobs/video.h"

namespace reel::testing {

// Thread-safe. As in the real one, the tenant is left out.
class MemorySerializer final : public front::VideoSerializer {
 public:
  std::string Serialize(const front::Video& video) const override {
    MutexLock lock(mutex_);
    videos_.push_back(video);
    videos_.back().tenant.clear();
    return absl::StrCat(videos_.size() - 1);
  }
  absl::StatusOr<front::Video> Parse(std::string_view bytes) const override {
    MutexLock lock(mutex_);
    size_t index = 0;
    if (!absl::SimpleAtoi(absl::string_view(bytes.data(), bytes.size()), &index) ||
        index >= videos_.size()) {
      return absl::DataLossError("no such video");
    }
    return videos_[index];
  }
  std::string SerializeCard(const model::ModelCard& card) const override {
    MutexLock lock(mutex_);
    cards_.push_back(card);
    return absl::StrCat(cards_.size() - 1);
  }
  absl::StatusOr<model::ModelCard> ParseCard(std::string_view bytes) const override {
    MutexLock lock(mutex_);
    size_t index = 0;
    if (!absl::SimpleAtoi(absl::string_view(bytes.data(), bytes.size()), &index) ||
        index >= cards_.size()) {
      return absl::DataLossError("no such card");
    }
    return cards_[index];
  }
  std::string SerializeKernels(const std::vector<kernels::OpListing>& kernels) const override {
    MutexLock lock(mutex_);
    kernels_.push_back(kernels);
    return absl::StrCat(kernels_.size() - 1);
  }
  absl::StatusOr<std::vector<kernels::OpListing>> ParseKernels(
      std::string_view bytes) const override {
    MutexLock lock(mutex_);
    size_t index = 0;
    if (!absl::SimpleAtoi(absl::string_view(bytes.data(), bytes.size()), &index) ||
        index >= kernels_.size()) {
      return absl::DataLossError("no such list");
    }
    return kernels_[index];
  }

 private:
  mutable Mutex mutex_;
  mutable std::vector<front::Video> videos_ ABSL_GUARDED_BY(mutex_);
  mutable std::vector<model::ModelCard> cards_ ABSL_GUARDED_BY(mutex_);
  mutable std::vector<std::vector<kernels::OpListing>> kernels_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::testing
