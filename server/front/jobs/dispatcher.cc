// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/dispatcher.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "server/front/jobs/media_type.h"

namespace reel::front {

Dispatcher::Dispatcher(const JobOptions& options, const DispatcherPorts& ports, EndJournal& journal,
                       EndListener* listener, FramesComparer* comparer)
    : inbox_(std::make_shared<Inbox<Task>>()),
      media_(ports.media),
      kernel_profiles_(kernels::BuiltInProfiles()),
      scheduler_(options, ports, journal, listener, comparer,
                 [inbox = inbox_](Task task) { inbox->Put(std::move(task)); }) {
  std::copy_if(kernel_profiles_.begin(), kernel_profiles_.end(),
               std::back_inserter(lossy_kernel_profiles_), kernels::IsLossyProfile);
  for (const KernelProfileOptions& profile : options.kernel_profiles) {
    kernel_profiles_.push_back(profile.name);
    if (kernels::IsLossyProfile(profile.base)) lossy_kernel_profiles_.push_back(profile.name);
  }
}

Dispatcher::~Dispatcher() {
  inbox_->Close();
  if (thread_.joinable()) thread_.join();
}

absl::Status Dispatcher::Start() {
  REEL_RETURN_IF_ERROR(scheduler_.Recover());
  thread_ = std::thread([this] { Loop(); });
  return absl::OkStatus();
}

void Dispatcher::Loop() {
  std::vector<Task> tasks;
  absl::Duration until_due;
  while (inbox_->TakeAll(tasks, until_due)) {
    for (Task& task : tasks) {
      task();
      scheduler_.Settle();
    }
    tasks.clear();  // what they held goes now, not at the next one
    until_due = scheduler_.RunTimers();
  }
  scheduler_.SaveCosts();
}

void Dispatcher::Drain(absl::Duration propagation, absl::Duration limit,
                       absl::AnyInvocable<void()> done) {
  Post([this, propagation, limit, done = std::move(done)]() mutable {
    scheduler_.StartDrain(propagation, limit, std::move(done));
  });
}

void Dispatcher::Poke() {
  Post([] {});
}

void Dispatcher::Flush() {
  Mutex mutex;
  CondVar reached;
  bool done = false;
  Post([&] {
    MutexLock lock(mutex);
    done = true;
    reached.NotifyAll();
  });
  MutexLock lock(mutex);
  while (!done) reached.Wait(mutex);
}

void Dispatcher::Reserve(NewJob job, Answer<Video> done) {
  Post([this, job = std::move(job), done = std::move(done)]() mutable {
    scheduler_.Reserve(std::move(job), std::move(done));
  });
}

void Dispatcher::DropReservation(const std::string& id) {
  Post([this, id] { scheduler_.DropReservation(id); });
}

void Dispatcher::Adopt(AdoptedJob adopted, Answer<std::shared_ptr<Job>> done) {
  Post([this, adopted = std::move(adopted), done = std::move(done)]() mutable {
    scheduler_.Adopt(std::move(adopted), std::move(done));
  });
}

void Dispatcher::Abandon(const std::string& id) {
  Post([this, id] { scheduler_.Abandon(id); });
}

void Dispatcher::EndAdopted(const std::string& id, const absl::Status& why) {
  Post([this, id, why] { scheduler_.EndAdopted(id, why); });
}

void Dispatcher::AbandonUnsent(absl::AnyInvocable<void(std::vector<std::string>)> done) {
  Post([this, done = std::move(done)]() mutable { done(scheduler_.AbandonUnsent()); });
}

void Dispatcher::LearnCard(std::string card) {
  Post([this, card = std::move(card)] { scheduler_.LearnCard(card); });
}

void Dispatcher::SetKernelsElsewhere(std::map<std::string, std::vector<std::string>> kernels) {
  Post([this, kernels = std::move(kernels)] { scheduler_.SetKernelsElsewhere(kernels); });
}

void Dispatcher::CheckFile(const std::string& tenant, int64_t bytes,
                           absl::AnyInvocable<void(absl::Status)> done) {
  Post([this, tenant, bytes, done = std::move(done)]() mutable {
    done(scheduler_.CheckFile(tenant, bytes));
  });
}

void Dispatcher::SetKeptStates(KeptStates states) {
  Post([this, states = std::move(states)]() mutable {
    scheduler_.SetKeptStates(std::move(states));
  });
}

void Dispatcher::Validate(NewJob job, Answer<Video> done) {
  Post([this, job = std::move(job), done = std::move(done)]() mutable {
    scheduler_.Validate(std::move(job), std::move(done));
  });
}

void Dispatcher::Estimate(NewJob job, Answer<CostEstimate> done) {
  Post([this, job = std::move(job), done = std::move(done)]() mutable {
    scheduler_.Estimate(std::move(job), std::move(done));
  });
}

void Dispatcher::Find(const Reach& reach, const std::string& id,
                      Answer<std::shared_ptr<Job>> done) {
  Post([this, reach, id, done = std::move(done)]() mutable {
    scheduler_.Find(reach, id, std::move(done));
  });
}

void Dispatcher::List(ListQuery query, Answer<ListPage> done) {
  Post([this, query = std::move(query), done = std::move(done)]() mutable {
    scheduler_.List(std::move(query), std::move(done));
  });
}

void Dispatcher::Delete(const Reach& reach, const std::string& id,
                        absl::AnyInvocable<void(absl::Status)> done) {
  Post([this, reach, id, done = std::move(done)]() mutable {
    scheduler_.Delete(reach, id, std::move(done));
  });
}

void Dispatcher::SetAdapters(std::vector<RegisteredAdapter> adapters) {
  Post([this, adapters = std::move(adapters)]() mutable {
    scheduler_.SetAdapters(std::move(adapters));
  });
}

void Dispatcher::SetModels(std::vector<ModelSource> models) {
  Post([this, models = std::move(models)]() mutable { scheduler_.SetModels(std::move(models)); });
}

void Dispatcher::LoadModel(const std::string& model, Answer<ServedModel> done) {
  Post([this, model, done = std::move(done)]() mutable { done(scheduler_.LoadModel(model)); });
}

void Dispatcher::UnloadModel(const std::string& model, Answer<ServedModel> done) {
  Post([this, model, done = std::move(done)]() mutable { done(scheduler_.UnloadModel(model)); });
}

void Dispatcher::RestoreWorker(const std::string& worker, Answer<WorkerInfo> done) {
  Post(
      [this, worker, done = std::move(done)]() mutable { done(scheduler_.RestoreWorker(worker)); });
}

std::vector<ServedModel> Dispatcher::Models() const { return scheduler_.roster().Models(); }

std::vector<WorkerInfo> Dispatcher::Workers() const { return scheduler_.roster().Workers(); }

int Dispatcher::Running(const std::string& worker) const {
  return scheduler_.roster().Running(worker);
}

std::vector<std::string> Dispatcher::KernelProfiles() const { return kernel_profiles_; }

const std::string& Dispatcher::ReplicaName() const { return scheduler_.replica().name(); }

std::vector<std::string> Dispatcher::LossyKernelProfiles() const { return lossy_kernel_profiles_; }

std::vector<ExperimentReport> Dispatcher::Experiments() const { return scheduler_.experiments(); }

bool Dispatcher::draining() const { return scheduler_.draining(); }

bool Dispatcher::admitting() const {
  return !scheduler_.draining() && scheduler_.roster().AnyReady();
}

void Dispatcher::WorkerChanged(const WorkerInfo& worker) {
  Post([this, worker] { scheduler_.WorkerChanged(worker); });
}

void Dispatcher::WorkerLost(const std::string& worker, LossCause cause) {
  Post([this, worker, cause] { scheduler_.WorkerLost(worker, cause); });
}

void Dispatcher::Report(WorkerReport report) {
  if (auto* media = std::get_if<JobMedia>(&report.event)) {
    return Append(report.ref, std::move(*media));
  }
  Post([this, report = std::move(report)]() mutable { scheduler_.Report(std::move(report)); });
}

void Dispatcher::Append(const JobRef& ref, JobMedia media) {
  MediaGrowth growth;
  growth.fragment_end = media.fragment_end;
  // Whoever plays the file while it grows must know its codec before its first byte.
  if (media.offset == 0) growth.content_type = MediaTypeOfBytes(media.bytes);
  media_.Append(ref.job, ref.attempt, media.offset, std::move(media.bytes),
                [this, inbox = inbox_, ref, growth](absl::StatusOr<int64_t> size) mutable {
                  growth.size = std::move(size);
                  inbox->Put([this, ref, growth] { scheduler_.MediaAppended(ref, growth); });
                });
}

void Dispatcher::NumActive(absl::AnyInvocable<void(size_t)> done) {
  Post([this, done = std::move(done)]() mutable { done(scheduler_.num_active()); });
}

}  // namespace reel::front
