// SPDX-License-Identifier: Apache-2.0
// Errors as the door's replies: the same status, reason and details as over gRPC.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/front/http/door_message.h"

namespace reel::front {

// {"error": {"code", "status", "message", "details"}}, with the fields that the situation calls
// for. `status` is not OK.
DoorReply ErrorReply(const absl::Status& status);

// The same error as the OpenAI API tells it: {"error": {"message", "type", "param", "code",
// "details"}}.
std::string FacadeErrorBody(const absl::Status& status);

// google.rpc.Status as JSON, for the last event of a stream.
std::string ErrorJson(const absl::Status& status);

// The HTTP status of it.
int HttpStatusOf(const absl::Status& status);

}  // namespace reel::front
