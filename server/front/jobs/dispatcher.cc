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

void Dispatcher::Poke() {
  Post([] {});
}

void Dispatcher::Flush() {
  WaitForAnswer<bool>([&](auto done) { Post([done] { done(true); }); });
}

void Dispatcher::AbandonUnsent(absl::AnyInvocable<void(std::vector<std::string>)> done) {
  Post([this, done = std::move(done)]() mutable { done(scheduler_.AbandonUnsent()); });
}

void Dispatcher::CheckFile(const std::string& tenant, int64_t bytes,
                           absl::AnyInvocable<void(absl::Status)> done) {
  Post([this, tenant, bytes, done = std::move(done)]() mutable {
    done(scheduler_.CheckFile(tenant, bytes));
  });
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

void Dispatcher::Report(WorkerReport report) {
  if (auto* media = std::get_if<JobMedia>(&report.event)) {
    return Append(report.ref, std::move(*media));
  }
  Call(&Scheduler::Report, std::move(report));
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
