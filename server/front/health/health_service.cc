// SPDX-License-Identifier: Apache-2.0
#include "server/front/health/health_service.h"

#include "grpc/health/v1/health.grpc.pb.h"
#include "server/errors/error.h"
#include "server/front/rpc/unary_call.h"

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
class WatchCall final : public grpc::ServerWriteReactor<pb::HealthCheckResponse> {
 public:
  WatchCall(const CallEnvironment& environment, Context& context, HealthBoard& board,
            std::string service)
      : context_(environment, context, Method::kHealthWatch),
        board_(board),
        service_(std::move(service)),
        bell_(std::make_shared<WatchBell>(*this)),
        refused_(context_.Authorize()) {
    board_.Watch(bell_);
  }

  void Advance() {
    MutexLock lock(mutex_);
    AdvanceLocked();
  }
  void OnWriteDone(bool ok) override {
    MutexLock lock(mutex_);
    writing_ = false;
    cancelled_ = cancelled_ || !ok;
    AdvanceLocked();
  }
  void OnCancel() override {
    MutexLock lock(mutex_);
    cancelled_ = true;
    AdvanceLocked();
  }
  void OnDone() override {
    bell_->Detach();
    delete this;
  }

 private:
  ~WatchCall() override = default;

  void AdvanceLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finished_ || writing_) return;
    if (!refused_.ok() || cancelled_) return FinishLocked();
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
    absl::Status end = refused_;
    if (end.ok() && cancelled_) end = absl::CancelledError();
    if (end.ok()) end = MakeError(Reason::kServerDraining, "The server is shutting down");
    Finish(context_.End(end));
  }

  CallContext context_;
  HealthBoard& board_;
  const std::string service_;
  const std::shared_ptr<WatchBell> bell_;
  const absl::Status refused_;
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

class HealthService final : public pb::Health::CallbackService {
 public:
  HealthService(const CallEnvironment& environment, HealthBoard& board)
      : environment_(environment), board_(board) {}

  grpc::ServerUnaryReactor* Check(Context* context, const pb::HealthCheckRequest* request,
                                  pb::HealthCheckResponse* response) override {
    auto* call = new UnaryCall(environment_, *context, Method::kHealthCheck);
    absl::Status status = call->context.Authorize();
    const auto serving = board_.Serving(request->service());
    if (status.ok() && !serving) {
      ErrorDetails details;
      details.resource_type = "service";
      details.resource_name = request->service().substr(0, kMaxServiceBytes);
      status = MakeError(Reason::kServiceNotFound,
                         "This server reports no health for a service of this name", details);
    }
    if (status.ok()) response->set_status(ToProto(*serving));
    call->End(status);
    return call;
  }

  grpc::ServerUnaryReactor* List(Context* context, const pb::HealthListRequest*,
                                 pb::HealthListResponse* response) override {
    auto* call = new UnaryCall(environment_, *context, Method::kHealthList);
    const absl::Status status = call->context.Authorize();
    for (const auto& [service, serving] : board_.All()) {
      (*response->mutable_statuses())[service].set_status(ToProto(serving));
    }
    call->End(status);
    return call;
  }

  grpc::ServerWriteReactor<pb::HealthCheckResponse>* Watch(
      Context* context, const pb::HealthCheckRequest* request) override {
    auto* call = new WatchCall(environment_, *context, board_, request->service());
    call->Advance();
    return call;
  }

 private:
  const CallEnvironment environment_;
  HealthBoard& board_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeHealthService(const CallEnvironment& environment,
                                                 HealthBoard& board) {
  return std::make_unique<HealthService>(environment, board);
}

}  // namespace reel::front
