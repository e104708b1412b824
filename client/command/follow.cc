// SPDX-License-Identifier: Apache-2.0
#include "client/command/follow.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/interrupt.h"
#include "client/command/progress_line.h"
#include "client/save_video.h"

namespace reel::client {
namespace {

// How long Ctrl-C waits after asking the server to cancel.
constexpr absl::Duration kCancelPatience = absl::Seconds(5);

class Follower {
 public:
  Follower(Session& session, const FollowOptions& options) : session_(session), options_(options) {}

  Followed Run(const VideoStream::Start& start) {
    const std::string hello = absl::StrCat("connecting to ", session_.options.server);
    session_.console.Progress(
        [&hello](int width) { return hello.substr(0, static_cast<size_t>(width) - 1); }, true);
    Interrupt interrupt([this] { OnInterrupt(); });
    auto client = session_.Open();
    if (!client.ok()) return {client.status(), "", 0, absl::ZeroDuration()};
    client_ = *std::move(client);
    VideoStream stream = Begin(start);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stream_ = &stream;
      if (interrupted_) stream.Stop();
    }
    auto video = Consume(stream);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stream_ = nullptr;
      ended_.notify_all();
    }
    session_.console.ClearProgress();
    const auto length = std::chrono::steady_clock::now() - accepted_;
    return {std::move(video), name_, interrupt.signal(), absl::FromChrono(length)};
  }

 private:
  VideoStream Begin(const VideoStream::Start& start) const {
    if (const auto* generate = std::get_if<v1::GenerateVideoRequest>(&start)) {
      return client_->Generate(*generate);
    }
    return client_->Watch(std::get<v1::WatchVideoRequest>(start));
  }

  absl::StatusOr<v1::Video> Consume(VideoStream& stream) {
    const auto observer = [this](const v1::VideoEvent& event) { return OnEvent(event); };
    if (options_.output.empty() || options_.output == "-") return FollowVideo(stream, observer);
    return SaveVideo(stream, options_.output, observer);
  }

  absl::Status OnEvent(const v1::VideoEvent& event) {
    bool now = false;
    if (event.has_accepted()) {
      accepted_ = std::chrono::steady_clock::now();
      SetName(event.accepted().name());
      OnAccepted(event.accepted());
      now = true;
    } else if (event.has_finished()) {
      ShowNotices(event.finished());
    } else if (event.has_progress()) {
      const ProgressView view = ViewOf(event.progress());
      now = view.stage != view_.stage;
      TakeProgress(view);
    } else if (event.has_restarted()) {
      if (absl::Status status = OnRestarted(event.restarted()); !status.ok()) return status;
    } else if (event.has_media()) {
      view_.bytes += static_cast<int64_t>(event.media().data().size());
      if (absl::Status status = WriteToStdout(event.media()); !status.ok()) return status;
    } else if (event.has_preview()) {
      if (absl::Status status = WritePreview(event.preview()); !status.ok()) return status;
    }
    Draw(now);
    return absl::OkStatus();
  }

  void OnAccepted(const v1::Video& video) {
    ShowNotices(video);
    TakeProgress(ViewOf(video.progress()));
  }

  // Prints each notice once: most are known only at the end, and a finished video sends them twice.
  void ShowNotices(const v1::Video& video) {
    for (const v1::Notice& notice : video.notices()) {
      if (!noticed_.insert(notice.message()).second) continue;
      session_.console.Notice(absl::StrCat("note: ", notice.message()));
    }
  }

  void TakeProgress(ProgressView view) {
    view.bytes = view_.bytes;
    view.note = std::move(view_.note);
    view_ = std::move(view);
  }

  absl::Status OnRestarted(const v1::Restarted& restarted) {
    if (options_.output == "-" && view_.bytes > 0) {
      return absl::DataLossError(
          "The video restarted after part of it had been written to stdout; write to a file "
          "instead.");
    }
    view_.bytes = 0;
    session_.console.Notice(absl::StrCat("the video restarts (", restarted.reason(), "), attempt ",
                                         restarted.attempt()));
    return absl::OkStatus();
  }

  absl::Status WriteToStdout(const v1::MediaChunk& chunk) {
    if (options_.output != "-") return absl::OkStatus();
    if (session_.console.Print(chunk.data())) return absl::OkStatus();
    return absl::InternalError("Cannot write to stdout.");
  }

  absl::Status WritePreview(const v1::Preview& preview) {
    if (options_.preview_dir.empty()) return absl::OkStatus();
    std::error_code error;
    std::filesystem::create_directories(options_.preview_dir, error);
    const std::string path =
        absl::StrFormat("%s/preview-%04d.jpg", options_.preview_dir, preview.step());
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!(file << preview.image()).flush()) {
      return absl::InvalidArgumentError(absl::StrCat("Cannot write the preview: ", path, "."));
    }
    view_.note = path;
    return absl::OkStatus();
  }

  void Draw(bool now) {
    session_.console.Progress([this](int width) { return RenderProgress(view_, width); }, now);
  }

  void SetName(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    name_ = name;
  }

  // Called on the Interrupt's thread.
  void OnInterrupt() {
    std::unique_lock<std::mutex> lock(mutex_);
    interrupted_ = true;
    if (stream_ == nullptr) return;
    if (options_.cancel_on_interrupt && !name_.empty()) {
      const std::string name = name_;
      lock.unlock();
      session_.console.Notice("cancelling; press Ctrl-C again to exit at once");
      const bool asked = client_->Cancel(name).ok();
      lock.lock();
      const auto patience = absl::ToChronoNanoseconds(kCancelPatience);
      if (asked) ended_.wait_for(lock, patience, [this] { return stream_ == nullptr; });
    }
    if (stream_ != nullptr) stream_->Stop();
  }

  Session& session_;
  const FollowOptions& options_;
  std::unique_ptr<VideoClient> client_;  // outlives the Interrupt, which may use it
  ProgressView view_;                    // used by the running thread
  std::set<std::string> noticed_;        // likewise
  std::chrono::steady_clock::time_point accepted_ = std::chrono::steady_clock::now();  // likewise
  std::mutex mutex_;
  std::condition_variable ended_;
  VideoStream* stream_ = nullptr;  // guarded by mutex_; null if there is none
  std::string name_;               // guarded by mutex_
  bool interrupted_ = false;       // guarded by mutex_
};

}  // namespace

Followed Follow(Session& session, const VideoStream::Start& start, const FollowOptions& options) {
  return Follower(session, options).Run(start);
}

}  // namespace reel::client
