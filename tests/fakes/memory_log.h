// SPDX-License-Identifier: Apache-2.0
// A fleet's log and its beats in memory: each subject once, all in one order, for several nodes of
// one test.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/timer_queue.h"

namespace reel::testing {

// Thread-safe.
class MemoryLog {
 public:
  // One node's connection to the log. While it is cut, writes are refused and nothing arrives;
  // afterwards everything missed arrives.
  class Port final : public front::LogPort {
   public:
    Port(MemoryLog& log, front::LogReader& reader);
    ~Port() override;
    bool IsUp() const override { return up_; }
    absl::StatusOr<front::WriteResult> Write(const front::LogWrite& write, absl::Duration) override;
    absl::StatusOr<uint64_t> Newest() override;
    absl::StatusOr<absl::Time> Time() override;
    void SendBeat(const std::string& node, const std::string& beat) override;
    std::vector<std::string> TakeBeats() override;

   private:
    friend class MemoryLog;
    MemoryLog& log_;
    front::LogReader& reader_;
    std::atomic<bool> up_ = true;
    std::atomic<bool> deaf_ = false;
    std::atomic<bool> held_ = false;
    // Under the log's mutex.
    std::vector<std::string> beats_;
    size_t read_ = 0;
  };

  std::unique_ptr<Port> Join(front::LogReader& reader) {
    return std::make_unique<Port>(*this, reader);
  }
  void Cut(Port& port);
  void Mend(Port& port);
  // It is up, and nothing that is stored from now on reaches it before it is mended.
  void Hold(Port& port);
  // No beat reaches it any more, though it is up: as before a cut is noticed.
  void Deafen(Port& port);
  // From then on it tells its time by that one, which outlives it.
  void SetClock(const front::Clock& clock) { clock_ = &clock; }
  // Questions for the log's time get no answer.
  void HideClock(bool hidden) { clock_hidden_ = hidden; }
  // As a message of a node that the test plays.
  bool Append(const std::string& subject, const std::string& payload);
  // Writes that end like this are answered with nothing, and stored all the same.
  void ForgetAnswersOf(const std::string& ending);

  // Subjects in their order.
  std::vector<std::string> subjects();
  // Number of writes that contain `part`.
  int Count(const std::string& part);
  // Writes that were lost.
  int lost() { return lost_; }
  // How often a node has asked for the newest message.
  int looks() { return looks_; }

 private:
  bool Store(const front::LogWrite& write, uint64_t& sequence)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TellAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::vector<front::StoredMessage> messages_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, size_t> by_subject_ ABSL_GUARDED_BY(mutex_);
  std::set<Port*> ports_ ABSL_GUARDED_BY(mutex_);
  std::string forgotten_ ABSL_GUARDED_BY(mutex_);
  std::atomic<const front::Clock*> clock_ = nullptr;
  std::atomic<bool> clock_hidden_ = false;
  std::atomic<int> lost_ = 0;
  std::atomic<int> looks_ = 0;
};

}  // namespace reel::testing
