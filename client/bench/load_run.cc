// SPDX-License-Identifier: Apache-2.0
#include "client/bench/load_run.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "client/save_video.h"

namespace reel::client {
namespace {

class Run {
 public:
  Run(const VideoClient& client, const LoadOptions& options) : client_(client), options_(options) {}

  std::vector<LoadAnswer> Send(const std::vector<Arrival>& arrivals, StopSignal& stop) {
    {
      const StopSignal::Scope scope(stop, [this] { StopAll(); });
      const absl::Time begin = absl::Now();
      for (const Arrival& arrival : arrivals) {
        const absl::Time due = begin + arrival.due;
        const absl::Duration wait = due - absl::Now();
        if (wait > absl::ZeroDuration() && !stop.Sleep(wait)) break;
        if (stop.stopped()) break;
        Hand(arrival.spec, due);
      }
      // While the scope lives, a stop reaches the calls under way.
      Finish();
    }
    return std::move(answers_);
  }

 private:
  struct Due {
    size_t spec;
    absl::Time time;
  };

  // Uses an idle thread, else a new one.
  void Hand(size_t spec, absl::Time due) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (idle_ == waiting_.size()) {
      if (threads_.size() == options_.most_under_way) {
        Answer({spec, false, absl::OkStatus(), std::nullopt, absl::Now() - due});
        return;
      }
      ++idle_;
      threads_.emplace_back([this] { Work(); });
    }
    waiting_.push_back({spec, due});
    changed_.notify_one();
  }

  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !waiting_.empty() || no_more_; });
      if (waiting_.empty()) return;
      const Due due = waiting_.front();
      waiting_.pop_front();
      --idle_;
      lock.unlock();
      LoadAnswer answer = Render(due);
      lock.lock();
      ++idle_;
      Answer(std::move(answer));
    }
  }

  LoadAnswer Render(const Due& due) {
    v1::GenerateVideoRequest request;
    *request.mutable_spec() = options_.specs[due.spec];
    request.set_without_media(!options_.with_media);
    if (options_.timeout) *request.mutable_timeout() = *options_.timeout;
    LoadAnswer answer;
    answer.spec = due.spec;
    VideoStream stream = client_.Generate(std::move(request));
    Enter(stream);
    const auto video = FollowVideo(stream, [&](const v1::VideoEvent&) {
      if (!answer.first_event) answer.first_event = absl::Now() - due.time;
      return absl::OkStatus();
    });
    Leave(stream);
    answer.status = video.status();
    answer.took = absl::Now() - due.time;
    return answer;
  }

  void Enter(VideoStream& stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    streams_.insert(&stream);
    if (stopping_) stream.Stop();
  }
  void Leave(VideoStream& stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    streams_.erase(&stream);
  }

  void StopAll() {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    waiting_.clear();
    for (VideoStream* stream : streams_) stream->Stop();
  }

  void Finish() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      no_more_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  // Requires mutex_.
  void Answer(LoadAnswer answer) {
    answers_.push_back(std::move(answer));
    if (options_.progress) options_.progress(answers_.size());
  }

  const VideoClient& client_;
  const LoadOptions& options_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Due> waiting_;
  size_t idle_ = 0;  // idle threads, including those that `waiting_` was for
  bool no_more_ = false, stopping_ = false;
  std::set<VideoStream*> streams_;
  std::vector<LoadAnswer> answers_;
};

}  // namespace

std::vector<LoadAnswer> RunLoad(const VideoClient& client, const std::vector<Arrival>& arrivals,
                                const LoadOptions& options, StopSignal& stop) {
  return Run(client, options).Send(arrivals, stop);
}

}  // namespace reel::client
