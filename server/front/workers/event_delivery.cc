// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/event_delivery.h"

#include <utility>

#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "server/convert/worker_convert.h"

namespace reel::front {
namespace {

void DeliverSteps(const std::string& worker, worker::v1::StepStats& stats, WorkerEvents& events) {
  for (worker::v1::Step& step : *stats.mutable_steps()) {
    StepSample sample;
    sample.jobs.assign(step.jobs().begin(), step.jobs().end());
    sample.model = step.model();
    sample.plan = step.plan();
    sample.rows = step.rows();
    sample.job_rows.assign(step.job_rows().begin(), step.job_rows().end());
    sample.duration = FromProtoDuration(step.duration());
    sample.stage = StageFromProto(step.stage());
    for (const v1::KernelStat& stat : step.kernels()) {
      sample.kernels.push_back(KernelStatFromProto(stat));
    }
    events.Stepped(worker, std::move(sample));
  }
}

void DeliverFinished(worker::v1::JobFinished& finished, WorkerEvents& events) {
  model::MediaInfo media = MediaFromProto(finished.media());
  media.size_bytes = finished.size_bytes();
  std::vector<model::Notice> notices;
  for (const v1::Notice& notice : finished.notices()) notices.push_back(NoticeFromProto(notice));
  events.JobFinished(finished.job(), finished.attempt(), StatsFromProto(finished.stats()),
                     std::move(media), std::move(notices));
}

}  // namespace

void DeliverJobEvent(const std::string& worker, worker::v1::AttachRequest message,
                     WorkerEvents& events) {
  using Kind = worker::v1::AttachRequest::MessageCase;
  switch (message.message_case()) {
    case Kind::kProgress: {
      const worker::v1::JobProgress& progress = message.progress();
      return events.JobProgress(progress.job(), progress.attempt(),
                                StageFromProto(progress.stage()), progress.step(),
                                progress.num_steps());
    }
    case Kind::kPreview: {
      v1::Preview& preview = *message.mutable_preview()->mutable_preview();
      return events.JobPreview(message.preview().job(), message.preview().attempt(), preview.step(),
                               std::move(*preview.mutable_image()), preview.width(),
                               preview.height());
    }
    case Kind::kMedia: {
      worker::v1::JobMedia& media = *message.mutable_media();
      return events.JobMedia(media.job(), media.attempt(), media.offset(),
                             std::move(*media.mutable_data()), media.fragment_end());
    }
    case Kind::kStepStats:
      return DeliverSteps(worker, *message.mutable_step_stats(), events);
    case Kind::kFinished:
      return DeliverFinished(*message.mutable_finished(), events);
    case Kind::kFailed:
      return events.JobFailed(message.failed().job(), message.failed().attempt(),
                              ErrorFromProto(message.failed().error()),
                              message.failed().error().job_is_suspect());
    default:
      return;
  }
}

}  // namespace reel::front
