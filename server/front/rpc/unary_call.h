// SPDX-License-Identifier: Apache-2.0
// A unary RPC whose answer comes later, from another thread.
#pragma once

#include <functional>
#include <utility>

#include "server/errors/error.h"
#include "server/front/rpc/request_reactor.h"

namespace reel::front {

template <typename Response>
class UnaryCall;

// Ends its call exactly once: by End, or with INTERNAL when it is dropped unanswered. Move-only.
template <typename Response>
class PendingUnary {
 public:
  explicit PendingUnary(UnaryCall<Response>& call) : call_(&call) {}
  PendingUnary(PendingUnary&& other) noexcept : call_(std::exchange(other.call_, nullptr)) {}
  PendingUnary& operator=(PendingUnary&&) = delete;
  ~PendingUnary() {
    if (call_ != nullptr) {
      call_->End(
          MakeError(Reason::kInternal, "An error inside the server: the call produced no answer"));
    }
  }

  void End(const absl::Status& status) { std::exchange(call_, nullptr)->End(status); }
  // What an End that is OK sends.
  Response& response() { return call_->response_; }
  CallContext& context() { return call_->context_; }

 private:
  UnaryCall<Response>* call_;
};

// Frees itself when gRPC is done. Cancellation changes nothing: the answer comes all the same.
template <typename Response>
class UnaryCall final : public RequestReactor<Response> {
 public:
  using Serve = std::function<void(const grpc::ByteBuffer& request, PendingUnary<Response>)>;
  UnaryCall(const CallEnvironment& environment, grpc::CallbackServerContext& server_context,
            Method method, Serve serve)
      : RequestReactor<Response>(environment, server_context, method), serve_(std::move(serve)) {}

 private:
  friend class PendingUnary<Response>;
  ~UnaryCall() override = default;

  void OnRequest(const grpc::ByteBuffer& bytes) override {
    serve_(bytes, PendingUnary<Response>(*this));
  }
  void Refuse(const absl::Status& why) override { End(why); }
  void OnDone() override { delete this; }

  void End(const absl::Status& status) {
    if (!status.ok()) return this->Finish(this->context_.End(status));
    this->context_.Sent();
    this->StartWriteAndFinish(&response_, grpc::WriteOptions(), this->context_.End(status));
  }

  const Serve serve_;
  Response response_;
};

// Serves a unary call: `serve(request, pending)` where the request could be decoded.
template <typename Request, typename Response, typename ServeRequest>
UnaryCall<Response>* ServeUnary(const CallEnvironment& environment,
                                grpc::CallbackServerContext* context, Method method,
                                ServeRequest serve) {
  const auto decode_and_serve = [serve = std::move(serve)](const grpc::ByteBuffer& bytes,
                                                           PendingUnary<Response> pending) {
    auto request = DecodeRequest<Request>(bytes);
    if (!request.ok()) {
      pending.context().Unserved(request.status());
      return pending.End(request.status());
    }
    serve(*request, std::move(pending));
  };
  auto* call = new UnaryCall<Response>(environment, *context, method, decode_and_serve);
  call->Await();
  return call;
}

}  // namespace reel::front
