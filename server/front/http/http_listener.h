// SPDX-License-Identifier: Apache-2.0
// A TCP socket that listens.
#pragma once

#include "absl/status/statusor.h"
#include "server/front/config/address.h"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {

// Does not block. UNAVAILABLE when the address is taken or not of this machine. Sets the port
// where that was 0.
absl::StatusOr<FileDescriptor> ListenOn(Address& address);

}  // namespace reel::front
