// SPDX-License-Identifier: Apache-2.0
// Callers of a fleet that never stop. Each sends a request with its own id until a server accepts
// it, streams the video to its end over any server that answers, and begins again.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "reel/v1/video_service.grpc.pb.h"

namespace reel::tests {

// Where servers are at the moment. Thread-safe.
class FleetAddresses {
 public:
  void Set(const std::string& server, const std::string& address);
  void Remove(const std::string& server);
  // Any but the last one, if there is another; empty: there is none.
  std::string Pick(size_t hint) const;
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> by_server_;
};

// What all callers have seen.
struct CallersReport {
  std::vector<std::string> names;   // of videos that were streamed to their ends
  std::vector<std::string> faults;  // what must not be
  int restarts = 0, most_restarts = 0;
  int resumed = 0;                 // streams that went on elsewhere
  int created_anew = 0;            // calls for a video that were repeated
  absl::Duration longest_restart;  // from the last word of an owner to the first step of the next
  absl::Duration longest_resume;   // from a stream's break to its next event
  absl::Duration longest_create;   // from the first call for a video to its name

  std::string ToString() const;
};

class FleetCallers {
 public:
  FleetCallers(const FleetAddresses& addresses, int callers, v1::VideoSpec spec);
  ~FleetCallers();
  FleetCallers(const FleetCallers&) = delete;
  FleetCallers& operator=(const FleetCallers&) = delete;

  int finished() const { return finished_; }
  // So many of each caller: what a caller had when it was asked is over when its number is higher.
  std::vector<int> finished_by_caller();
  // Steps of videos that were told so far.
  int steps() const { return steps_; }
  // Each ends the video that it has.
  CallersReport Stop();

 private:
  struct Call;
  void Run(size_t caller);
  bool Create(Call& call);
  bool Stream(Call& call);
  void Hear(Call& call, const v1::VideoEvent& event);
  void Fault(const Call& call, const std::string& what);
  std::shared_ptr<grpc::Channel> Connect(Call& call);

  const FleetAddresses& addresses_;
  const v1::VideoSpec spec_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> finished_ = 0, steps_ = 0;
  std::mutex mutex_;
  CallersReport report_;
  std::vector<int> finished_by_;
  std::vector<std::thread> threads_;
};

}  // namespace reel::tests
