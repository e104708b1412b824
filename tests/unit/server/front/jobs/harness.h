// SPDX-License-Identifier: Apache-2.0
// A dispatcher over real stores in a folder of its own, with a log, workers and time that a test
// drives.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/front/jobs/dispatcher.h"
#include "server/front/store/data_folder.h"
#include "server/front/store/job_store.h"
#include "server/front/store/media_file.h"
#include "server/front/store/media_store.h"
#include "tests/fakes/await.h"
#include "tests/fakes/manual_clock.h"
#include "tests/fakes/memory_serializer.h"
#include "tests/fakes/recording_observer.h"
#include "tests/fakes/scripted_worker_pool.h"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/front/scheduling/step_of.h"

namespace reel::front {

using reel::testing::Await;
using reel::testing::AwaitStatus;
using Sent = reel::testing::ScriptedWorkerPool::Sent;
using JobPtr = std::shared_ptr<Job>;

// A disk with so much room.
class LimitedDisk : public FileOps {
 public:
  ssize_t Write(int fd, const void* data, size_t size) override;
  // Tests of durability are the store's.
  int Sync(int) override { return 0; }
  // Always empty: admission sees neither `room` nor the machine's own disk, which may be nearly
  // full.
  int DiskBytes(int fd, int64_t& total, int64_t& available) override;
  std::atomic<int64_t> room = int64_t{1} << 40;
};

// A store whose disk can be full.
class FailingStore final : public JobStore {
 public:
  explicit FailingStore(std::unique_ptr<JobStore> store) : store_(std::move(store)) {}
  void Create(JobRow row, Done done) override { store_->Create(std::move(row), std::move(done)); }
  void Update(JobRow row, Durability durability, Done done) override;
  void Remove(std::string id, Done done) override;
  void Find(std::string id, Reply<std::optional<JobRow>> reply) override {
    store_->Find(std::move(id), std::move(reply));
  }
  void Page(PageQuery query, Reply<std::vector<JobRow>> reply) override {
    store_->Page(std::move(query), std::move(reply));
  }
  void Live(Reply<std::vector<JobRow>> reply) override { store_->Live(std::move(reply)); }
  void Expired(absl::Time now, int limit, Reply<std::vector<JobRow>> reply) override {
    store_->Expired(now, limit, std::move(reply));
  }
  void Files(Reply<std::vector<StoredFile>> reply) override { store_->Files(std::move(reply)); }
  void PutBlob(std::string kind, std::string name, std::string value) override {
    store_->PutBlob(std::move(kind), std::move(name), std::move(value));
  }
  void Blobs(std::string kind, Reply<std::map<std::string, std::string>> reply) override {
    store_->Blobs(std::move(kind), std::move(reply));
  }

  std::atomic<bool> fail_updates = false, fail_removes = false;

 private:
  // On the store's thread, as ever.
  void AnswerFull(Done done);

  std::unique_ptr<JobStore> store_;
};

// 256x256, 4 latent frames, 10 steps, guided. Its preset "twice" has 10 steps of 200 rows and 4 of
// 400; "once" has no values.
model::ModelCard TestCard(const std::string& name = "card");

// A log that answers each end at once, or when the test says so.
class ScriptedJournal final : public EndJournal {
 public:
  struct Told {
    std::string id;
    uint32_t epoch = 0;
    Video video;
    uint64_t last_sequence = 0;
    absl::AnyInvocable<void(absl::Status)> done;
  };
  void End(const std::string& id, uint32_t epoch, const Video& video, uint64_t last_sequence,
           absl::AnyInvocable<void(absl::Status)> done) override;
  // Answers with `keeps`.
  void KeepState(const std::string& id, uint32_t epoch, const Video& video,
                 std::shared_ptr<const StatePieces> state,
                 absl::AnyInvocable<void(absl::Status)> done) override;
  struct Left {
    std::string id;
    uint32_t epoch = 0;
    absl::StatusOr<std::string> bytes;
  };
  std::vector<Left> left();
  absl::Status keeps;  // set before anything ends
  // Ends wait from here on for whoever takes them.
  void Hold();
  std::vector<Told> Take();

 private:
  Mutex mutex_;
  bool hold_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Told> told_ ABSL_GUARDED_BY(mutex_);
  std::vector<Left> left_ ABSL_GUARDED_BY(mutex_);
};

// A model that every worker has.
ModelSource SourceOf(const std::string& name, const std::string& path = "");

// A worker that could run anything.
WorkerInfo ReadyWorker(const std::string& name);

class Harness {
 public:
  Harness();
  ~Harness();

  // The stores, without a dispatcher.
  void OpenStores();

  // With `options` as they are then. Twice in a row it is a new process on the same folder: the old
  // one is dropped without a drain, as if it had been killed.
  void Start();
  // A worker that has loaded the card.
  void AddWorker(const std::string& name = "w0");
  void AdvanceAndPoke(absl::Duration by);
  // Later by that much, the dispatcher hears of `event` before it looks at its timers.
  void AdvanceAndHear(absl::Duration by, const std::function<void()>& event);
  // Until everything that was posted, and what it posted to the stores, is done.
  void Settle();

  NewJob Request(const std::string& prompt = "a red fox");
  // As a lone server's node does it: reserved, and adopted once the log has it.
  absl::StatusOr<JobPtr> Create(NewJob job);
  absl::StatusOr<JobPtr> Adopt(AdoptedJob job);
  // Of a request that must be taken.
  JobPtr MustCreate(NewJob job);
  absl::StatusOr<JobPtr> Find(const std::string& id, const std::string& tenant = "t");
  // By a wish in the log. As it stood before.
  absl::StatusOr<Video> Cancel(const std::string& id);
  absl::Status Delete(const std::string& id, const std::string& tenant = "t");
  size_t NumActive();

  // The worker's side of one job.
  Sent Take() { return pool.TakeAssignment(); }
  void Report(const Sent& sent, WorkerEvent event);
  void Progress(const Sent& sent, model::Stage stage, int step);
  void Media(const Sent& sent, int64_t offset, const std::string& bytes, bool fragment_end = true);
  void Finish(const Sent& sent, int64_t size);
  // Steps, one fragment, the end.
  void RunToEnd(const Sent& sent, const std::string& bytes = "frames");
  void Failed(const Sent& sent, const absl::Status& error, bool suspect = false);
  // The job lost the device while no other was on it: its worker says so, and will end.
  void LosesDevice(const Sent& sent);
  void CancelledAtWorker(const Sent& sent);
  // Of no job alone.
  void Load(const std::string& worker, const model::ModelCard& card);
  void Step(const StepSample& sample, const std::string& worker = "w0");
  // Of the card's jobs of 512 rows, each alone, often enough for a prediction.
  void LearnSteps(absl::Duration took);

  reel::testing::TempFolder folder;
  LimitedDisk disk;
  reel::testing::ManualClock clock;
  reel::testing::MemorySerializer serializer;
  reel::testing::RecordingObserver observer;
  reel::testing::ScriptedWorkerPool pool;
  JobOptions options;
  ScriptedJournal journal;
  EndJournal* end_journal = &journal;                  // of the next Start
  const VideoSerializer* shared_serializer = nullptr;  // of several servers; null: its own
  FramesComparer* comparer = nullptr;                  // likewise
  const Clock* shared_clock = nullptr;                 // likewise
  int64_t max_bytes = 0;
  std::unique_ptr<JobStore> store;
  FailingStore* failing_store = nullptr;  // the same
  std::unique_ptr<MediaStore> media;
  std::unique_ptr<Dispatcher> dispatcher;
};

// Waits until the job's snapshot is as wanted; the last one seen.
Video WaitFor(Job& job, const std::function<bool(const Video&)>& wanted);
Video WaitForEnd(Job& job);
Video WaitForState(Job& job, VideoState state);
// Waits until the job has an entry of this kind, and gives it.
template <typename Event>
std::optional<LogEntry> FindEntry(const Job& job) {
  for (auto entry = job.NextEntry(0); entry; entry = job.NextEntry(entry->sequence)) {
    if (std::holds_alternative<Event>(entry->event)) return entry;
  }
  return std::nullopt;
}
std::string ReadAll(const Job& job);

}  // namespace reel::front
