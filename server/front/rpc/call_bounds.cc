// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/call_bounds.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "server/front/rpc/replaced_function.h"

// Note: [A bound around gRPC's calls]
// A call that its client resets is no longer one of its connection's open calls. gRPC 1.51 keeps it
// on, 23 KB, until its threads come to it. So a client that resets calls as fast as it can makes
// gRPC keep calls without end. gRPC 1.59.2 counts those that it keeps, and refuses calls of a
// connection that has too many. The three functions below do the same. They count over all
// connections, too, since the calls of a closed connection are kept as well. A refused call costs
// nothing: its headers are skipped, and its client gets REFUSED_STREAM and may call again.

#define REEL_ACCEPT_CALL "_Z33grpc_chttp2_parsing_accept_streamP21grpc_chttp2_transportj"
#define REEL_CLOSE_CALL                                                                     \
  "_Z30grpc_chttp2_mark_stream_closedP21grpc_chttp2_transportP18grpc_chttp2_streamiiN4absl" \
  "7debian36StatusE"
#define REEL_DESTROY_CALL "_ZN18grpc_chttp2_streamD1Ev"
// Called, not replaced.
#define REEL_RESET_CALL                                                                         \
  "_Z40grpc_chttp2_add_rst_stream_to_next_writeP21grpc_chttp2_transportjjP28grpc_transport_one" \
  "_way_stats"
#define REEL_WRITE \
  "_Z26grpc_chttp2_initiate_writeP21grpc_chttp2_transport33grpc_chttp2_initiate_write_reason"

void* BoundedAcceptCall(void* connection, uint32_t stream) REEL_REPLACES(REEL_ACCEPT_CALL);
void BoundedCloseCall(void* connection, void* call, int ends_reads, int ends_writes,
                      absl::Status why) REEL_REPLACES(REEL_CLOSE_CALL);
void BoundedDestroyCall(void* call) REEL_REPLACES(REEL_DESTROY_CALL);

namespace reel::front {

bool KeptCalls::MayBegin(const void* connection) const {
  const std::scoped_lock lock(mutex_);
  const auto found = of_connection_.find(connection);
  const size_t kept = found == of_connection_.end() ? 0 : found->second;
  return kept < (ended_ < kMostEndedCalls ? kMostKeptCalls : kFewCalls);
}

void KeptCalls::Begin(const void* connection, const void* call) {
  const std::scoped_lock lock(mutex_);
  if (calls_.emplace(call, Call{connection, false}).second) ++of_connection_[connection];
}

void KeptCalls::End(const void* call) {
  const std::scoped_lock lock(mutex_);
  const auto found = calls_.find(call);
  if (found == calls_.end() || std::exchange(found->second.has_ended, true)) return;
  ++ended_;
}

void KeptCalls::Forget(const void* call) {
  const std::scoped_lock lock(mutex_);
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  ended_ -= found->second.has_ended ? 1 : 0;
  const auto connection = of_connection_.find(found->second.connection);
  if (--connection->second == 0) of_connection_.erase(connection);
  calls_.erase(found);
}

namespace {

using ResetCall = void(void* connection, uint32_t stream, uint32_t code, void* statistics);
using StartWriting = void(void* connection, int reason);

KeptCalls& AllKeptCalls() {
  static auto* const calls = new KeptCalls;  // gRPC's threads may outlive main
  return *calls;
}

// Tells the client that nothing was done with this call.
void Refuse(void* connection, uint32_t stream) {
  constexpr uint32_t kRefusedStream = 7;  // RFC 9113, section 7
  constexpr int kBecauseOfReset = 8;      // for gRPC's own trace alone
  static auto* const reset = ReplacedFunction<ResetCall>(REEL_RESET_CALL);
  static auto* const write = ReplacedFunction<StartWriting>(REEL_WRITE);
  reset(connection, stream, kRefusedStream, nullptr);
  write(connection, kBecauseOfReset);
}

}  // namespace

bool CallsAreBounded() {
  return IsReplaced(REEL_ACCEPT_CALL, &BoundedAcceptCall) &&
         IsReplaced(REEL_CLOSE_CALL, &BoundedCloseCall) &&
         IsReplaced(REEL_DESTROY_CALL, &BoundedDestroyCall) &&
         ReplacedFunction<ResetCall>(REEL_RESET_CALL) != nullptr &&
         ReplacedFunction<StartWriting>(REEL_WRITE) != nullptr;
}

}  // namespace reel::front

// Null: gRPC skips the call's headers, and ignores what else is sent for it.
void* BoundedAcceptCall(void* connection, uint32_t stream) {
  static auto* const original =
      reel::front::ReplacedFunction<decltype(BoundedAcceptCall)>(REEL_ACCEPT_CALL);
  static const bool is_bounded = reel::front::CallsAreBounded();
  if (is_bounded && !reel::front::AllKeptCalls().MayBegin(connection)) {
    reel::front::Refuse(connection, stream);
    return nullptr;
  }
  void* const call = original(connection, stream);
  if (is_bounded && call != nullptr) reel::front::AllKeptCalls().Begin(connection, call);
  return call;
}

void BoundedCloseCall(void* connection, void* call, int ends_reads, int ends_writes,
                      absl::Status why) {
  static auto* const original =
      reel::front::ReplacedFunction<decltype(BoundedCloseCall)>(REEL_CLOSE_CALL);
  if (ends_reads != 0 && ends_writes != 0) reel::front::AllKeptCalls().End(call);
  original(connection, call, ends_reads, ends_writes, std::move(why));
}

void BoundedDestroyCall(void* call) {
  static auto* const original =
      reel::front::ReplacedFunction<decltype(BoundedDestroyCall)>(REEL_DESTROY_CALL);
  reel::front::AllKeptCalls().Forget(call);
  original(call);
}
