// SPDX-License-Identifier: Apache-2.0
// Distance between the pictures of two files: the seam that jobs/ knows. reeld decodes nothing
// itself.
#pragma once

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace reel::front {

struct FrameDistance {
  bool identical = false;
  double psnr_db = 0;  // of pictures that are not identical
  double ssim = 1;
};

class FramesComparer {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<FrameDistance>)>;

  virtual ~FramesComparer() = default;
  // Returns at once; answered on a thread of its own. While one comparison is under way another is
  // answered with UNAVAILABLE.
  virtual void Compare(const std::string& path_a, const std::string& path_b, Done done) = 0;
};

}  // namespace reel::front
