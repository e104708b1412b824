// SPDX-License-Identifier: Apache-2.0
// Bounds the calls that gRPC keeps at a time, ended ones too, which gRPC before 1.59.2 does not
// (CVE-2023-44487, "rapid reset").
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace reel::front {

// Calls that a client may have open on one connection.
inline constexpr int kMostOpenCalls = 100;
// Calls that gRPC keeps of one connection, with those that have ended and not been let go.
inline constexpr size_t kMostKeptCalls = size_t{2} * kMostOpenCalls;
// Ended calls that gRPC keeps of all connections. Beyond them a connection has `kFewCalls`.
inline constexpr size_t kMostEndedCalls = 4000;
inline constexpr size_t kFewCalls = 10;

// The calls that gRPC keeps, by their connections. Safe to use from several threads.
class KeptCalls {
 public:
  // Whether a connection may begin another call.
  bool MayBegin(const void* connection) const;
  void Begin(const void* connection, const void* call);
  // A call has ended on the wire: gRPC may keep it on. Calls that did not begin here are ignored.
  void End(const void* call);
  // gRPC has let go of it.
  void Forget(const void* call);

 private:
  struct Call {
    const void* connection;
    bool has_ended;
  };

  mutable std::mutex mutex_;
  std::unordered_map<const void*, Call> calls_;
  std::unordered_map<const void*, size_t> of_connection_;
  size_t ended_ = 0;
};

// Whether gRPC's calls are bounded in this process. False beside a gRPC whose functions have other
// names: then its calls are as it leaves them.
bool CallsAreBounded();

}  // namespace reel::front
