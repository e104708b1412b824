// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/server/front/jobs/harness.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <future>
#include <utility>

#include "server/errors/error.h"

namespace reel::front {
namespace {

class WakeUp final : public JobListener {
 public:
  void Wake() override {
    MutexLock lock(mutex_);
    woken_ = true;
    changed_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mutex_);
    if (!woken_) changed_.WaitFor(mutex_, absl::Seconds(1));
    woken_ = false;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

ssize_t LimitedDisk::Write(int fd, const void* data, size_t size) {
  if (room < static_cast<int64_t>(size)) {
    errno = ENOSPC;
    return -1;
  }
  room -= static_cast<int64_t>(size);
  return FileOps::Write(fd, data, size);
}

int LimitedDisk::DiskBytes(int, int64_t& total, int64_t& available) {
  total = available = int64_t{1} << 40;
  return 0;
}

void FailingStore::Update(JobRow row, Durability durability, Done done) {
  if (!fail_updates) return store_->Update(std::move(row), durability, std::move(done));
  AnswerFull(std::move(done));
}

void FailingStore::Remove(std::string id, Done done) {
  if (!fail_removes) return store_->Remove(std::move(id), std::move(done));
  AnswerFull(std::move(done));
}

void FailingStore::AnswerFull(Done done) {
  store_->Find("none", [done = std::move(done)](auto) mutable {
    if (done) done(MakeError(Reason::kStoreFull, "The disk of the data folder is full"));
  });
}

void ScriptedJournal::End(const std::string& id, uint32_t epoch, const Video& video,
                          uint64_t last_sequence, absl::AnyInvocable<void(absl::Status)> done) {
  {
    MutexLock lock(mutex_);
    if (hold_) {
      told_.push_back({id, epoch, video, last_sequence, std::move(done)});
      return;
    }
  }
  done(absl::OkStatus());
}

void ScriptedJournal::KeepState(const std::string& id, uint32_t epoch, const Video&,
                                std::shared_ptr<const StatePieces> state,
                                absl::AnyInvocable<void(absl::Status)> done) {
  {
    const MutexLock lock(mutex_);
    left_.push_back({id, epoch, state->Join()});
  }
  done(keeps);
}

std::vector<ScriptedJournal::Left> ScriptedJournal::left() {
  const MutexLock lock(mutex_);
  return left_;
}

void ScriptedJournal::Hold() {
  MutexLock lock(mutex_);
  hold_ = true;
}

std::vector<ScriptedJournal::Told> ScriptedJournal::Take() {
  MutexLock lock(mutex_);
  return std::exchange(told_, {});
}

model::ModelCard TestCard(const std::string& name) {
  model::ModelCard card;
  card.name = name;
  card.family = "test card";
  card.supports_conditions = true;
  card.defaults.width = 256;
  card.defaults.height = 256;
  card.defaults.num_frames = 25;
  card.defaults.frame_rate = 25;
  card.defaults.num_inference_steps = 10;
  card.defaults.guidance_scale = 3;
  card.defaults.guidance_rescale = 0;
  card.defaults.denoise_strength = 1;
  card.defaults.image_condition_noise_scale = 0;
  card.defaults.decode_timestep = 0;
  card.defaults.decode_noise_scale = 0;
  card.defaults.max_text_tokens = 128;
  // Of 256x256: 5x5 latents, then 10x10; guided, then not.
  card.presets = {
      {"twice", {}, {{.sides = {2, 3}}, {.steps = 4, .sides = {2, 1}, .guided = false}}},
      {"once", {}, {}}};
  return card;
}

Harness::Harness() {
  options.models = {SourceOf("card"), SourceOf("late")};
  options.fill_rows = 0;  // a worker holds two jobs
  options.alone = true;
}

Harness::~Harness() {
  dispatcher.reset();
  store.reset();
  media.reset();
}

ModelSource SourceOf(const std::string& name, const std::string& path) {
  ModelSource source;
  source.load.name = name;
  source.load.path = path;
  return source;
}

WorkerInfo ReadyWorker(const std::string& name) {
  WorkerInfo info;
  info.name = name;
  info.device = "cpu";
  info.state = WorkerState::kReady;
  info.kernels = {{"rms_norm",
                   {{"fast", "built-in", true, true, ""},
                    {"sm90", "built-in", false, false, "needs a newer device"}}}};
  return info;
}

void Harness::OpenStores() {
  dispatcher.reset();
  store.reset();
  media.reset();
  auto data = DataFolder::Open(folder.path());
  auto failing = std::make_unique<FailingStore>(*OpenJobStore(data->database_path()));
  failing_store = failing.get();
  store = std::move(failing);
  media = *OpenMediaStore({folder.path(), max_bytes}, disk);
}

void Harness::Start() {
  OpenStores();
  dispatcher = std::make_unique<Dispatcher>(
      options,
      DispatcherPorts{*store, *media, pool, observer,
                      shared_clock == nullptr ? clock : *shared_clock,
                      shared_serializer == nullptr ? serializer : *shared_serializer},
      *end_journal, /*listener=*/nullptr, comparer);
  ASSERT_TRUE(dispatcher->Start().ok());
}

void Harness::AddWorker(const std::string& name) {
  dispatcher->WorkerChanged(ReadyWorker(name));
  Load(name, TestCard());
  dispatcher->Flush();
}

void Harness::AdvanceAndPoke(absl::Duration by) {
  Settle();  // what came before belongs to the time before
  clock.Advance(by);
  dispatcher->Poke();
  Settle();
}

void Harness::AdvanceAndHear(absl::Duration by, const std::function<void()>& event) {
  // What is posted while a task runs is taken together, and timers come behind it.
  std::promise<void> begun, posted;
  dispatcher->NumActive([&](auto) {
    begun.set_value();
    posted.get_future().wait();
  });
  begun.get_future().wait();
  dispatcher->NumActive([this, by](auto) { clock.Advance(by); });
  event();
  posted.set_value();
  dispatcher->Flush();
}

void Harness::Settle() {
  // An answer of a store may post one more change: a few rounds reach the end of every chain.
  for (int round = 0; round < 4; ++round) {
    dispatcher->Flush();
    (void)Await<std::vector<MediaStore::Blob>>(
        [&](auto done) { media->ReadConditions("none", 0, std::move(done)); });
    (void)Await<std::optional<JobRow>>([&](auto done) { store->Find("none", std::move(done)); });
  }
  dispatcher->Flush();
}

NewJob Harness::Request(const std::string& prompt) {
  NewJob job;
  job.tenant = "t";
  job.spec.prompt = prompt;
  job.spec_sent = prompt;
  return job;
}

absl::StatusOr<JobPtr> Harness::Create(NewJob job) {
  AdoptedJob adopted;
  for (const model::Condition& condition : job.spec.conditions) {
    adopted.conditions.push_back(condition.bytes ? condition.bytes
                                                 : std::make_shared<const std::string>());
  }
  auto reserved =
      Await<Video>([&](auto done) { dispatcher->Reserve(std::move(job), std::move(done)); });
  if (!reserved.ok()) return reserved.status();
  adopted.video = *std::move(reserved);
  return Adopt(std::move(adopted));
}

absl::StatusOr<JobPtr> Harness::Adopt(AdoptedJob job) {
  return Await<JobPtr>([&](auto done) { dispatcher->Adopt(std::move(job), std::move(done)); });
}

JobPtr Harness::MustCreate(NewJob job) {
  auto created = Create(std::move(job));
  EXPECT_TRUE(created.ok()) << created.status();
  return created.ok() ? *created : nullptr;
}

absl::StatusOr<JobPtr> Harness::Find(const std::string& id, const std::string& tenant) {
  return Await<JobPtr>([&](auto done) { dispatcher->Find({tenant}, id, std::move(done)); });
}

absl::StatusOr<Video> Harness::Cancel(const std::string& id) {
  auto job = Await<JobPtr>([&](auto done) { dispatcher->Find({"", true}, id, std::move(done)); });
  if (!job.ok()) return job.status();
  Video before = (*job)->Snapshot();
  dispatcher->EndAdopted(id, absl::OkStatus());
  dispatcher->Flush();
  return before;
}

absl::Status Harness::Delete(const std::string& id, const std::string& tenant) {
  return AwaitStatus([&](auto done) { dispatcher->Delete({tenant}, id, std::move(done)); });
}

size_t Harness::NumActive() {
  return *Await<size_t>([&](auto done) { dispatcher->NumActive(std::move(done)); });
}

void Harness::Report(const Sent& sent, WorkerEvent event) {
  dispatcher->Report({sent.worker, sent.assignment.ref, std::move(event)});
}

void Harness::Progress(const Sent& sent, model::Stage stage, int step) {
  Report(sent, JobProgress{stage, step, sent.assignment.spec.num_steps()});
}

void Harness::Media(const Sent& sent, int64_t offset, const std::string& bytes, bool fragment_end) {
  Report(sent, JobMedia{offset, bytes, fragment_end});
}

void Harness::Finish(const Sent& sent, int64_t size) {
  JobFinished finished;
  finished.media.content_type = "video/mp4";
  finished.media.size_bytes = size;
  Report(sent, std::move(finished));
}

void Harness::RunToEnd(const Sent& sent, const std::string& bytes) {
  Progress(sent, model::Stage::kTextEncode, 0);
  Progress(sent, model::Stage::kDenoise, 1);
  Progress(sent, model::Stage::kDenoise, sent.assignment.spec.num_steps());
  Progress(sent, model::Stage::kDecode, sent.assignment.spec.num_steps());
  Media(sent, 0, bytes);
  Finish(sent, static_cast<int64_t>(bytes.size()));
}

void Harness::Failed(const Sent& sent, const absl::Status& error, bool suspect) {
  Report(sent, JobFailed{error, suspect});
}

void Harness::Load(const std::string& worker, const model::ModelCard& card) {
  dispatcher->Report({worker, {}, ModelLoaded{card.name, card}});
}

void Harness::Step(const StepSample& sample, const std::string& worker) {
  dispatcher->Report({worker, {}, Stepped{{sample}, {}, {}}});
}

void Harness::LearnSteps(absl::Duration took) {
  StepSample sample;
  sample.model = "card";
  sample.plan = "auto";
  sample.rows = 512;
  sample.job_rows = {512};
  sample.duration = took;
  for (int i = 0; i < 10; ++i) Step(sample);
  Settle();
}

void Harness::LosesDevice(const Sent& sent) {
  Report(sent, JobFailed{MakeError(Reason::kWorkerFault, "the device failed"), true, true});
}

void Harness::CancelledAtWorker(const Sent& sent) {
  Failed(sent, absl::CancelledError("cancelled"));
}

Video WaitFor(Job& job, const std::function<bool(const Video&)>& wanted) {
  auto wake_up = std::make_shared<WakeUp>();
  job.Listen(wake_up);
  const absl::Time end = absl::Now() + absl::Seconds(30);
  Video video = job.Snapshot();
  while (!wanted(video) && absl::Now() < end) {
    wake_up->Wait();
    video = job.Snapshot();
  }
  return video;
}

Video WaitForEnd(Job& job) {
  return WaitFor(job, [](const Video& video) { return IsFinal(video.state); });
}

Video WaitForState(Job& job, VideoState state) {
  Video video = WaitFor(job, [&](const Video& seen) { return seen.state == state; });
  EXPECT_EQ(video.state, state) << video.error;
  return video;
}

std::string ReadAll(const Job& job) {
  std::string all;
  while (true) {
    auto piece = job.ReadMedia(static_cast<int64_t>(all.size()), 1 << 20);
    EXPECT_TRUE(piece.ok()) << piece.status();
    if (!piece.ok() || piece->bytes.empty()) return all;
    all += piece->bytes;
  }
}

}  // namespace reel::front
