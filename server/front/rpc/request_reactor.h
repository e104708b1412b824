// SPDX-License-Identifier: Apache-2.0
// The beginning of every call: its headers are here, its request is not. The caller is authorised
// by the headers alone; only then is the request waited for, and read.
//
// Note: [Requests are ours to read] For a unary method gRPC itself waits for the request and
// decodes it before anybody of ours hears of the call. A caller without a token then makes it take
// in and decode 4 MiB, and a call that sends nothing stays for ever. A request that cannot be
// decoded ends as a bare UNIMPLEMENTED that is counted nowhere. So the server declares its methods
// as streams of bytes in both directions, which is the same on the wire.
#pragma once

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/api/method_table.h"
#include "server/front/rpc/call_context.h"
#include "server/front/rpc/unsent_requests.h"

namespace reel::front {

// INVALID_ARGUMENT for bytes that are none of it.
template <typename Request>
absl::StatusOr<Request> DecodeRequest(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer copy(bytes);  // shares the bytes
  grpc::ProtoBufferReader reader(&copy);
  Request request;
  if (reader.status().ok() && request.ParseFromZeroCopyStream(&reader)) return request;
  ErrorDetails details;
  details.metadata = {{"message", request.GetTypeName()}, {"bytes", absl::StrCat(bytes.Length())}};
  return MakeError(
      Reason::kUndecodableRequest,
      absl::StrCat("The request cannot be decoded: it is not a ", request.GetTypeName(),
                   ", or a string of it is not valid UTF-8; it has ", bytes.Length(), " bytes"),
      details);
}

// A subclass hears of its request once; not when the call is over before.
template <typename Response>
class RequestReactor : public grpc::ServerBidiReactor<grpc::ByteBuffer, Response>,
                       private UnsentRequest {
 public:
  // In the RPC's handler, when the object is whole.
  void Await() {
    const absl::Status allowed = context_.Authorize();
    if (!allowed.ok()) return EndUnserved(allowed);
    // Nothing completes before the handler has returned.
    this->StartRead(&bytes_);
    ticket_ = context_.unsent_requests().Enter(*this, context_.connection());
  }

 protected:
  RequestReactor(const CallEnvironment& environment, grpc::CallbackServerContext& server_context,
                 Method method)
      : context_(environment, server_context, method) {}

  virtual void OnRequest(const grpc::ByteBuffer& bytes) = 0;
  // Instead of OnRequest: ends the call, and touches nothing of it afterwards, since it may be
  // gone.
  virtual void Refuse(const absl::Status& why) = 0;
  // After OnRequest; perhaps more than once.
  virtual void OnCallerGone() {}

  CallContext context_;

 private:
  void OnReadDone(bool ok) final {
    if (!context_.unsent_requests().Leave(ticket_)) return;  // whoever abandoned it ends it
    if (!ok) {
      return EndUnserved(context_.cancelled()
                             ? absl::CancelledError()
                             : MakeError(Reason::kUndecodableRequest, "The call has no request"));
    }
    context_.Received();
    OnRequest(bytes_);
    bytes_.Clear();  // up to 4 MiB, and a stream may live long
    served_ = true;
    if (cancelled_) OnCallerGone();
  }
  // One that is not served yet is ended by OnReadDone, which follows, or by Abandon.
  void OnCancel() final {
    cancelled_ = true;
    if (served_) OnCallerGone();
  }
  void Abandon(const absl::Status& why) final { EndUnserved(why); }
  void EndUnserved(const absl::Status& why) {
    context_.Unserved(why);
    Refuse(why);
  }

  grpc::ByteBuffer bytes_;
  std::atomic<int64_t> ticket_ = 0;
  std::atomic<bool> served_ = false, cancelled_ = false;
};

// A unary RPC whose answer comes later, from another thread.
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

// A gRPC service whose methods begin with their headers. It does what generated services do, but
// declares every method as a stream of bytes in (Note: [Requests are ours to read]).
// Filled by its subclass's constructor; gRPC calls it from any thread.
class CallService : public grpc::Service {
 protected:
  template <typename Response>
  using Reactor = grpc::ServerBidiReactor<grpc::ByteBuffer, Response>;

  // `begin` makes the call's reactor, which frees itself.
  template <typename Response>
  void Serve(Method method, std::function<Reactor<Response>*(grpc::CallbackServerContext*)> begin) {
    using Handler = grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, Response>;
    const MethodRow& row = RowOf(method);
    paths_.push_back(absl::StrCat("/", std::string(row.service), "/", std::string(row.name)));
    AddMethod(new grpc::internal::RpcServiceMethod(
        paths_.back().c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodRawCallback(static_cast<int>(paths_.size()) - 1, new Handler(std::move(begin)));
  }

 private:
  std::list<std::string> paths_;  // gRPC keeps pointers to them
};

}  // namespace reel::front
