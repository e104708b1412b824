// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/past_end.h"

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {

absl::Status OffsetPastEnd(int64_t offset, int64_t size) {
  ErrorDetails details;
  details.metadata = {{"offset", absl::StrCat(offset)}, {"size", absl::StrCat(size)}};
  return MakeError(
      Reason::kOffsetPastEnd,
      absl::StrCat("The offset is past the end of the file: ", offset, " of ", size, " bytes"),
      details);
}

}  // namespace reel::front
