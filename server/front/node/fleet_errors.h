// SPDX-License-Identifier: Apache-2.0
// Errors of a fleet, as callers see them.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace reel::front {

// FLEET_UNAVAILABLE. `why`: a static sentence.
absl::Status FleetUnavailable(std::string_view why);
// Nothing was written, or nobody knows whether it was; OK statuses are of the latter kind.
absl::Status NotWritten(const absl::Status& status);
// Of a result that the store does not give: MEDIA_CORRUPT where it has lost it.
absl::Status ReadFailure(const absl::Status& status);
absl::Status NoSuchVideo(const std::string& id);
// FILE_NOT_FOUND, of a file that a request names.
absl::Status NoSuchFile(const std::string& name);
// It is there, encrypted, and whoever has the key can show it.
absl::Status VideoLocked(const std::string& id);
absl::Status RequestIdTaken(const std::string& request_id, const std::string& id);
absl::Status RequestIdGone(const std::string& request_id);

}  // namespace reel::front
