// SPDX-License-Identifier: Apache-2.0
#include "server/worker/link/worker_link.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/mutex.h"
#include "reel/worker/v1/worker.grpc.pb.h"
#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "server/convert/report_convert.h"
#include "server/errors/error.h"
#include "server/logging/log.h"
#include "server/worker/link/command_reader.h"
#include "server/worker/link/media_pieces.h"
#include "server/worker/link/outbox.h"

namespace reel::worker {
namespace {

using worker::v1::AttachRequest;
using worker::v1::AttachResponse;

// How a job ended here; the front decides how its video ends.
void LogEndOf(const WorkerReport& report) {
  const auto* failed = std::get_if<JobFailed>(&report.event);
  if (failed == nullptr && !std::holds_alternative<JobFinished>(report.event)) return;
  std::string_view name;
  bool fault = failed != nullptr;
  if (failed != nullptr) {
    if (const auto reason = ReasonOf(failed->error)) {
      name = Describe(*reason).name;
      fault = *reason != Reason::kCancelledByOwner;
    }
  }
  Log(fault ? LogLevel::kWarning : LogLevel::kDebug,
      failed == nullptr ? "A video is rendered" : "A video was not rendered to its end",
      {{"video", report.ref.job},
       {"attempt", report.ref.attempt},
       {"trace_id", report.ref.trace_id},
       {"reason", name}});
}

AttachRequest HelloMessage(const LinkOptions& options) {
  AttachRequest message;
  worker::v1::Hello& hello = *message.mutable_hello();
  hello.set_protocol(kWorkerProtocol);
  hello.set_token(options.token);
  hello.set_worker(options.worker);
  hello.set_device(options.device);
  hello.set_memory_total_bytes(options.memory_total_bytes);
  hello.set_compute_capability(options.compute_capability);
  hello.set_copy_bytes_per_second(options.copy_bytes_per_second);
  for (const kernels::OpListing& op : options.kernels) {
    *hello.add_kernels() = ListingToProto(op, options.worker);
  }
  hello.mutable_versions()->insert(options.versions.begin(), options.versions.end());
  return message;
}

absl::Status FromGrpc(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

}  // namespace

// gRPC's synchronous stream with a thread for each direction: the writer alone writes, the reader
// alone reads, and Finish comes when both are through.
class WorkerLink::Stream {
 public:
  Stream(const LinkOptions& options, std::shared_ptr<grpc::Channel> channel)
      : worker(options.worker),
        outbox(options.media_buffer_bytes),
        heartbeat_(options.heartbeat),
        stub_(worker::v1::WorkerService::NewStub(std::move(channel))),
        stream_(stub_->Attach(&context_)) {}

  // The threads that do not need the engine.
  absl::Status Open(const LinkOptions& options) {
    AttachResponse first;
    if (!stream_->Write(HelloMessage(options)) || !stream_->Read(&first)) {
      return FromGrpc(stream_->Finish());
    }
    if (!first.has_configure()) {
      context_.TryCancel();
      stream_->Finish();
      return absl::FailedPreconditionError("reeld's first message is not Configure");
    }
    settings = SettingsFromProto(first.configure());
    writer_ = std::thread([this] { Write(); });
    beater_ = std::thread([this] { Beat(); });
    return absl::OkStatus();
  }

  void Serve(CommandTarget& target, Callbacks given) {
    callbacks = std::move(given);
    {
      MutexLock lock(mutex_);
      target_ = &target;
      reading_ = true;
    }
    reader_ = std::thread([this, &target] { Read(target); });
  }

  void Leave(absl::Duration patience) {
    if (!writer_.joinable()) return;
    {
      MutexLock lock(mutex_);
      leaving_ = true;  // first, so that the front's answer does not count as a broken stream
      changed_.NotifyAll();
    }
    outbox.End();
    {
      MutexLock lock(mutex_);
      using Clock = std::chrono::steady_clock;
      patience = std::min(patience, absl::Hours(24 * 365));  // an infinite one overflows the clock
      const Clock::time_point until = Clock::now() + absl::ToChronoNanoseconds(patience);
      while (reading_ && Clock::now() < until) {
        changed_.WaitFor(mutex_, absl::FromChrono(until - Clock::now()));
      }
    }
    context_.TryCancel();  // harmless when the front has closed
    outbox.Close();
    writer_.join();
    beater_.join();
    if (reader_.joinable()) reader_.join();
    stream_->Finish();
  }

  const std::string worker;  // its name
  Outbox outbox;
  WorkerSettings settings;  // once open
  Callbacks callbacks;      // once serving

 private:
  void Write() {
    while (auto message = outbox.Pop()) {
      if (!stream_->Write(*message)) return outbox.Close();
    }
    stream_->WritesDone();
  }

  void Read(CommandTarget& target) {
    CommandReader commands;
    AttachResponse message;
    while (stream_->Read(&message)) {
      if (auto command = commands.Read(std::move(message))) target.Post(*std::move(command));
    }
    outbox.Close();
    bool broken;
    {
      MutexLock lock(mutex_);
      reading_ = false;
      broken = !leaving_;
      changed_.NotifyAll();
    }
    if (broken && callbacks.on_broken) callbacks.on_broken();
  }

  // A thread of its own, so that device work cannot delay it.
  void Beat() {
    MutexLock lock(mutex_);
    while (!leaving_) {
      AttachRequest message;
      worker::v1::Heartbeat& beat = *message.mutable_heartbeat();
      const absl::Duration in_step = target_ ? target_->in_step() : absl::ZeroDuration();
      if (in_step > absl::ZeroDuration()) SetProtoDuration(*beat.mutable_in_step(), in_step);
      outbox.Push(std::move(message));
      // The front's watchdog sees a step only in heartbeats, so a long step sends more of them.
      changed_.WaitFor(mutex_, in_step < heartbeat_ ? heartbeat_ : heartbeat_ / 4);
    }
  }

  const absl::Duration heartbeat_;
  grpc::ClientContext context_;
  const std::unique_ptr<worker::v1::WorkerService::Stub> stub_;
  const std::unique_ptr<grpc::ClientReaderWriter<AttachRequest, AttachResponse>> stream_;

  Mutex mutex_;
  CondVar changed_;
  CommandTarget* target_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread writer_, reader_, beater_;
};

absl::StatusOr<std::unique_ptr<WorkerLink>> WorkerLink::Connect(const LinkOptions& options) {
  grpc::ChannelArguments arguments;
  // A connection of its own; a proxy from the environment must not be used for a socket file.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  auto channel = grpc::CreateCustomChannel("unix:" + options.socket,
                                           grpc::InsecureChannelCredentials(), arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() +
                                 absl::ToChronoMilliseconds(options.dial_timeout))) {
    return absl::UnavailableError(
        absl::StrCat("reeld does not listen on the socket ", options.socket));
  }
  auto stream = std::make_unique<Stream>(options, std::move(channel));
  const absl::Status opened = stream->Open(options);
  if (!opened.ok()) return opened;
  return std::unique_ptr<WorkerLink>(new WorkerLink(std::move(stream)));
}

WorkerLink::WorkerLink(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}
WorkerLink::~WorkerLink() { Leave(absl::ZeroDuration()); }

const WorkerSettings& WorkerLink::settings() const { return stream_->settings; }
void WorkerLink::Serve(CommandTarget& target, Callbacks callbacks) {
  stream_->Serve(target, std::move(callbacks));
}
void WorkerLink::Leave(absl::Duration patience) { stream_->Leave(patience); }

void WorkerLink::Report(WorkerReport report) {
  report.worker = stream_->worker;
  LogEndOf(report);
  auto* media = std::get_if<JobMedia>(&report.event);
  if (media == nullptr) {
    stream_->outbox.Push(ReportToProto(std::move(report)));
    return;
  }
  for (JobMedia& piece : CutMedia(std::move(*media))) {
    if (!stream_->outbox.Push(ReportToProto({report.worker, report.ref, std::move(piece)}))) return;
  }
}

void WorkerLink::DeviceLost(const absl::Status& error) {
  if (stream_->callbacks.on_device_lost) stream_->callbacks.on_device_lost(error);
}

void WorkerLink::Drained() { Log(LogLevel::kInfo, "All jobs are finished"); }

}  // namespace reel::worker
