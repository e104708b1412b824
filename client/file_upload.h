// SPDX-License-Identifier: Apache-2.0
// Uploads a file that later requests name. Private to the library.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/connection.h"

namespace reel::client {

// Blocks; tried again as calls are.
absl::StatusOr<v1::UploadedFile> UploadFile(const Connection& connection, std::string_view bytes);

}  // namespace reel::client
