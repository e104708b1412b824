// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_service.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "server/front/node/fleet_errors.h"
#include "server/front/node/object_keys.h"
#include "server/front/node/status_report.h"

namespace reel::front {
namespace {

// Threads for blocking calls to the fleet's store.
constexpr int kUploads = 2;
constexpr int kReads = 4;
// Threads that write uploads to this server's disk.
constexpr int kSpools = 2;
constexpr size_t kMostWaiting = 256;
constexpr size_t kMostChecks = 4;  // waiting for the one in progress
constexpr size_t kMostWaitingLooks = 4;
constexpr absl::Duration kLongestRest = absl::Milliseconds(100);

// Wakes the node's thread when a job has news, since the node may have room then. Combines wakes
// that come together.
class NodeWaker final : public JobListener {
 public:
  explicit NodeWaker(std::shared_ptr<Inbox<OwnThread::Task>> inbox) : inbox_(std::move(inbox)) {}
  void Wake() override {
    if (woken_.exchange(true)) return;
    inbox_->Put([this] { woken_ = false; });
  }

 private:
  const std::shared_ptr<Inbox<OwnThread::Task>> inbox_;
  std::atomic<bool> woken_ = false;
};

}  // namespace

FleetService::FleetService(NodeOptions options, const VideoSerializer& serializer,
                           const Clock& clock, SharedStore store, DiskProbe probe)
    : options_(std::move(options)),
      serializer_(serializer),
      clock_(clock, options_.max_clock_skew),
      store_(std::move(store)),
      probe_(options_.gateway ? DiskProbe() : std::move(probe)),  // a gateway keeps no results
      inbox_(std::make_shared<Inbox<Task>>()),
      own_thread_([inbox = inbox_](Task task) { inbox->Put(std::move(task)); }),
      waker_(std::make_shared<NodeWaker>(inbox_)),
      shared_([inbox = inbox_] { inbox->Put([] {}); }),
      logged_(serializer_, options_.seal),
      view_({options_.view_file, absl::StrJoin(options_.seal.Ids(), " "), &logged_, options_.alone},
            &shared_.changes) {}

FleetService::~FleetService() { Stop(); }

void FleetService::Start(std::unique_ptr<LogPort> port, Dispatcher& jobs, Neighbours neighbours) {
  if (!neighbours.address.empty()) options_.address = neighbours.address;
  options_.hears_others = neighbours.peers.port != nullptr;
  jobs_ = &jobs;
  port_ = std::move(port);
  writes_ =
      std::make_unique<WriteQueue>(*port_, absl::StrCat(options_.node, ".", options_.process));
  if (store_.objects != nullptr) {
    pools_.uploads = std::make_unique<TaskPool>(kUploads, kMostWaiting);
    pools_.reads = std::make_unique<TaskPool>(kReads, kMostWaiting);
    pools_.fetches = std::make_unique<MediaFetches>(*store_.objects, *pools_.reads, shared_.store);
  }
  pools_.checks = std::make_unique<TaskPool>(1, kMostChecks);
  pools_.looks = std::make_unique<TaskPool>(1, kMostWaitingLooks);
  pools_.probes = std::make_unique<TaskPool>(1, kMostWaiting);
  pools_.spool = std::make_unique<TaskPool>(kSpools, kMostWaiting);
  const NodePorts ports = {jobs, *port_, *writes_, view_, clock_, own_thread_};
  node_ = std::make_unique<FleetNode>(
      options_, ports,
      NodeOutside{serializer_, store_, probe_, std::move(neighbours.peers), waker_}, shared_,
      pools_);
  thread_ = std::thread([this] { Loop(); });
}

void FleetService::Stop() {
  inbox_->Close();
  if (thread_.joinable()) thread_.join();
  if (store_.objects != nullptr) store_.objects->Stop();
  pools_.Stop();
  // Its last callbacks go to the inbox, which is closed.
  writes_.reset();
  port_.reset();
  node_.reset();
}

void FleetService::Loop() {
  std::vector<Task> tasks;
  node_->Settle();
  while (inbox_->TakeAll(tasks, kLongestRest)) {
    for (Task& task : tasks) task();
    tasks.clear();
    node_->Settle();
  }
}

template <typename... Params, typename... Args>
void FleetService::Call(void (FleetNode::*method)(Params...), Args... args) {
  inbox_->Put([this, method, ... args = std::move(args)]() mutable {
    ((*node_).*method)(std::move(args)...);
  });
}

void FleetService::Poke() {
  CatchUp();
  CatchUp();  // also runs tasks posted by tasks
  writes_->WaitForTries();
  CatchUp();  // runs the writes' callbacks
}

void FleetService::CatchUp() {
  WaitForAnswer<bool>([&](auto done) { inbox_->Put([done] { done(true); }); });
}

bool FleetService::admitting() const {
  if (options_.alone) return jobs_->admitting() && HasLog();
  if (!shared_.fitness.fit()) return false;
  if (!options_.gateway) return jobs_->admitting() && HasLog() && !shared_.store.full();
  if (jobs_->draining() || !HasLog()) return false;
  const std::vector<ServedModel> models = Models();
  return std::any_of(models.begin(), models.end(), [](const auto& model) { return model.ready; });
}

std::vector<ServedModel> FleetService::Models() const {
  std::vector<ServedModel> models = jobs_->Models();
  if (!options_.gateway) return models;
  for (ServedModel& model : models) {
    model.ready = shared_.ready_models.Has(model.card.name);
    model.state = model.ready ? ModelState::kReady : ModelState::kLoading;
  }
  return models;
}

std::optional<FleetStatus> FleetService::Fleet() const {
  if (options_.alone) return std::nullopt;
  FleetStatus status = shared_.status.Get();
  status.fleet = options_.fleet;
  status.node = options_.node;
  status.gateway = options_.gateway;
  return status;
}

void FleetService::CheckFleet(Answer<std::vector<FleetCheck>> done) {
  if (options_.alone) return done(std::vector<FleetCheck>());
  // Shared, because `done` must also be called if the pool takes no task.
  auto shared = std::make_shared<Answer<std::vector<FleetCheck>>>(std::move(done));
  if (pools_.checks->Put([this, shared] { (*shared)(Examine()); })) return;
  (*shared)(FleetUnavailable("Too many checks of the fleet are under way"));
}

std::vector<FleetCheck> FleetService::Examine() {
  std::vector<FleetCheck> checks;
  for (LogCheck& check : port_->Check(!options_.gateway)) {
    checks.push_back({check.name, check.ok, check.detail, check.hint});
  }
  for (FleetCheck& check : CheckNodes(*Fleet())) checks.push_back(std::move(check));
  if (store_.objects == nullptr) return checks;
  // Used by this check only.
  const std::string key = absl::StrCat(MediaPrefix(options_.fleet), "-/", "doctor-",
                                       absl::Hex(options_.process), "-", ++num_checks_);
  for (FleetCheck& check : CheckStore(*store_.objects, key)) checks.push_back(std::move(check));
  return checks;
}

std::string FleetService::Problem() const {
  std::string log = HasLog() ? "" : "fleet: the log cannot be reached, so nothing is admitted\n";
  const std::string unfit = shared_.fitness.Why();
  if (!unfit.empty()) absl::StrAppend(&log, "fleet: nothing is claimed here: ", unfit, "\n");
  if (port_->Health().closed) {
    return absl::StrCat(log,
                        "fleet: the NATS servers refused this server's key or password while it "
                        "ran: correct it there or in fleet.nats, then restart this server\n",
                        shared_.store.Problem());
  }
  return log + shared_.store.Problem();
}

void FleetService::Drain(absl::Duration propagation, absl::Duration limit,
                         absl::AnyInvocable<void()> done) {
  Call(&FleetNode::Drain, propagation, limit, std::move(done));
}

void FleetService::End(const std::string& id, uint32_t epoch, const Video& video,
                       uint64_t last_sequence, absl::AnyInvocable<void(absl::Status)> done) {
  Call(&FleetNode::End, id, epoch, video, last_sequence, std::move(done));
}

void FleetService::KeepState(const std::string& id, uint32_t epoch, const Video& video,
                             std::shared_ptr<const StatePieces> state,
                             absl::AnyInvocable<void(absl::Status)> done) {
  Call(&FleetNode::KeepState, id, epoch, video, std::move(state), std::move(done));
}

absl::Status FleetService::MayCome(const absl::Status& status) const {
  const bool is_unknown = ReasonOf(status) == Reason::kModelNotFound;
  if (!is_unknown || !options_.gateway || shared_.ready_models.complete()) return status;
  return FleetUnavailable("The servers of the fleet have not told all their models yet");
}

void FleetService::WithFiles(NewJob job, Files::Described done) {
  const auto& conditions = job.spec.conditions;
  const bool any = std::any_of(conditions.begin(), conditions.end(),
                               [](const auto& condition) { return !condition.file.empty(); });
  if (!any) return done(std::move(job), absl::OkStatus());
  inbox_->Put([this, job = std::move(job), done = std::move(done)]() mutable {
    node_->files().Describe(std::move(job), std::move(done));
  });
}

template <typename T>
void FleetService::WithFiles(NewJob job, Answer<T> done,
                             void (FleetService::*then)(NewJob, Answer<T>)) {
  WithFiles(std::move(job),
            [this, then, done = std::move(done)](NewJob described, absl::Status files) mutable {
              if (!files.ok()) return done(std::move(files));
              (this->*then)(std::move(described), std::move(done));
            });
}

void FleetService::BeginFile(const std::string& tenant, int64_t size,
                             Answer<std::unique_ptr<FileUpload>> done) {
  inbox_->Put([this, tenant, size, done = std::move(done)]() mutable {
    node_->files().Begin(tenant, size, std::move(done));
  });
}

void FleetService::CreateAll(NewJob job, Answer<Jobs> done) {
  WithFiles(std::move(job),
            [this, done = std::move(done)](NewJob described, absl::Status files) mutable {
              CreateKnown(std::move(described), std::move(files), std::move(done));
            });
}
void FleetService::Validate(NewJob job, Answer<Video> done) {
  WithFiles(std::move(job), std::move(done), &FleetService::ValidateKnown);
}
void FleetService::Estimate(NewJob job, Answer<CostEstimate> done) {
  WithFiles(std::move(job), std::move(done), &FleetService::EstimateKnown);
}

void FleetService::CreateKnown(NewJob job, absl::Status files, Answer<Jobs> done) {
  if (!files.ok() && job.request_id.empty()) return done(std::move(files));
  auto call = std::make_shared<Submission::Call>();
  call->spec_hash = Sha256Hex(job.spec_sent);
  // A different count makes a different request.
  if (job.count > 1) call->spec_hash = Sha256Hex(absl::StrCat(call->spec_hash, "*", job.count));
  job.spec_sent.clear();
  call->job = std::move(job);
  call->files = std::move(files);
  if (call->job.request_id.empty()) {
    call->done = OrMayCome(std::move(done));
    return Begin(call);
  }
  const RequestTurns::Key key{call->job.tenant, call->job.request_id};
  call->done = [this, key, done = OrMayCome(std::move(done))](auto made) mutable {
    done(std::move(made));
    turns_.Leave(key);
  };
  if (turns_.Enter(key, [this, call] { Submit(call); })) Begin(call);
}

// A lone server asks its dispatcher first, so that a refusal waits neither for the node's thread
// nor for a disk.
void FleetService::Begin(const std::shared_ptr<Submission::Call>& call) {
  const NewJob& job = call->job;
  const bool may_be_known =
      !job.request_id.empty() && view_.FindBinding(job.tenant, job.request_id).has_value();
  const bool lacks_store = store_.objects == nullptr && !job.spec.conditions.empty();
  const bool goes_on = job.spec.source.has_value();  // its source completes it
  const bool is_of_node = may_be_known || lacks_store || goes_on || !call->files.ok();
  if (!options_.alone || !HasLog() || is_of_node) return Submit(call);
  jobs_->Reserve(job, [this, call](absl::StatusOr<Video> reserved) {
    if (!reserved.ok()) return call->done(reserved.status());
    call->reserved = *std::move(reserved);
    Submit(call);
  });
}

void FleetService::Submit(const std::shared_ptr<Submission::Call>& call) {
  inbox_->Put([this, call] { node_->Create(std::move(*call)); });
}

void FleetService::ValidateKnown(NewJob job, Answer<Video> done) {
  if (options_.alone && HasLog() && !job.spec.source) {
    return jobs_->Validate(std::move(job), std::move(done));
  }
  Call(&FleetNode::Validate, std::move(job), OrMayCome(std::move(done)));
}

void FleetService::EstimateKnown(NewJob job, Answer<CostEstimate> done) {
  if (!job.spec.source) return jobs_->Estimate(std::move(job), OrMayCome(std::move(done)));
  Call(&FleetNode::Estimate, std::move(job), OrMayCome(std::move(done)));
}

void FleetService::Leave(const std::string& id, LeaveReason reason) {
  Call(&FleetNode::Leave, id, reason);
}

void FleetService::Find(const Reach& reach, const std::string& id,
                        Answer<std::shared_ptr<Job>> done) {
  Call(&FleetNode::Find, reach, id, std::move(done));
}

void FleetService::List(ListQuery query, Answer<ListPage> done) {
  Call(&FleetNode::List, std::move(query), std::move(done));
}

void FleetService::Cancel(const Reach& reach, const std::string& id, Answer<Video> done) {
  Call(&FleetNode::Cancel, reach, id, std::move(done));
}

void FleetService::Delete(const Reach& reach, const std::string& id,
                          absl::AnyInvocable<void(absl::Status)> done) {
  Call(&FleetNode::Delete, reach, id, std::move(done));
}

}  // namespace reel::front
