// SPDX-License-Identifier: Apache-2.0
// Pictures of two files compared by a program of its own (client/frames), which alone decodes them.
#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "server/front/workers/frames_comparer.h"

namespace reel::front {

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
