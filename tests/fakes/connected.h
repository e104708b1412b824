// SPDX-License-Identifier: Apache-2.0
// A channel whose first call does not pay for how its connection came about.
#pragma once

#include <chrono>
#include <memory>

#include "grpcpp/grpcpp.h"

namespace reel::tests {

// gRPC's client looks at errno a few allocations after connect(), so that in a process of many
// threads a connection on its way is at times taken for a failed one ("No such file or directory"),
// and the calls that do not wait are refused. Returns once the next attempt succeeded; also,
// without a connection, when the server does not want this channel.
inline std::shared_ptr<grpc::Channel> Connected(std::shared_ptr<grpc::Channel> channel) {
  channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(3));
  return channel;
}

}  // namespace reel::tests
