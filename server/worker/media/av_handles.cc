// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/av_handles.h"

#include <string>

#include "absl/strings/str_cat.h"

extern "C" {
#include <libavutil/error.h>
}

namespace reel::worker {

absl::Status AvStatus(int code, std::string_view call) {
  if (code >= 0) return absl::OkStatus();
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof(text));
  return absl::InternalError(absl::StrCat(std::string(call), " failed: ", text));
}

}  // namespace reel::worker
