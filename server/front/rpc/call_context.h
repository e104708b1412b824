// SPDX-License-Identifier: Apache-2.0
// The context of one RPC: its caller, its ids, and how it ends in trailers, log and metrics.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/front/api/authorizer.h"
#include "server/front/api/call_observer.h"
#include "server/front/api/open_calls.h"
#include "server/front/config/token_table.h"
#include "server/front/jobs/video.h"
#include "server/front/rpc/grpc_server.h"
#include "server/front/rpc/unsent_requests.h"

namespace reel::front {

// An absl::Status as gRPC sends it, with its google.rpc details. A status that was not made by
// server/errors has no business with a client: it is logged and becomes INTERNAL with a static
// sentence. CANCELLED is sent as OWNER_LEFT: nobody reads it.
grpc::Status ToGrpc(const absl::Status& status);

struct CallEnvironment {
  const Authorizer& authorizer;
  CallObserver& observer;
  OpenCalls& open_calls;
  UnsentRequests& unsent_requests;
  // Of probes and of other calls: the former may come to a port of their own.
  NewConnections &probes, &callers;
  // Of the listener for other nodes: they say for whom they ask, and may but watch.
  bool from_peers = false;
};

// Lives as long as the call's reactor. Confined to whoever drives the call (under the stream's lock
// for streams); `context` outlives it.
class CallContext {
 public:
  CallContext(const CallEnvironment& environment, grpc::CallbackServerContext& context,
              Method method);
  ~CallContext();
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  // First thing in every RPC: metadata's size, then token and role.
  absl::Status Authorize();
  // For calls that go on: what Authorize said may have changed, since the tokens are read again.
  absl::Status StillAuthorized() const;
  // The request is here.
  void Received() { environment_.observer.CallReceived(method_); }
  // The call ends before its request could be looked at; counts one that was to make a job.
  void Unserved(const absl::Status& why);

  // The caller's own id of the request wins over the one that was read or drawn.
  void SetRequestId(const std::string& request_id);
  // For the log line.
  void SetVideo(const std::string& id) { video_ = id; }

  const std::string& tenant() const { return principal_.tenant; }
  Reach reach() const;
  const std::string& request_id() const { return request_id_; }
  const std::string& trace_id() const { return trace_id_; }
  const CallerSpan& caller_span() const { return caller_span_; }
  // By a clock that never jumps.
  absl::Duration age() const;
  // InfiniteFuture when the caller set none.
  absl::Time deadline() const;
  // Its address on the caller's side.
  std::string connection() const { return context_.peer(); }
  bool cancelled() const { return context_.IsCancelled(); }
  CallObserver& observer() const { return environment_.observer; }
  UnsentRequests& unsent_requests() const { return environment_.unsent_requests; }

  void Sent() { environment_.observer.CallSent(method_); }
  void Cancel() { context_.TryCancel(); }

  // Once, just before gRPC's Finish: sets trailers, writes the log line, counts.
  grpc::Status End(const absl::Status& status);

 private:
  absl::StatusOr<Principal> Identify() const;
  absl::StatusOr<Principal> IdentifyPeersCaller() const;
  void WriteLog(const absl::Status& status, absl::Duration took) const;

  const CallEnvironment environment_;
  grpc::CallbackServerContext& context_;
  const Method method_;
  const std::chrono::steady_clock::time_point started_;
  Principal principal_;
  std::string request_id_;
  std::string trace_id_;
  CallerSpan caller_span_;
  std::string video_;
};

}  // namespace reel::front
