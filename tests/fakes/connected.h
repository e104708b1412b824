// SPDX-License-Identifier: Apache-2.0
// A channel whose first call does not pay for how its connection came about.
#pragma once

#include <chrono>
#include <memory>

#include "grpcpp/grpcpp.h"

namespace reel::tests {

// gRPC's client looks at errno a few allocations after connect(). In a process of many threads it
// sometimes takes a pending connection for a failed one ("No such file or directory") and refuses
// calls that do not wait. Returns once the next attempt succeeded, or when the server refuses this
// channel.
inline std::shared_ptr<grpc::Channel> Connected(std::shared_ptr<grpc::Channel> channel) {
  channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(3));
  return channel;
}

}  // namespace reel::tests
