// SPDX-License-Identifier: Apache-2.0
// The messages of each streaming RPC.
#pragma once

#include <memory>
#include <string>

#include "reel/v1/video_service.pb.h"
#include "server/front/api/request_convert.h"
#include "server/front/api/video_cursor.h"
#include "server/front/rpc/stream_reactor.h"

namespace reel::front {

class GenerateSource final : public MessageSource<v1::GenerateVideoResponse> {
 public:
  GenerateSource(std::shared_ptr<Job> job, const WatchPoint& from);
  StreamStep Next(v1::GenerateVideoResponse& message, absl::Status& end) override;
  // Measures the first event and the first bytes.
  void Sending(const v1::GenerateVideoResponse& message, CallContext& context) override;
  std::string video() const override { return id_; }

 private:
  const std::string id_;
  VideoCursor cursor_;
  bool any_event_ = false, any_chunk_ = false;
};

class WatchSource final : public MessageSource<v1::WatchVideoResponse> {
 public:
  WatchSource(std::shared_ptr<Job> job, const WatchPoint& from);
  StreamStep Next(v1::WatchVideoResponse& message, absl::Status& end) override;
  void Sending(const v1::WatchVideoResponse& message, CallContext& context) override;
  std::string video() const override { return id_; }

 private:
  const std::string id_;
  VideoCursor cursor_;
};

class DownloadSource final : public MessageSource<v1::DownloadVideoResponse> {
 public:
  // `range` has passed CheckDownload.
  DownloadSource(std::shared_ptr<Job> job, const DownloadRange& range);
  StreamStep Next(v1::DownloadVideoResponse& message, absl::Status& end) override;
  void Sending(const v1::DownloadVideoResponse&, CallContext&) override {}
  std::string video() const override { return range_.id; }

 private:
  const std::shared_ptr<Job> job_;
  const DownloadRange range_;
  const int64_t end_;  // one behind the last byte
  int64_t offset_;
  bool last_sent_ = false;
};

}  // namespace reel::front
