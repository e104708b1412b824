// SPDX-License-Identifier: Apache-2.0
#include "server/worker/link/event_messages.h"

#include <utility>

#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "server/convert/worker_convert.h"

namespace reel::worker {
namespace {

using worker::v1::AttachRequest;

// Every message about a job names it and its attempt in the same way.
template <typename Message>
Message& Of(const JobRef& job, Message* message) {
  message->set_job(job.job);
  message->set_attempt(job.attempt);
  return *message;
}

}  // namespace

AttachRequest KernelsMessage(const std::string& worker,
                             const std::vector<kernels::OpListing>& kernels,
                             const std::vector<kernels::PluginListing>& plugins) {
  AttachRequest message;
  worker::v1::KernelList& list = *message.mutable_kernels();
  for (const kernels::OpListing& op : kernels) *list.add_kernels() = ListingToProto(op, worker);
  for (const kernels::PluginListing& plugin : plugins) {
    *list.add_plugins() = PluginToProto(plugin, worker);
  }
  return message;
}

AttachRequest ModelFailedMessage(const std::string& model, const absl::Status& error) {
  AttachRequest message;
  message.mutable_model_state()->set_model(model);
  *message.mutable_model_state()->mutable_error() = ErrorToProto(error, false);
  return message;
}

AttachRequest ProgressMessage(const JobRef& job, model::Stage stage, int step, int num_steps) {
  AttachRequest message;
  worker::v1::JobProgress& progress = Of(job, message.mutable_progress());
  progress.set_stage(StageToProto(stage));
  progress.set_step(step);
  progress.set_num_steps(num_steps);
  return message;
}

AttachRequest PreviewMessage(const JobRef& job, PreviewImage preview) {
  AttachRequest message;
  reel::v1::Preview& image = *Of(job, message.mutable_preview()).mutable_preview();
  image.set_step(preview.step);
  image.set_image(std::move(preview.jpeg));
  image.set_width(preview.width);
  image.set_height(preview.height);
  return message;
}

std::vector<AttachRequest> MediaMessages(const JobRef& job, int64_t offset, std::string bytes,
                                         bool fragment_end) {
  std::vector<AttachRequest> messages;
  size_t sent = 0;
  do {
    const bool is_last = bytes.size() - sent <= kMediaPieceBytes;
    worker::v1::JobMedia& media = Of(job, messages.emplace_back().mutable_media());
    media.set_offset(offset + static_cast<int64_t>(sent));
    // The usual fragment is one piece: moved, not copied.
    media.set_data(is_last && sent == 0 ? std::move(bytes) : bytes.substr(sent, kMediaPieceBytes));
    media.set_fragment_end(is_last && fragment_end);
    if (is_last) break;
    sent += kMediaPieceBytes;
  } while (true);
  return messages;
}

AttachRequest SteppedMessage(const StepReport& report) {
  AttachRequest message;
  worker::v1::StepStats& stats = *message.mutable_step_stats();
  stats.set_memory_used_bytes(report.memory_used_bytes);
  stats.set_memory_peak_bytes(report.memory_peak_bytes);
  worker::v1::Step& step = *stats.add_steps();
  step.mutable_jobs()->Add(report.jobs.begin(), report.jobs.end());
  step.set_model(report.model);
  step.set_plan(report.plan);
  step.set_rows(report.rows);
  step.mutable_job_rows()->Add(report.job_rows.begin(), report.job_rows.end());
  SetProtoDuration(*step.mutable_duration(), report.duration);
  step.set_stage(StageToProto(report.stage));
  for (const kernels::VariantTime& time : report.kernels) {
    *step.add_kernels() = KernelStatToProto(time);
  }
  return message;
}

AttachRequest ParkedMessage(const JobRef& job, int64_t device_bytes) {
  AttachRequest message;
  Of(job, message.mutable_parked()).set_device_bytes(device_bytes);
  return message;
}

AttachRequest FinishedMessage(const JobRef& job, const JobResult& result) {
  AttachRequest message;
  worker::v1::JobFinished& finished = Of(job, message.mutable_finished());
  *finished.mutable_stats() = StatsToProto(result.stats);
  finished.set_size_bytes(result.media.size_bytes);
  *finished.mutable_media() = MediaToProto(result.media);
  for (const model::Notice& notice : result.notices) {
    *finished.add_notices() = NoticeToProto(notice);
  }
  return message;
}

AttachRequest FailedMessage(const JobRef& job, const absl::Status& error, bool suspect) {
  AttachRequest message;
  *Of(job, message.mutable_failed()).mutable_error() = ErrorToProto(error, suspect);
  return message;
}

}  // namespace reel::worker
