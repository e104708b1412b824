// SPDX-License-Identifier: Apache-2.0
// A gRPC service whose methods begin with their headers. It does what generated services do, but
// declares every method as a stream of bytes in (Note: [Requests are ours to read]).
#pragma once

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>

#include <functional>
#include <list>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/front/api/method_table.h"

namespace reel::front {

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
