// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/attach_server.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/mutex.h"
#include "reel/worker/v1/worker.grpc.pb.h"
#include "server/convert/report_convert.h"

namespace reel::front {

void SendQueue::Push(const std::string& job, Message message) {
  const bool is_bulk = message.has_condition_data() || message.has_state_data();
  if (is_bulk || waiting_.contains(job)) {
    ++waiting_[job];
    pixels_.push_back({job, std::move(message)});
  } else {
    control_.push_back(std::move(message));
  }
}

std::optional<SendQueue::Message> SendQueue::Pop() {
  if (!control_.empty()) {
    Message message = std::move(control_.front());
    control_.pop_front();
    return message;
  }
  if (pixels_.empty()) return std::nullopt;
  Entry entry = std::move(pixels_.front());
  pixels_.pop_front();
  const auto waiting = waiting_.find(entry.job);
  if (--waiting->second == 0) waiting_.erase(waiting);
  return std::move(entry.message);
}

void SendQueue::Clear() {
  control_.clear();
  pixels_.clear();
  waiting_.clear();
}

namespace {

void AddPieces(const std::string& job, int index, const std::string& bytes,
               std::vector<worker::v1::AttachResponse>& messages) {
  for (size_t offset = 0; offset < bytes.size(); offset += kConditionPieceBytes) {
    worker::v1::ConditionData& piece = *messages.emplace_back().mutable_condition_data();
    piece.set_job(job);
    piece.set_index(index);
    piece.set_data(bytes.substr(offset, kConditionPieceBytes));
  }
}

void AddStatePieces(const std::string& job, const std::string& bytes,
                    std::vector<worker::v1::AttachResponse>& messages) {
  for (size_t offset = 0; offset < bytes.size(); offset += kConditionPieceBytes) {
    worker::v1::StateData& piece = *messages.emplace_back().mutable_state_data();
    piece.set_job(job);
    piece.set_offset(static_cast<int64_t>(offset));
    piece.set_data(bytes.substr(offset, kConditionPieceBytes));
  }
}

}  // namespace

std::vector<worker::v1::AttachResponse> MakeAssignmentMessages(const Assignment& assignment) {
  std::vector<worker::v1::AttachResponse> messages;
  int index = 0;
  for (const model::Condition& condition : assignment.spec.conditions) {
    if (condition.bytes) AddPieces(assignment.ref.job, index, *condition.bytes, messages);
    ++index;
  }
  const auto& source = assignment.spec.source;
  if (source && source->state) AddStatePieces(assignment.ref.job, *source->state, messages);
  *messages.emplace_back().mutable_assign() = AssignmentToProto(assignment);
  return messages;
}

namespace {

using worker::v1::AttachRequest;
using worker::v1::AttachResponse;
using Reactor = grpc::ServerBidiReactor<AttachRequest, AttachResponse>;

constexpr size_t kMaxSocketPath = 107;
constexpr int kMaxMessageBytes = 4 << 20;

// What outlives the reactor: its lock and the one pointer to it, which is null once it is done.
// Calling into gRPC under the lock is safe, since completions never run inside the call.
class StreamHandle final : public Session {
 public:
  StreamHandle(Reactor* reactor, grpc::CallbackServerContext* context)
      : reactor_(reactor), context_(context) {}

  void Send(const std::string& job, AttachResponse message) override {
    MutexLock lock(mutex_);
    if (!reactor_ || finished_) return;
    queue_.Push(job, std::move(message));
    if (!writing_) WriteNext();
  }
  void Resume() override {
    MutexLock lock(mutex_);
    if (reading_ == Reading::kHandling) {
      resume_asked_ = true;
    } else if (reading_ == Reading::kPaused) {
      ReadNext();
    }
  }
  void Close() override {
    MutexLock lock(mutex_);
    if (reactor_) context_->TryCancel();
  }

  void Read() {
    MutexLock lock(mutex_);
    ReadNext();
  }
  // A message is being handled; only HandlingDone may start the next read.
  AttachRequest BeginHandling() {
    MutexLock lock(mutex_);
    reading_ = Reading::kHandling;
    resume_asked_ = false;
    return std::move(incoming_);
  }
  void HandlingDone(bool read_on) {
    MutexLock lock(mutex_);
    if (read_on || resume_asked_) {
      ReadNext();
    } else {
      reading_ = Reading::kPaused;
    }
  }
  void WriteDone(bool ok) {
    MutexLock lock(mutex_);
    writing_ = false;
    if (ok && reactor_ && !finished_) WriteNext();
  }
  void FinishOnce(const grpc::Status& status) {
    MutexLock lock(mutex_);
    if (finished_) return;
    finished_ = true;
    queue_.Clear();
    reactor_->Finish(status);
  }
  void ReactorGone() {
    MutexLock lock(mutex_);
    reactor_ = nullptr;
  }

 private:
  enum class Reading { kReading, kHandling, kPaused };

  void ReadNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!reactor_ || finished_) return;
    reading_ = Reading::kReading;
    reactor_->StartRead(&incoming_);
  }
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    auto next = queue_.Pop();
    if (!next) return;
    outgoing_ = *std::move(next);
    writing_ = true;
    reactor_->StartWrite(&outgoing_);
  }

  Mutex mutex_;
  Reactor* reactor_ ABSL_GUARDED_BY(mutex_);
  grpc::CallbackServerContext* context_ ABSL_GUARDED_BY(mutex_);
  SendQueue queue_ ABSL_GUARDED_BY(mutex_);
  AttachRequest incoming_;   // gRPC's while a read is out
  AttachResponse outgoing_;  // gRPC's while a write is out
  Reading reading_ ABSL_GUARDED_BY(mutex_) = Reading::kReading;
  bool resume_asked_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

// Freed in OnDone, which gRPC calls once, after every other callback has returned.
class AttachReactor final : public Reactor {
 public:
  AttachReactor(grpc::CallbackServerContext* context, const AttachServer::Admit& admit)
      : admit_(admit), handle_(std::make_shared<StreamHandle>(this, context)) {
    handle_->Read();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return handle_->FinishOnce(grpc::Status::OK);
    AttachRequest message = handle_->BeginHandling();
    if (owner_) return handle_->HandlingDone(owner_->OnMessage(std::move(message)));
    if (!message.has_hello()) {
      return handle_->FinishOnce(
          ToGrpc(absl::InvalidArgumentError("The first message must be Hello")));
    }
    const absl::StatusOr<SessionOwner*> owner = admit_(message.hello(), handle_);
    if (!owner.ok()) return handle_->FinishOnce(ToGrpc(owner.status()));
    owner_ = *owner;
    handle_->HandlingDone(true);
  }
  void OnWriteDone(bool ok) override { handle_->WriteDone(ok); }
  void OnCancel() override { handle_->FinishOnce(grpc::Status::CANCELLED); }
  void OnDone() override {
    handle_->ReactorGone();
    if (owner_) owner_->OnBroken();
    delete this;
  }

 private:
  const AttachServer::Admit& admit_;
  const std::shared_ptr<StreamHandle> handle_;
  SessionOwner* owner_ = nullptr;  // of OnReadDone, and of OnDone after it
};

class AttachService final : public worker::v1::WorkerService::CallbackService {
 public:
  explicit AttachService(AttachServer::Admit admit) : admit_(std::move(admit)) {}
  Reactor* Attach(grpc::CallbackServerContext* context) override {
    return new AttachReactor(context, admit_);
  }

 private:
  const AttachServer::Admit admit_;
};

}  // namespace

class AttachServer::Impl {
 public:
  explicit Impl(Admit admit) : service(std::move(admit)) {}
  AttachService service;
  std::unique_ptr<grpc::Server> server;
};

AttachServer::AttachServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

AttachServer::~AttachServer() {
  // Streams that are still open are cancelled at the deadline, and finish in OnCancel.
  impl_->server->Shutdown(std::chrono::system_clock::now());
  impl_->server->Wait();
}

absl::StatusOr<std::unique_ptr<AttachServer>> AttachServer::Start(const std::string& socket_path,
                                                                  Admit admit) {
  if (socket_path.size() > kMaxSocketPath) {
    return absl::InvalidArgumentError(
        absl::StrCat("The workers' socket path is too long: ", socket_path.size(),
                     " bytes of at most ", kMaxSocketPath));
  }
  auto impl = std::make_unique<Impl>(std::move(admit));
  grpc::ServerBuilder builder;
  int bound = 0;
  builder.AddListeningPort("unix:" + socket_path, grpc::InsecureServerCredentials(), &bound);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.RegisterService(&impl->service);
  impl->server = builder.BuildAndStart();
  if (!impl->server) {
    return absl::UnavailableError(
        absl::StrCat("Cannot listen on the workers' socket ", socket_path));
  }
  return std::unique_ptr<AttachServer>(new AttachServer(std::move(impl)));
}

}  // namespace reel::front
