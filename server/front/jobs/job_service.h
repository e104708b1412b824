// SPDX-License-Identifier: Apache-2.0
// Interface of the service behind every door: the whole API in C++ values. Never blocks: callbacks
// run on the dispatcher's thread, once what they report is stored.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/generation_spec.h"
#include "model/model_card.h"
#include "server/front/jobs/experiment_board.h"
#include "server/front/jobs/file_upload.h"
#include "server/front/jobs/fleet_status.h"
#include "server/front/jobs/job.h"
#include "server/front/jobs/video.h"
#include "server/front/jobs/video_id.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Why a call that a job was bound to has ended.
enum class LeaveReason {
  kCallerLeft,  // cancelled or disconnected
  kDeadline,    // the call's own deadline passed
  kSlowReader,  // cut because it read nothing for too long
};

struct NewJob {
  std::string tenant;
  model::GenerationSpec spec;  // as sent, with the conditions' bytes
  std::string spec_sent;       // deterministic serialisation of the same: what request ids compare
  std::string request_id;      // UUID or empty
  Priority priority = Priority::kNormal;
  std::optional<absl::Duration> timeout;  // nullopt for the server's default
  bool bound = false;                     // cancelled when the last bound call on it leaves
  int count = 1;                          // videos, with seeds that follow each other
  bool only_quoted = false;               // conditions may lack their bytes
  std::map<std::string, std::string> labels;
  std::string trace_id;
  CallerSpan caller_span;
  // If set, the fleet's load decides about admission instead of this server's.
  struct FleetLoad {
    int queued = 0;
    int tenant_jobs = 0;
    absl::Duration backlog = {};         // of all that waits or runs, as far as bills tell
    int devices = 0;                     // that living servers have ready; 0: not known
    double tenant_device_seconds = 0;    // in the last hour, wherever they were billed
    absl::Duration tenant_backlog = {};  // of its queued and running videos
  };
  std::optional<FleetLoad> fleet_load;
  // Size of the state that a promotion starts from, once its source is known.
  int64_t state_bytes = 0;
};

struct CostEstimate {
  model::GenerationSpec spec;  // resolved
  absl::Duration queue, run_p50, run_p90;
  int64_t peak_memory_bytes = 0;
  double device_seconds = 0;
  absl::Status refusal;  // OK if it would be admitted
  int queue_position = 0;
  int64_t latent_tokens = 0;
  absl::Duration model_load;  // included in `queue`
  // Estimate per kind of device if there are several; first the one of the quote.
  struct OnDevice {
    std::string device;  // "NVIDIA H200", "2 x NVIDIA H200"
    absl::Duration run_p50, run_p90;
    bool observed = false;
  };
  std::vector<OnDevice> devices;
};

struct ListQuery {
  Reach reach;
  int page_size = 50;              // 1..200
  std::vector<VideoState> states;  // empty for all
  // The previous page's last video; empty id for the first page.
  absl::Time before_time = absl::InfiniteFuture();
  std::string before_id;
  bool oldest_first = false;
};

struct ListPage {
  std::vector<Video> videos;  // newest first unless asked otherwise
  bool more = false;
};

enum class ModelState { kLoading, kReady, kReplacing, kFailed, kUnloaded, kOnDemand };

struct ServedModel {
  model::ModelCard card;
  bool has_card = true;  // false if only its name is known
  bool is_default = false;
  bool ready = false;  // loaded somewhere
  ModelState state = ModelState::kLoading;
  std::string problem;  // of the last load, if it failed
};

// Wraps around to 0.
inline uint64_t SeedAt(uint64_t first, int place) { return first + static_cast<uint64_t>(place); }
// The video at `place`, from 0, of those that a call creates: its id and seed derive from the first
// one's. Creation times differ by a nanosecond, so that lists keep the order.
inline Video VideoAt(Video first, int place) {
  if (!first.id.empty()) first.id = OtherVideoId(first.id, place);
  first.create_time += absl::Nanoseconds(place);
  if (first.spec.seed) first.spec.seed = SeedAt(*first.spec.seed, place);
  return first;
}

template <typename T>
using Answer = absl::AnyInvocable<void(absl::StatusOr<T>)>;

using Jobs = std::vector<std::shared_ptr<Job>>;
inline std::vector<Video> SnapshotsOf(const Jobs& jobs) {
  std::vector<Video> videos;
  for (const std::shared_ptr<Job>& job : jobs) videos.push_back(job->Snapshot());
  return videos;
}

inline constexpr int kMostVideosPerCall = 16;

class JobService {
 public:
  virtual ~JobService() = default;

  // Admits and stores `count` jobs, all or none, or joins those with the same request id. A bound
  // call counts until Leave.
  virtual void CreateAll(NewJob job, Answer<Jobs> done) = 0;
  // Creates one job.
  void Create(NewJob job, Answer<std::shared_ptr<Job>> done) {
    CreateAll(std::move(job), [done = std::move(done)](absl::StatusOr<Jobs> made) mutable {
      if (!made.ok()) return done(made.status());
      done(std::move(made->front()));
    });
  }
  // Makes all checks of CreateAll. The video has the resolved spec of the first one and no id.
  virtual void Validate(NewJob job, Answer<Video> done) = 0;
  // Fails only for an invalid spec.
  virtual void Estimate(NewJob job, Answer<CostEstimate> done) = 0;
  // A bound call has ended.
  virtual void Leave(const std::string& id, LeaveReason reason) = 0;

  // A video that the caller reaches, live or stored; NOT_FOUND is the same for an unknown one and
  // one that is out of its reach.
  virtual void Find(const Reach& reach, const std::string& id,
                    Answer<std::shared_ptr<Job>> done) = 0;
  virtual void List(ListQuery query, Answer<ListPage> done) = 0;
  // `done` gets the video as it was when the request was noted.
  virtual void Cancel(const Reach& reach, const std::string& id, Answer<Video> done) = 0;
  virtual void Delete(const Reach& reach, const std::string& id,
                      absl::AnyInvocable<void(absl::Status)> done) = 0;

  // Begins the upload of a file of `size` bytes, which later requests can name. A refusal comes
  // before any byte.
  virtual void BeginFile(const std::string& tenant, int64_t size,
                         Answer<std::unique_ptr<FileUpload>> done) = 0;

  // Loads, or reloads, a configured model. Answers with its state before anything is loaded.
  virtual void LoadModel(const std::string& model, Answer<ServedModel> done) = 0;
  // Ends videos that wait for the model.
  virtual void UnloadModel(const std::string& model, Answer<ServedModel> done) = 0;

  // Restarts a worker that is out of service. Answers with its previous state.
  virtual void RestoreWorker(const std::string& worker, Answer<WorkerInfo> done) = 0;

  // First part of this server's video ids.
  virtual const std::string& ReplicaName() const = 0;

  // Thread-safe snapshots.
  virtual std::vector<ServedModel> Models() const = 0;  // default first
  virtual std::vector<WorkerInfo> Workers() const = 0;
  // Jobs that a worker holds now.
  virtual int Running(const std::string& worker) const = 0;
  virtual std::vector<std::string> KernelProfiles() const = 0;
  // Those profiles that trade accuracy for speed.
  virtual std::vector<std::string> LossyKernelProfiles() const = 0;
  // Results of the configured experiments, in their order.
  virtual std::vector<ExperimentReport> Experiments() const = 0;
  // Status of the fleet; nullopt for a lone server.
  virtual std::optional<FleetStatus> Fleet() const { return std::nullopt; }
  // Checks what the fleet needs, which takes seconds; a lone server checks nothing.
  virtual void CheckFleet(Answer<std::vector<FleetCheck>> done) { done(std::vector<FleetCheck>()); }
  virtual bool draining() const = 0;
  // Whether a worker is ready and nothing is draining, as readiness and health report.
  virtual bool admitting() const = 0;
};

}  // namespace reel::front
