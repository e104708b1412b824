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

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
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

}  // namespace reel::front
