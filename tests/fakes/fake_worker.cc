// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_worker.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <set>
#include <thread>
#include <utility>

#include "kernels/base/mutex.h"
#include "reel/worker/v1/worker.grpc.pb.h"
#include "server/convert/worker_convert.h"

namespace reel::front {
namespace {

using Command = FakeWorker::Command;
using Report = FakeWorker::Report;

std::shared_ptr<grpc::Channel> Dial(const std::string& socket) {
  grpc::ChannelArguments arguments;
  // A connection of its own, as a process would have.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

model::ModelCard FakeCard(const std::string& name) {
  model::ModelCard card;
  card.name = name;
  card.family = "fake";
  card.defaults.width = 128;
  card.defaults.height = 96;
  card.defaults.num_frames = 9;
  card.defaults.frame_rate = 24;
  card.defaults.num_inference_steps = 3;
  card.defaults.guidance_scale = 1;
  card.defaults.guidance_rescale = 0;
  card.defaults.denoise_strength = 1;
  card.defaults.image_condition_noise_scale = 0;
  card.defaults.decode_timestep = 0;
  card.defaults.decode_noise_scale = 0;
  card.defaults.max_text_tokens = 128;
  card.defaults.kernels.profile = "auto";
  card.defaults.encoding = {
      .codec = model::VideoCodec::kH264, .crf = 23, .speed = model::EncodingSpeed::kVeryfast};
  card.supports_conditions = true;
  return card;
}

std::string FakeMedia(const std::string& job, int attempt, int64_t size) {
  const std::string unit = job + "." + std::to_string(attempt) + ";";
  std::string media;
  while (static_cast<int64_t>(media.size()) < size) media += unit;
  media.resize(static_cast<size_t>(size));
  return media;
}

class FakeWorker::Impl {
 public:
  Impl(const LaunchRequest& request, const FakeScript& script)
      : script_(script),
        stub_(worker::v1::WorkerService::NewStub(Dial(request.socket))),
        stream_(stub_->Attach(&context_)),
        heartbeat_(script.heartbeat),
        in_step_(script.in_step) {
    Report hello;
    hello.mutable_hello()->set_protocol(script.protocol);
    hello.mutable_hello()->set_token(script.token.empty() ? request.token : script.token);
    hello.mutable_hello()->set_worker(request.worker);
    hello.mutable_hello()->set_device("fake " + request.device);
    if (script.lists_kernels) {
      v1::KernelOp& op = *hello.mutable_hello()->add_kernels();
      op.set_op("rms_norm");
      op.add_variants()->set_name("loops");
    }
    if (script.says_hello) Send(hello);
    reader_ = std::thread([this] { Read(); });
    beater_ = std::thread([this] { Beat(); });
    runner_ = std::thread([this] { RunJobs(); });
  }

  ~Impl() {
    Vanish();
    reader_.join();
    beater_.join();
    runner_.join();
  }

  bool Send(const Report& report) {
    MutexLock lock(write_mutex_);
    return !closed_ && stream_->Write(report);
  }

  std::optional<Command> WaitFor(const std::function<bool(const Command&)>& matches) {
    MutexLock lock(mutex_);
    for (;;) {
      const auto found = std::ranges::find_if(received_, matches);
      if (found != received_.end()) return *found;
      if (ended_) return std::nullopt;
      changed_.Wait(mutex_);
    }
  }

  std::vector<Command> Received() const {
    MutexLock lock(mutex_);
    return received_;
  }

  void SetHeartbeat(absl::Duration interval, absl::Duration in_step) {
    MutexLock lock(mutex_);
    heartbeat_ = interval;
    in_step_ = in_step;
    changed_.NotifyAll();
  }

  void Vanish() { context_.TryCancel(); }

  bool HasLeft() const {
    MutexLock lock(mutex_);
    return ended_ && draining_ && end_.ok();
  }

  absl::Status WaitForEnd() {
    MutexLock lock(mutex_);
    while (!ended_) changed_.Wait(mutex_);
    return end_;
  }

 private:
  void Read() {
    Command command;
    while (stream_->Read(&command)) Take(command);
    const grpc::Status status = stream_->Finish();
    MutexLock lock(mutex_);
    end_ = absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
    ended_ = true;
    changed_.NotifyAll();
  }

  void Take(const Command& command) {
    {
      MutexLock lock(mutex_);
      received_.push_back(command);
      if (command.has_assign()) jobs_.push_back(command.assign());
      if (command.has_cancel()) cancelled_.insert(command.cancel().job());
      if (command.has_drain()) draining_ = true;
      changed_.NotifyAll();
    }
    if (command.has_configure() && script_.answers_models) AnswerModels(command.configure());
  }

  void AnswerModels(const worker::v1::Configure& configure) {
    for (const worker::v1::LoadModel& load : configure.models()) {
      Report report;
      worker::v1::ModelState& state = *report.mutable_model_state();
      if (std::ranges::count(script_.failing_models, load.model()) > 0) {
        state.set_model(load.model());
        state.mutable_error()->set_reason("INTERNAL");
        state.mutable_error()->set_message("The script says that this model fails");
      } else {
        state = CardToModelState(FakeCard(load.model()));
      }
      Send(report);
    }
  }

  void Beat() {
    for (;;) {
      Report report;
      {
        MutexLock lock(mutex_);
        if (ended_) return;
        const bool silent = heartbeat_ == absl::ZeroDuration();
        changed_.WaitFor(mutex_, silent ? absl::Milliseconds(20) : heartbeat_);
        if (ended_) return;
        if (silent || heartbeat_ == absl::ZeroDuration()) continue;
        const int64_t nanos = absl::ToInt64Nanoseconds(in_step_);
        auto* in_step = report.mutable_heartbeat()->mutable_in_step();
        in_step->set_seconds(nanos / 1'000'000'000);
        in_step->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
      }
      Send(report);
    }
  }

  void RunJobs() {
    for (;;) {
      worker::v1::Assign job;
      {
        MutexLock lock(mutex_);
        while (jobs_.empty() && !ended_ && !draining_) changed_.Wait(mutex_);
        if (ended_) return;
        if (jobs_.empty()) break;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      if (script_.runs_jobs) RunJob(job);
    }
    MutexLock lock(write_mutex_);
    closed_ = true;
    stream_->WritesDone();
  }

  // True: waited the whole time.
  bool Pause(const std::string& job, absl::Duration wait) {
    const absl::Time until = absl::Now() + wait;
    MutexLock lock(mutex_);
    while (!ended_ && !cancelled_.contains(job) && absl::Now() < until) {
      changed_.WaitFor(mutex_, until - absl::Now());
    }
    return !ended_ && !cancelled_.contains(job);
  }

  void RunJob(const worker::v1::Assign& job) {
    for (int step = 1; step <= script_.steps; ++step) {
      if (!Pause(job.job(), script_.step_time)) return Fail(job, "CANCELLED_BY_OWNER");
      if (!script_.fail_reason.empty() && step == script_.fail_step &&
          job.spec().prompt().find(script_.fail_prompt) != std::string::npos) {
        return Fail(job, script_.fail_reason);
      }
      Report report;
      worker::v1::JobProgress& progress = *report.mutable_progress();
      progress.set_job(job.job());
      progress.set_attempt(job.attempt());
      progress.set_stage(v1::STAGE_DENOISE);
      progress.set_step(step);
      progress.set_num_steps(script_.steps);
      Send(report);
    }
    SendMedia(job);
    Report report;
    worker::v1::JobFinished& finished = *report.mutable_finished();
    finished.set_job(job.job());
    finished.set_attempt(job.attempt());
    finished.set_size_bytes(script_.media_bytes);
    finished.mutable_media()->set_content_type("video/mp4; codecs=\"avc1.64001f\"");
    finished.mutable_stats()->set_device("fake");
    Send(report);
  }

  void SendMedia(const worker::v1::Assign& job) {
    const std::string bytes = FakeMedia(job.job(), job.attempt(), script_.media_bytes);
    for (int64_t offset = 0; offset < script_.media_bytes; offset += script_.chunk_bytes) {
      Report report;
      worker::v1::JobMedia& media = *report.mutable_media();
      media.set_job(job.job());
      media.set_attempt(job.attempt());
      media.set_offset(offset);
      media.set_data(
          bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(script_.chunk_bytes)));
      media.set_fragment_end(offset + script_.chunk_bytes >= script_.media_bytes);
      if (!Send(report)) return;
    }
  }

  void Fail(const worker::v1::Assign& job, const std::string& reason) {
    Report report;
    worker::v1::JobFailed& failed = *report.mutable_failed();
    failed.set_job(job.job());
    failed.set_attempt(job.attempt());
    failed.mutable_error()->set_reason(reason);
    failed.mutable_error()->set_message("The script says so");
    Send(report);
  }

  const FakeScript script_;
  grpc::ClientContext context_;
  const std::unique_ptr<worker::v1::WorkerService::Stub> stub_;
  const std::unique_ptr<grpc::ClientReaderWriter<Report, Command>> stream_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<Command> received_ ABSL_GUARDED_BY(mutex_);
  std::deque<worker::v1::Assign> jobs_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> cancelled_ ABSL_GUARDED_BY(mutex_);
  absl::Duration heartbeat_ ABSL_GUARDED_BY(mutex_);
  absl::Duration in_step_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
  Mutex write_mutex_;  // one write at a time
  bool closed_ ABSL_GUARDED_BY(write_mutex_) = false;
  std::thread reader_, beater_, runner_;
};

FakeWorker::FakeWorker(const LaunchRequest& request, const FakeScript& script)
    : impl_(std::make_unique<Impl>(request, script)) {}
FakeWorker::~FakeWorker() = default;
bool FakeWorker::Send(const Report& report) { return impl_->Send(report); }
std::optional<Command> FakeWorker::WaitFor(const std::function<bool(const Command&)>& matches) {
  return impl_->WaitFor(matches);
}
std::vector<Command> FakeWorker::Received() const { return impl_->Received(); }
void FakeWorker::SetHeartbeat(absl::Duration interval, absl::Duration in_step) {
  impl_->SetHeartbeat(interval, in_step);
}
bool FakeWorker::HasLeft() const { return impl_->HasLeft(); }
void FakeWorker::Vanish() { impl_->Vanish(); }
absl::Status FakeWorker::WaitForEnd() { return impl_->WaitForEnd(); }

}  // namespace reel::front
