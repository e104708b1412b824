// SPDX-License-Identifier: Apache-2.0
// The address of a server's page as this machine can reach it; pure.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "reel/v1/server_service.pb.h"

namespace reel::client {

// `server` is how the caller reached it (HOST:PORT or unix:PATH): its host takes the place of one
// that stands for every address. NOT_FOUND where there is no page; what is no plain address of one
// is refused, since it goes to another program.
absl::StatusOr<std::string> PageLink(const v1::GetServerInfoResponse& info,
                                     const std::string& server);

}  // namespace reel::client
