// SPDX-License-Identifier: Apache-2.0
#include "server/front/health/health_service.h"

#include "grpc/health/v1/health.pb.h"
#include "server/errors/error.h"
#include "server/front/rpc/request_reactor.h"

namespace reel::front {
namespace {

namespace pb = grpc::health::v1;
using Context = grpc::CallbackServerContext;

constexpr size_t kMaxServiceBytes = 200;

pb::HealthCheckResponse::ServingStatus ToProto(bool serving) {
  return serving ? pb::HealthCheckResponse::SERVING : pb::HealthCheckResponse::NOT_SERVING;
}

class WatchCall;

// What the board knows of a watch: a pointer that the call clears when it goes.
class WatchBell final : public HealthWatcher {
 public:
  explicit WatchBell(WatchCall& call) : call_(&call) {}
  void HealthChanged() override;
  void Detach() {
    MutexLock lock(mutex_);
    call_ = nullptr;
  }

 private:
  Mutex mutex_;
  WatchCall* call_ ABSL_GUARDED_BY(mutex_);
};

// Sends the status now and at each change; ends when cancelled or when the board closes.
class WatchCall final : public RequestReactor<pb::HealthCheckResponse> {
 public:
  WatchCall(const CallEnvironment& environment, Context& context, HealthBoard& board)
      : RequestReactor(environment, context, Method::kHealthWatch),
        board_(board),
        bell_(std::make_shared<WatchBell>(*this)) {}

  void Advance() {
    MutexLock lock(mutex_);
    AdvanceLocked();
  }

 private:
  ~WatchCall() override = default;

  void OnRequest(const grpc::ByteBuffer& bytes) override {
    const auto request = DecodeRequest<pb::HealthCheckRequest>(bytes);
    if (!request.ok()) return Refuse(request.status());
    service_ = request->service();
    board_.Watch(bell_);
    Advance();
  }
  void Refuse(const absl::Status& why) override {
    {
      MutexLock lock(mutex_);
      finished_ = true;
    }
    Finish(context_.End(why));  // without the lock, which goes with the call
  }
  void OnCallerGone() override {
    MutexLock lock(mutex_);
    cancelled_ = true;
    AdvanceLocked();
  }
  void OnWriteDone(bool ok) override {
    MutexLock lock(mutex_);
    writing_ = false;
    cancelled_ = cancelled_ || !ok;
    AdvanceLocked();
  }
  void OnDone() override {
    bell_->Detach();
    delete this;
  }

  void AdvanceLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finished_ || writing_) return;
    if (cancelled_) return FinishLocked();
    const bool closed = board_.closed();  // before the status: what closes it changed that first
    const auto serving = board_.Serving(service_);
    const auto status = serving ? ToProto(*serving) : pb::HealthCheckResponse::SERVICE_UNKNOWN;
    if (any_ && status == message_.status()) {
      if (closed) FinishLocked();
      return;
    }
    any_ = true;
    message_.set_status(status);
    writing_ = true;
    context_.Sent();
    StartWrite(&message_);
  }
  void FinishLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    finished_ = true;
    Finish(context_.End(cancelled_
                            ? absl::CancelledError()
                            : MakeError(Reason::kServerDraining, "The server is shutting down")));
  }

  HealthBoard& board_;
  std::string service_;  // written before the board knows of the call
  const std::shared_ptr<WatchBell> bell_;
  Mutex mutex_;
  pb::HealthCheckResponse message_ ABSL_GUARDED_BY(mutex_);
  bool any_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

void WatchBell::HealthChanged() {
  MutexLock lock(mutex_);
  if (call_ != nullptr) call_->Advance();
}

class HealthService final : public CallService {
 public:
  HealthService(const CallEnvironment& environment, HealthBoard& board)
      : environment_(environment), board_(board) {
    Serve<pb::HealthCheckResponse>(Method::kHealthCheck, [this](Context* c) { return Check(c); });
    Serve<pb::HealthListResponse>(Method::kHealthList, [this](Context* c) { return List(c); });
    Serve<pb::HealthCheckResponse>(Method::kHealthWatch, [this](Context* c) { return Watch(c); });
  }

 private:
  Reactor<pb::HealthCheckResponse>* Check(Context* context) {
    using Response = pb::HealthCheckResponse;
    return ServeUnary<pb::HealthCheckRequest, Response>(
        environment_, context, Method::kHealthCheck,
        [this](const pb::HealthCheckRequest& request, PendingUnary<Response> pending) {
          const auto serving = board_.Serving(request.service());
          if (serving) {
            pending.response().set_status(ToProto(*serving));
            return pending.End(absl::OkStatus());
          }
          pending.End(MakeError(Reason::kServiceNotFound,
                                "This server reports no health for a service of this name",
                                {.resource_type = "service",
                                 .resource_name = request.service().substr(0, kMaxServiceBytes)}));
        });
  }

  Reactor<pb::HealthListResponse>* List(Context* context) {
    using Response = pb::HealthListResponse;
    return ServeUnary<pb::HealthListRequest, Response>(
        environment_, context, Method::kHealthList,
        [this](const pb::HealthListRequest&, PendingUnary<Response> pending) {
          auto& statuses = *pending.response().mutable_statuses();
          for (const auto& [service, serving] : board_.All()) {
            statuses[service].set_status(ToProto(serving));
          }
          pending.End(absl::OkStatus());
        });
  }

  Reactor<pb::HealthCheckResponse>* Watch(Context* context) {
    auto* call = new WatchCall(environment_, *context, board_);
    call->Await();
    return call;
  }

  const CallEnvironment environment_;
  HealthBoard& board_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeHealthService(const CallEnvironment& environment,
                                                 HealthBoard& board) {
  return std::make_unique<HealthService>(environment, board);
}

}  // namespace reel::front
