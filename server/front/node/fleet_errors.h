// SPDX-License-Identifier: Apache-2.0
// Errors of a fleet as its callers see them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace reel::front {

// FLEET_UNAVAILABLE. `why`: a static sentence.
absl::Status FleetUnavailable(std::string_view why);
// The write failed, or its outcome is unknown (an OK `status`).
absl::Status NotWritten(const absl::Status& status);
// The store did not return a result; MEDIA_CORRUPT if it has lost it.
absl::Status ReadFailure(const absl::Status& status);
absl::Status NoSuchVideo(const std::string& id);
// FILE_NOT_FOUND, for the file that this condition of a request names.
absl::Status NoSuchFile(const std::string& name, size_t condition);
// The video exists but is sealed with a key that this server does not have.
absl::Status VideoLocked(const std::string& id);
absl::Status RequestIdTaken(const std::string& request_id, const std::string& id);
absl::Status RequestIdGone(const std::string& request_id);

}  // namespace reel::front
