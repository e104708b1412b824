// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/worker_slot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "server/convert/report_convert.h"
#include "server/front/workers/attach_server.h"
#include "server/front/workers/launcher.h"
#include "server/front/workers/worker_pool_options.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// Of a model that is tried out, and whose steps nobody has seen yet.
constexpr absl::Duration kNewModelStep = absl::Minutes(2);

SteadyTime Now() { return std::chrono::steady_clock::now(); }

}  // namespace

WorkerSlot::WorkerSlot(const WorkerOptions& worker, const WorkerPoolOptions& options,
                       absl::AnyInvocable<void()> wake)
    : options_(options),
      name_(worker.name),
      device_(worker.device),
      wake_(std::move(wake)),
      settings_(SettingsOf(worker, options)),
      lane_(options.media_buffer_bytes, [this] { RoomAgain(); }) {
  info_.name = worker.name;
  info_.device = worker.device;
}

void WorkerSlot::SetEvents(WorkerEvents& events) { events_ = &events; }

WorkerInfo WorkerSlot::Info() const {
  MutexLock lock(mutex_);
  return info_;
}

void WorkerSlot::Assign(const Assignment& assignment) {
  for (worker::v1::AttachResponse& message : MakeAssignmentMessages(assignment)) {
    Send(assignment.ref.job, std::move(message));
  }
}

void WorkerSlot::Send(const std::string& job, worker::v1::AttachResponse message) {
  MutexLock lock(mutex_);
  if (session_) session_->Send(job, std::move(message));
}

void WorkerSlot::LoadModel(const model::LoadOptions& options, int64_t revision) {
  MutexLock lock(mutex_);
  if (!session_ && info_.state == WorkerState::kOut) {
    Keep(options);
    PostFailure(options.name, "The worker is out of service", revision);
    return;
  }
  PendingLoad& load = pending_[options.name] = {options, revision};
  if (session_) SendLoad(load);
}

void WorkerSlot::SendLoad(PendingLoad& load) {
  worker::v1::AttachResponse message;
  *message.mutable_load_model() = LoadToProto(load.options);
  message.mutable_load_model()->set_revision(load.revision);
  session_->Send({}, std::move(message));
  load.sent = true;
}

void WorkerSlot::UnloadModel(const std::string& model, bool for_good) {
  MutexLock lock(mutex_);
  pending_.erase(model);
  if (for_good) {
    std::erase_if(settings_.models, [&](const auto& load) { return load.name == model; });
  }
  if (std::erase(info_.models, model) > 0) PostChanged();
  worker::v1::AttachResponse message;
  message.mutable_unload_model()->set_model(model);
  if (session_) session_->Send({}, std::move(message));
}

void WorkerSlot::Restore() {
  {
    MutexLock lock(mutex_);
    if (info_.state != WorkerState::kOut) return;
    restore_asked_ = true;
  }
  wake_();
}

bool WorkerSlot::TakeRestore() {
  MutexLock lock(mutex_);
  // A model may have come meanwhile.
  return std::exchange(restore_asked_, false) && info_.state == WorkerState::kOut;
}

void WorkerSlot::Keep(const model::LoadOptions& options) {
  for (model::LoadOptions& load : settings_.models) {
    if (load.name != options.name) continue;
    load = options;
    return;
  }
  settings_.models.push_back(options);
}

void WorkerSlot::GiveUpLoads() {
  const bool out = info_.state == WorkerState::kOut;
  std::erase_if(pending_, [&](const auto& entry) {
    const auto& [model, load] = entry;
    if (!load.sent && !out) return false;
    PostFailure(model,
                load.sent ? "The worker was lost while it loaded the model"
                          : "The worker is out of service",
                load.revision);
    return true;
  });
}

void WorkerSlot::PostFailure(const std::string& model, const char* why, int64_t revision) {
  lane_.Post([this, failed = ModelFailed{model, absl::UnavailableError(why), revision}] {
    events_->Report({name_, {}, failed});
  });
}

void WorkerSlot::SetStepLimit(absl::Duration limit) {
  MutexLock lock(mutex_);
  vitals_.step_limit = limit;
}

absl::Status WorkerSlot::Admit(const worker::v1::Hello& hello, std::shared_ptr<Session> session) {
  MutexLock lock(mutex_);
  if (!TokensEqual(token_, hello.token())) {
    return absl::UnauthenticatedError("The token is wrong or has been used");
  }
  if (hello.protocol() != kWorkerProtocol) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The worker speaks protocol ", hello.protocol(), ", this server ", kWorkerProtocol));
  }
  token_.clear();
  vitals_.attached = vitals_.last_message = Now();
  info_.device = hello.device();
  info_.memory.total = Bounded(hello.memory_total_bytes(), settings_.memory_bytes);
  info_.compute_capability = hello.compute_capability();
  info_.copy_bytes_per_second = hello.copy_bytes_per_second();
  // With plug-ins the whole list comes later; until then that of the last incarnation holds.
  if (settings_.plugins.empty()) {
    info_.kernels.clear();
    for (const v1::KernelOp& op : hello.kernels()) info_.kernels.push_back(ListingFromProto(op));
  }
  info_.versions.assign(hello.versions().begin(), hello.versions().end());
  std::ranges::sort(info_.versions);

  worker::v1::AttachResponse configure;
  *configure.mutable_configure() = SettingsToProto(settings_);
  session->Send({}, std::move(configure));
  session_ = std::move(session);
  vitals_.models_pending = static_cast<int>(settings_.models.size());
  if (settings_.models.empty()) info_.state = WorkerState::kReady;  // nothing will be told
  for (auto& [model, load] : pending_) SendLoad(load);
  PostChanged();
  return absl::OkStatus();
}

bool WorkerSlot::OnMessage(worker::v1::AttachRequest message) {
  int64_t ended_before = 0;
  {
    MutexLock lock(mutex_);
    vitals_.last_message = Now();
    if (message.has_heartbeat()) {
      vitals_.last_beat = vitals_.last_message;
      vitals_.in_step = std::clamp(FromProtoDuration(message.heartbeat().in_step()),
                                   absl::ZeroDuration(), absl::Hours(24));
      return true;
    }
    // Before Post, so that RoomAgain comes after it.
    vitals_.paused = true;
    ended_before = ended_;
  }
  const auto bytes = static_cast<int64_t>(message.ByteSizeLong());
  const bool room =
      lane_.Post([this, ended_before,
                  held = std::move(message)]() mutable { Handle(std::move(held), ended_before); },
                 bytes);
  if (room) {
    MutexLock lock(mutex_);
    vitals_.paused = false;
  }
  return room;
}

void WorkerSlot::RoomAgain() {
  MutexLock lock(mutex_);
  vitals_.paused = false;
  vitals_.last_message = Now();
  if (session_) session_->Resume();
}

void WorkerSlot::OnBroken() {
  {
    MutexLock lock(mutex_);
    session_ = nullptr;
    vitals_.broken = Now();
  }
  wake_();
}

LaunchRequest WorkerSlot::BeginIncarnation(const std::string& socket) {
  MutexLock lock(mutex_);
  token_ = MakeToken();
  vitals_ = Vitals();
  vitals_.launched = Now();
  if (launched_before_) ++info_.restarts;
  launched_before_ = true;
  info_.state = WorkerState::kStarting;
  info_.out = OutReason::kNone;
  PostChanged();
  return {.worker = name_, .device = device_, .socket = socket, .token = token_};
}

void WorkerSlot::LaunchFailed() {
  MutexLock lock(mutex_);
  token_.clear();
  info_.state = WorkerState::kLost;
  PostChanged();
}

std::optional<LossCause> WorkerSlot::Diagnose(SteadyTime now, const Pauses& pauses) const {
  MutexLock lock(mutex_);
  if (vitals_.broken) {
    if (pauses.Awake(*vitals_.broken, now) > options_.exit_grace) return LossCause::kExit;
  } else if (!vitals_.attached) {
    if (pauses.Awake(vitals_.launched, now) > options_.hello_timeout) return LossCause::kHeartbeat;
  } else if (!vitals_.paused &&
             pauses.Awake(vitals_.last_message, now) > options_.heartbeat_timeout) {
    return LossCause::kHeartbeat;
  } else if (info_.state == WorkerState::kReady && vitals_.in_step > StepLimit()) {
    // A worker that stood still with us says so of no step: the time is taken off here.
    const SteadyTime began = vitals_.last_beat - std::chrono::duration_cast<SteadyTime::duration>(
                                                     absl::ToChronoNanoseconds(vitals_.in_step));
    if (pauses.Awake(began, vitals_.last_beat) > StepLimit()) return LossCause::kHang;
  }
  return std::nullopt;
}

absl::Duration WorkerSlot::StepLimit() const {
  return pending_.empty() ? vitals_.step_limit : std::max(vitals_.step_limit, kNewModelStep);
}

bool WorkerSlot::HasStream() const {
  MutexLock lock(mutex_);
  return session_ != nullptr;
}

void WorkerSlot::CloseStream() {
  MutexLock lock(mutex_);
  if (session_) session_->Close();
}

std::optional<SteadyTime> WorkerSlot::AttachedSince() const {
  MutexLock lock(mutex_);
  return vitals_.attached;
}

void WorkerSlot::Drain(absl::Duration time_left) {
  worker::v1::AttachResponse message;
  SetProtoDuration(*message.mutable_drain()->mutable_time_left(), time_left);
  MutexLock lock(mutex_);
  if (session_) session_->Send({}, std::move(message));
  info_.state = WorkerState::kDraining;
  PostChanged();
}

void WorkerSlot::EndIncarnation(LossCause cause, OutReason out) {
  MutexLock lock(mutex_);
  token_.clear();
  ++ended_;
  info_.state = out == OutReason::kNone ? WorkerState::kLost : WorkerState::kOut;
  info_.out = out;
  info_.models.clear();
  info_.memory = {.total = info_.memory.total};
  lane_.Post([this, cause] { events_->WorkerLost(name_, cause); });
  GiveUpLoads();
  PostChanged();
}

void WorkerSlot::PostChanged() {
  lane_.Post([this, info = info_] { events_->WorkerChanged(info); });
}

void WorkerSlot::Handle(worker::v1::AttachRequest message, int64_t ended_before) {
  std::optional<WorkerReport> report = ReportFromProto(std::move(message));
  if (!report) return;
  report->worker = name_;
  {
    MutexLock lock(mutex_);
    if (ended_ == ended_before) {
      std::visit([this](const auto& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { Note(event); },
                 report->event);
    }
  }
  events_->Report(*std::move(report));
}

void WorkerSlot::Note(const KernelsListed& listed) {
  info_.kernels = listed.kernels;
  info_.plugins = listed.plugins;
  PostChanged();
}

void WorkerSlot::Note(const ModelLoaded& loaded) {
  for (const WarmedUp& video : loaded.warm_ups) LogWarmUp(name_, loaded.model, video);
  if (loaded.revision != 0) {
    const auto pending = pending_.find(loaded.model);
    // Unloaded, or asked for again, since it was sent.
    if (pending == pending_.end() || pending->second.revision != loaded.revision) return;
    Keep(pending->second.options);
    pending_.erase(pending);
    Log(LogLevel::kInfo, "A model was loaded beside the others",
        {{"worker", name_}, {"model", loaded.model}, {"sha256", loaded.card.weights_sha256}});
    NoteModel(loaded.model, true);
    return;
  }
  NoteModel(loaded.model, true);
  NoteStarted();
}

void WorkerSlot::Note(const ModelKnown& known) {
  Log(LogLevel::kInfo, "A model can be loaded on demand",
      {{"worker", name_}, {"model", known.model}, {"bytes", known.card.weight_bytes}});
  vitals_.knows_models = true;
  NoteStarted();
}

void WorkerSlot::Note(const ModelFailed& failed) {
  Log(LogLevel::kError, "A model could not be loaded",
      {{"worker", name_}, {"model", failed.model}, {"error", failed.error}});
  if (failed.revision != 0) {
    const auto pending = pending_.find(failed.model);
    // What serves in its place goes on.
    if (pending != pending_.end() && pending->second.revision == failed.revision) {
      pending_.erase(pending);
    }
    return;
  }
  NoteModel(failed.model, false);
  NoteStarted();
}

void WorkerSlot::NoteModel(const std::string& model, bool loaded) {
  std::erase(info_.models, model);
  const bool kept =
      std::ranges::any_of(settings_.models, [&](const auto& load) { return load.name == model; });
  if (loaded && kept) info_.models.push_back(model);
  // Without any model it was of no use.
  if (loaded && info_.state == WorkerState::kOut) {
    info_.state = WorkerState::kReady;
    info_.out = OutReason::kNone;
  }
  PostChanged();
}

void WorkerSlot::NoteStarted() {
  if (info_.state != WorkerState::kStarting || --vitals_.models_pending > 0) return;
  // With no model at all it can do nothing, and starting it again would not help.
  const bool useless = info_.models.empty() && !vitals_.knows_models;
  info_.state = useless ? WorkerState::kOut : WorkerState::kReady;
  info_.out = useless ? OutReason::kNoModel : OutReason::kNone;
  Log(LogLevel::kInfo, "Worker is up",
      {{"worker", name_}, {"device", info_.device}, {"models", int64_t(info_.models.size())}});
  PostChanged();
}

void WorkerSlot::Note(const Stepped& stepped) {
  model::DeviceMemory memory = stepped.memory;
  memory.total = info_.memory.total;
  // Steps tell it all the time: as long as they do, only a change that is worth a look.
  const int64_t grain = stepped.steps.empty() ? 0 : memory.total / kMemoryGrains;
  if (!IsFarFrom(memory, info_.memory, grain)) return;
  info_.memory = memory;
  PostChanged();
}

}  // namespace reel::front
