// SPDX-License-Identifier: Apache-2.0
// Finds the address at which this machine reaches a server's page. Pure.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "reel/v1/server_service.pb.h"

namespace reel::client {

// `server` is the address that the caller used (HOST:PORT or unix:PATH); its host replaces a
// wildcard address. NOT_FOUND if there is no page; anything but a plain address is refused, since
// another program opens it.
absl::StatusOr<std::string> PageLink(const v1::GetServerInfoResponse& info,
                                     const std::string& server);

}  // namespace reel::client
