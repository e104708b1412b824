// SPDX-License-Identifier: Apache-2.0
// Distance between the pictures of two files: the seam that jobs/ knows. reeld decodes nothing
// itself.
#pragma once

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

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

// Pictures of two files compared by a program of its own (client/frames), which alone decodes them.
struct FramesComparerOptions {
  std::string binary;
  absl::Duration limit = absl::Minutes(5);  // then it is killed
};

// Has one thread, and one process while it compares, which gets only time that nobody else wants.
// Thread-safe; the destructor ends the process, and what it was for stays unanswered.
std::unique_ptr<FramesComparer> MakeProcessFramesComparer(FramesComparerOptions options);

// "reel-frames" beside this program.
std::string FramesBinaryBesideUs();

}  // namespace reel::front
