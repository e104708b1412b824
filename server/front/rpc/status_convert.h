// SPDX-License-Identifier: Apache-2.0
// An absl::Status as gRPC sends it, with its google.rpc details.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace reel::front {

// A status that was not made by server/errors has no business with a client: it is logged and
// becomes INTERNAL with a static sentence. CANCELLED is sent as OWNER_LEFT: nobody reads it.
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace reel::front
