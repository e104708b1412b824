// SPDX-License-Identifier: Apache-2.0
// The way into every call of the public API: the caller is authorised, then the request is read,
// and only where both went well the call is served. Whatever else a call does, it does after that.
#pragma once

#include <type_traits>
#include <utility>

#include "reel/v1/video_service.pb.h"
#include "server/front/rpc/stream_reactor.h"
#include "server/front/rpc/unary_call.h"

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

  // `read(context)` gives a StatusOr, `serve(value, pending)` what to do with its value. A call
  // that is not admitted ends with why.
  template <typename Request, typename Read, typename Serve>
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context, Method method,
                                  const Request& request, const Read& read,
                                  const Serve& serve) const {
    auto* call = new UnaryCall(environment_, *context, method);
    PendingUnary pending(*call);
    auto value = Admit(call->context, request, read);
    if (value.ok()) {
      serve(*std::move(value), std::move(pending));
    } else {
      pending.End(value.status());
    }
    return call;
  }

  // The same with `serve(value, reactor)`.
  template <typename Response, typename Request, typename Read, typename Serve>
  StreamReactor<Response>* Stream(grpc::CallbackServerContext* context, Method method,
                                  const Request& request, const Read& read,
                                  const Serve& serve) const {
    auto* reactor =
        new StreamReactor<Response>(environment_, *context, method, pump_, write_stall_);
    auto value = Admit(reactor->context(), request, read);
    if (value.ok()) {
      serve(*std::move(value), *reactor);
    } else {
      reactor->handle().Fail(value.status());
    }
    return reactor;
  }

 private:
  template <typename Request, typename Read>
  std::invoke_result_t<Read, CallContext&> Admit(CallContext& call, const Request& request,
                                                 const Read& read) const {
    if constexpr (kMakesAJob<Request>) call.SetRequestId(request.request_id());
    const absl::Status allowed = call.Authorize();
    auto value = allowed.ok() ? read(call) : std::invoke_result_t<Read, CallContext&>(allowed);
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
