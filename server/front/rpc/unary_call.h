// SPDX-License-Identifier: Apache-2.0
// A unary RPC whose answer comes later, from another thread.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <utility>

#include "server/errors/error.h"
#include "server/front/rpc/call_context.h"

namespace reel::front {

// Frees itself when gRPC is done. Cancellation changes nothing: the answer comes all the same.
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  UnaryCall(const CallEnvironment& environment, grpc::CallbackServerContext& server_context,
            Method method)
      : context(environment, server_context, method) {}

  void End(const absl::Status& status) {
    if (status.ok()) context.Sent();
    Finish(context.End(status));
  }
  void OnDone() override { delete this; }

  CallContext context;

 private:
  ~UnaryCall() override = default;
};

// Ends its call exactly once: by End, or with INTERNAL when it is dropped unanswered. Move-only.
class PendingUnary {
 public:
  explicit PendingUnary(UnaryCall& call) : call_(&call) {}
  PendingUnary(PendingUnary&& other) noexcept : call_(std::exchange(other.call_, nullptr)) {}
  PendingUnary& operator=(PendingUnary&&) = delete;
  ~PendingUnary() {
    if (call_ != nullptr) {
      call_->End(
          MakeError(Reason::kInternal, "An error inside the server: the call produced no answer"));
    }
  }

  void End(const absl::Status& status) { std::exchange(call_, nullptr)->End(status); }
  CallContext& context() { return call_->context; }

 private:
  UnaryCall* call_;
};

}  // namespace reel::front
