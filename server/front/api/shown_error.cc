// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/shown_error.h"

#include "server/errors/error.h"
#include "server/logging/log.h"

namespace reel::front {

absl::Status ShownToClients(const absl::Status& status) {
  if (ReasonOf(status)) return status;
  if (absl::IsCancelled(status)) {
    return MakeError(Reason::kOwnerLeft, "The call was cancelled by its caller");
  }
  Log(LogLevel::kError, "An error without a reason reached a call", {{"error", status}});
  return MakeError(Reason::kInternal, "An error inside the server");
}

}  // namespace reel::front
