// SPDX-License-Identifier: Apache-2.0
#include "client/video_stream.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/connection.h"
#include "client/event_filter.h"
#include "client/server_call.h"

namespace reel::client {
namespace {

using EventCall = ServerCall<v1::VideoEvent>;

// The job has its own time limit; the call's deadline covers a server that does not keep it.
constexpr absl::Duration kVerdictGrace = absl::Seconds(15);

std::optional<absl::Duration> CallTimeout(const v1::GenerateVideoRequest& request) {
  if (!request.has_timeout() || request.detached()) return std::nullopt;
  return absl::Seconds(request.timeout().seconds()) + absl::Nanoseconds(request.timeout().nanos()) +
         kVerdictGrace;
}

template <class Response>
void TakeEvent(Response& response, v1::VideoEvent* event) {
  *event = std::move(*response.mutable_event());
}

}  // namespace

class VideoStream::Impl {
 public:
  Impl(std::shared_ptr<const Connection> connection, Start start)
      : connection_(std::move(connection)),
        start_(std::move(start)),
        filter_(FilterOf(start_)),
        retrier_(connection_->options().retry, stop_, RandomFraction) {}

  absl::StatusOr<std::optional<v1::VideoEvent>> Next() {
    if (!end_.ok()) return end_;
    while (pending_.empty() && !filter_.finished()) {
      if (absl::Status status = Advance(); !status.ok()) {
        call_.reset();
        return end_ = stop_.stopped() ? absl::CancelledError("The stream was stopped.") : status;
      }
    }
    if (pending_.empty()) return std::nullopt;
    std::optional<v1::VideoEvent> event = std::move(pending_.front());
    pending_.pop_front();
    return event;
  }

  void Stop() { stop_.Stop(); }

 private:
  static EventFilter FilterOf(const Start& start) {
    if (const auto* generate = std::get_if<v1::GenerateVideoRequest>(&start)) {
      return EventFilter(generate->without_media());
    }
    const auto& watch = std::get<v1::WatchVideoRequest>(start);
    EventFilter filter(watch.without_media());
    filter.StartAt(watch.after_sequence(), watch.media_offset(), watch.attempt());
    return filter;
  }

  // Reads one message, or starts the next try.
  absl::Status Advance() {
    if (!call_) {
      absl::Status opened = Open();
      if (!opened.ok()) return opened;
    }
    v1::VideoEvent event;
    if (!call_->Read(&event)) return TryAgain(call_->Finish());
    bool further = false;
    absl::Status status = filter_.Take(std::move(event), pending_, &further);
    if (further) retrier_.Progress();
    if (status.ok()) {
      if (filter_.finished()) call_.reset();
      return status;
    }
    return TryAgain({std::move(status), std::nullopt});
  }

  absl::Status TryAgain(Failure failure) {
    call_.reset();
    if (failure.status.ok()) {
      failure.status = absl::UnavailableError("The stream ended before the video did.");
    }
    // Without a limit each broken connection would cost another render.
    const int most_jobs = std::max(2, connection_->options().retry.max_attempts);
    if (filter_.jobs() >= most_jobs && IsBroken(failure.status)) {
      return absl::UnavailableError(absl::StrCat(
          "The connection keeps breaking, and the job that depends on it is lost each time; a "
          "detached one keeps running without its caller. Jobs: ",
          filter_.jobs(), ", the last one ", filter_.name(), "."));
    }
    const absl::Status again = filter_.name().empty() ? retrier_.AfterFailedCall(failure)
                                                      : retrier_.AfterBrokenStream(failure);
    if (again.ok()) connection_->Reconnect();
    return again;
  }

  absl::Status Open() {
    auto context = std::make_unique<grpc::ClientContext>();
    const auto* generate = std::get_if<v1::GenerateVideoRequest>(&start_);
    // A bound job lives as long as a Generate call does, so it is resumed with another Generate by
    // its request id; after a Watch it would be cancelled.
    const bool join = generate != nullptr && (filter_.name().empty() || !generate->detached());
    const auto timeout = join ? CallTimeout(*generate) : std::nullopt;
    if (absl::Status status = connection_->Prepare(*context, timeout); !status.ok()) return status;
    if (join) {
      OpenCall<v1::GenerateVideoResponse>(std::move(context), *generate,
                                          &v1::VideoService::Stub::GenerateVideo);
    } else {
      OpenCall<v1::WatchVideoResponse>(std::move(context), WatchRequest(),
                                       &v1::VideoService::Stub::WatchVideo);
    }
    return absl::OkStatus();
  }

  template <class Response, class Request, class Method>
  void OpenCall(std::unique_ptr<grpc::ClientContext> context, const Request& request,
                Method method) {
    auto reader = (connection_->videos().*method)(context.get(), request);
    call_ = std::make_unique<TypedServerCall<v1::VideoEvent, Response>>(
        std::move(context), stop_, std::move(reader), TakeEvent<Response>);
  }

  v1::WatchVideoRequest WatchRequest() const {
    v1::WatchVideoRequest request;
    if (const auto* watch = std::get_if<v1::WatchVideoRequest>(&start_)) request = *watch;
    if (!filter_.name().empty()) request.set_name(filter_.name());
    request.set_after_sequence(filter_.sequence());
    request.set_media_offset(filter_.media_offset());
    request.set_attempt(filter_.attempt());
    if (const auto* generate = std::get_if<v1::GenerateVideoRequest>(&start_)) {
      request.set_without_media(generate->without_media());
    }
    return request;
  }

  const std::shared_ptr<const Connection> connection_;
  const Start start_;
  StopSignal stop_;
  EventFilter filter_;
  Retrier retrier_;
  std::unique_ptr<EventCall> call_;     // null between tries
  std::deque<v1::VideoEvent> pending_;  // filtered, not yet returned
  absl::Status end_;                    // not OK: the stream has ended
};

VideoStream::VideoStream(std::shared_ptr<const Connection> connection, Start start)
    : impl_(std::make_unique<Impl>(std::move(connection), std::move(start))) {}
VideoStream::~VideoStream() = default;
VideoStream::VideoStream(VideoStream&&) noexcept = default;
VideoStream& VideoStream::operator=(VideoStream&&) noexcept = default;

absl::StatusOr<std::optional<v1::VideoEvent>> VideoStream::Next() { return impl_->Next(); }
void VideoStream::Stop() { impl_->Stop(); }

}  // namespace reel::client
