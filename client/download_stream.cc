// SPDX-License-Identifier: Apache-2.0
#include "client/download_stream.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/connection.h"
#include "client/media_cursor.h"
#include "client/server_call.h"

namespace reel::client {
namespace {

using DownloadCall = ServerCall<v1::DownloadVideoResponse>;

void TakeWhole(v1::DownloadVideoResponse& response, v1::DownloadVideoResponse* message) {
  *message = std::move(response);
}

}  // namespace

class DownloadStream::Impl {
 public:
  Impl(std::shared_ptr<const Connection> connection, v1::DownloadVideoRequest request)
      : connection_(std::move(connection)),
        request_(std::move(request)),
        retrier_(connection_->options().retry, stop_, RandomFraction) {
    cursor_.Start(request_.read_offset(), 0);
  }

  absl::StatusOr<std::optional<v1::MediaChunk>> Next() {
    if (!end_.ok()) return end_;
    v1::DownloadVideoResponse message;
    while (!done_) {
      message.Clear();
      absl::Status status = Advance(message);
      if (!status.ok()) {
        call_.reset();
        return end_ = stop_.stopped() ? absl::CancelledError("The download was stopped.") : status;
      }
      if (message.has_chunk()) return std::move(*message.mutable_chunk());
    }
    return std::nullopt;
  }

  const v1::MediaInfo& media() const { return media_; }
  void Stop() { stop_.Stop(); }

 private:
  // Leaves a new chunk in `message`, or none.
  absl::Status Advance(v1::DownloadVideoResponse& message) {
    if (!call_) {
      absl::Status opened = Open();
      if (!opened.ok() || done_) return opened;
    }
    if (!call_->Read(&message)) {
      message.Clear();
      return AtEnd(call_->Finish());
    }
    if (message.has_media()) media_ = message.media();
    if (!message.has_chunk()) return absl::OkStatus();
    switch (cursor_.Take(*message.mutable_chunk())) {
      case MediaCursor::Verdict::kNew:
        under_way_ = true;
        retrier_.Progress();
        return absl::OkStatus();
      case MediaCursor::Verdict::kOld:
        message.clear_chunk();
        return absl::OkStatus();
      case MediaCursor::Verdict::kNewAttempt:
        return absl::DataLossError("The file changed while it was downloaded.");
      default:
        return Damaged(message);
    }
  }

  absl::Status Damaged(v1::DownloadVideoResponse& message) {
    const int64_t offset = message.chunk().offset();
    message.clear_chunk();
    under_way_ = true;
    return TryAgain({absl::UnavailableError(absl::StrCat(
                         "A part of the file was damaged in transit, at byte ", offset, ".")),
                     std::nullopt});
  }

  absl::Status AtEnd(Failure failure) {
    if (!failure.status.ok()) return TryAgain(std::move(failure));
    if (request_.read_limit() > 0) {
      done_ = true;
      return absl::OkStatus();
    }
    failure.status = cursor_.CheckComplete(media_);
    if (failure.status.code() == absl::StatusCode::kUnavailable) return TryAgain(failure);
    done_ = failure.status.ok();
    return failure.status;
  }

  absl::Status TryAgain(const Failure& failure) {
    call_.reset();
    const absl::Status again =
        under_way_ ? retrier_.AfterBrokenStream(failure) : retrier_.AfterFailedCall(failure);
    if (again.ok()) connection_->Reconnect();
    return again;
  }

  absl::Status Open() {
    auto context = std::make_unique<grpc::ClientContext>();
    if (absl::Status status = connection_->Prepare(*context, std::nullopt); !status.ok()) {
      return status;
    }
    v1::DownloadVideoRequest request = request_;
    request.set_read_offset(cursor_.offset());
    if (request_.read_limit() > 0) {
      request.set_read_limit(request_.read_limit() - (cursor_.offset() - request_.read_offset()));
      if (request.read_limit() <= 0) {
        done_ = true;  // the stream broke between the last byte and the status
        return absl::OkStatus();
      }
    }
    auto reader = connection_->videos().DownloadVideo(context.get(), request);
    call_ = std::make_unique<TypedServerCall<v1::DownloadVideoResponse, v1::DownloadVideoResponse>>(
        std::move(context), stop_, std::move(reader), TakeWhole);
    return absl::OkStatus();
  }

  const std::shared_ptr<const Connection> connection_;
  const v1::DownloadVideoRequest request_;
  StopSignal stop_;
  MediaCursor cursor_;
  Retrier retrier_;
  std::unique_ptr<DownloadCall> call_;  // null between tries
  v1::MediaInfo media_;
  bool under_way_ = false;
  bool done_ = false;
  absl::Status end_;  // not OK: the stream has ended
};

DownloadStream::DownloadStream(std::shared_ptr<const Connection> connection,
                               v1::DownloadVideoRequest request)
    : impl_(std::make_unique<Impl>(std::move(connection), std::move(request))) {}
DownloadStream::~DownloadStream() = default;
DownloadStream::DownloadStream(DownloadStream&&) noexcept = default;
DownloadStream& DownloadStream::operator=(DownloadStream&&) noexcept = default;

absl::StatusOr<std::optional<v1::MediaChunk>> DownloadStream::Next() { return impl_->Next(); }
const v1::MediaInfo& DownloadStream::media() const { return impl_->media(); }
void DownloadStream::Stop() { impl_->Stop(); }

}  // namespace reel::client
