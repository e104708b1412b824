// SPDX-License-Identifier: Apache-2.0
// The way into every call of VideoService: the caller is authorised, then the request is read, and
// only where both went well the call is served. Whatever else a call does, it does after that.
#pragma once

#include <utility>

#include "reel/v1/video_service.pb.h"
#include "server/front/rpc/request_reactor.h"
#include "server/front/rpc/stream_reactor.h"

namespace reel::front {

// Requests that make a job: a refused one counts as a job that was not to be.
inline bool IsDetached(const v1::GenerateVideoRequest& request) { return request.detached(); }
inline bool IsDetached(const v1::CreateVideoRequest&) { return true; }
template <typename Request>
constexpr bool kMakesAJob = requires(const Request& request) { IsDetached(request); };

// Thread-safe: holds nothing of a call.
class CallDoor {
 public:
  CallDoor(const CallEnvironment& environment, StreamPump& pump, absl::Duration write_stall)
      : environment_(environment), pump_(pump), write_stall_(write_stall) {}

  // `read(request, context)` gives a StatusOr, `serve(request, value, pending)` what to do with
  // its value; both may be called after the handler has returned. A call that is not admitted ends
  // with why.
  template <typename Request, typename Response, typename Read, typename Serve>
  UnaryCall<Response>* Unary(grpc::CallbackServerContext* context, Method method, Read read,
                             Serve serve) const {
    const auto admit = [this, read = std::move(read), serve = std::move(serve)](
                           const Request& request, PendingUnary<Response> pending) {
      auto value = Admit(pending.context(), request, read);
      if (!value.ok()) return pending.End(value.status());
      serve(request, *std::move(value), std::move(pending));
    };
    return ServeUnary<Request, Response>(environment_, context, method, admit);
  }

  // The same with `serve(request, value, reactor)`.
  template <typename Request, typename Response, typename Read, typename Serve>
  StreamReactor<Response>* Stream(grpc::CallbackServerContext* context, Method method, Read read,
                                  Serve serve) const {
    const auto admit = [this, read = std::move(read), serve = std::move(serve)](
                           const grpc::ByteBuffer& bytes, StreamReactor<Response>& reactor) {
      const auto request = DecodeRequest<Request>(bytes);
      if (!request.ok()) {
        reactor.context().Unserved(request.status());
        return reactor.handle().Fail(request.status());
      }
      auto value = Admit(reactor.context(), *request, read);
      if (!value.ok()) return reactor.handle().Fail(value.status());
      serve(*request, *std::move(value), reactor);
    };
    auto* reactor =
        new StreamReactor<Response>(environment_, *context, method, pump_, write_stall_, admit);
    reactor->Await();
    return reactor;
  }

 private:
  template <typename Request, typename Read>
  std::invoke_result_t<Read, const Request&, CallContext&> Admit(CallContext& call,
                                                                 const Request& request,
                                                                 const Read& read) const {
    if constexpr (kMakesAJob<Request>) call.SetRequestId(request.request_id());
    auto value = read(request, call);
    if constexpr (kMakesAJob<Request>) {
      if (!value.ok()) environment_.observer.RequestRefused(value.status(), IsDetached(request));
    }
    return value;
  }

  const CallEnvironment environment_;
  StreamPump& pump_;
  const absl::Duration write_stall_;
};

}  // namespace reel::front
