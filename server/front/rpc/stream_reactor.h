// SPDX-License-Identifier: Apache-2.0
// gRPC's half of a server stream: hands a driver's writes to gRPC and gRPC's events to the driver;
// and the messages of each streaming RPC.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "reel/v1/video_service.pb.h"
#include "server/front/api/request_convert.h"
#include "server/front/api/stream_driver.h"
#include "server/front/api/video_cursor.h"
#include "server/front/rpc/request_reactor.h"

namespace reel::front {

// What a stream sends. Confined to its stream's lock.
template <typename Response>
class MessageSource {
 public:
  virtual ~MessageSource() = default;
  virtual StreamStep Next(Response& message, absl::Status& end) = 0;
  // The message is about to be handed to gRPC.
  virtual void Sending(const Response& message, CallContext& context) = 0;
  // For the log.
  virtual std::string video() const = 0;
};

// What others hold of a stream: enough to start or end it, at any time, also after the call has
// gone. Copies are the same stream.
template <typename Response>
class StreamHandle {
 public:
  using Slot = std::unique_ptr<MessageSource<Response>>;
  StreamHandle(std::shared_ptr<StreamDriver> driver, std::shared_ptr<Slot> slot)
      : driver_(std::move(driver)), slot_(std::move(slot)) {}

  // Once. The driver's lock orders the slot's filling before its first use.
  void Start(std::unique_ptr<MessageSource<Response>> source) const {
    *slot_ = std::move(source);
    driver_->Start();
  }
  void Fail(const absl::Status& status) const { driver_->Fail(status); }
  std::weak_ptr<JobListener> listener() const { return driver_; }

 private:
  std::shared_ptr<StreamDriver> driver_;
  std::shared_ptr<Slot> slot_;
};

// Frees itself in OnDone, after which nothing of the call is left but how it ended, which goes to
// `on_end`.
template <typename Response>
class StreamReactor final : public RequestReactor<Response>, private StreamCall {
 public:
  using Slot = typename StreamHandle<Response>::Slot;
  using Serve = std::function<void(const grpc::ByteBuffer& request, StreamReactor&)>;

  StreamReactor(const CallEnvironment& environment, grpc::CallbackServerContext& server_context,
                Method method, StreamPump& pump, absl::Duration stall_limit, Serve serve)
      : RequestReactor<Response>(environment, server_context, method),
        serve_(std::move(serve)),
        driver_(std::make_shared<StreamDriver>(static_cast<StreamCall&>(*this), pump, stall_limit)),
        slot_(std::make_shared<Slot>()) {
    context_.observer().StreamOpened();
    pump.Watch(driver_);
  }

  // While `serve` runs and before anything is started.
  CallContext& context() { return context_; }
  void OnEnd(std::function<void(StreamEnd)> on_end) { on_end_ = std::move(on_end); }
  StreamHandle<Response> handle() { return {driver_, slot_}; }

 private:
  using RequestReactor<Response>::context_;
  ~StreamReactor() override = default;

  void OnRequest(const grpc::ByteBuffer& bytes) override { serve_(bytes, *this); }
  void Refuse(const absl::Status& why) override {
    const std::shared_ptr<StreamDriver> driver = driver_;
    driver->FailNow(why);
  }
  void OnCallerGone() override { driver_->OnCancel(); }
  void OnWriteDone(bool ok) override {
    context_.observer().StreamBuffered(-buffered_);
    driver_->OnWriteDone(ok);
  }
  void OnDone() override {
    const StreamEnd end = driver_->Detach();
    context_.observer().StreamClosed();
    if (end == StreamEnd::kSlowReader) context_.observer().SlowReaderCut();
    if (on_end_) on_end_(end);
    delete this;
  }

  StreamStep Prepare(absl::Status& end) override {
    started_ = true;
    message_.Clear();
    return (*slot_)->Next(message_, end);
  }
  void StartWrite() override {
    buffered_ = static_cast<int64_t>(message_.ByteSizeLong());
    context_.observer().StreamBuffered(buffered_);
    context_.Sent();
    (*slot_)->Sending(message_, context_);
    RequestReactor<Response>::StartWrite(&message_);
  }
  void Finish(const absl::Status& status) override {
    if (started_) context_.SetVideo((*slot_)->video());
    RequestReactor<Response>::Finish(context_.End(status));
  }
  void Abort() override { context_.Cancel(); }
  absl::Status Allowed() override { return context_.StillAuthorized(); }

  const Serve serve_;
  const std::shared_ptr<StreamDriver> driver_;
  const std::shared_ptr<Slot> slot_;
  std::function<void(StreamEnd)> on_end_;
  Response message_;
  int64_t buffered_ = 0;  // set before a write, read at its end
  bool started_ = false;  // under the driver's lock
};

// The messages of each streaming RPC.
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
