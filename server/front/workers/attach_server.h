// SPDX-License-Identifier: Apache-2.0
// The server that workers dial (gRPC on a Unix socket), and a worker's stream on it. Only the
// source knows gRPC.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "reel/worker/v1/worker.pb.h"
#include "server/protocol/assignment.h"

namespace reel::front {

// One worker's Attach stream, without gRPC. Thread-safe, never blocks, harmless after its end.
class Session {
 public:
  virtual ~Session() = default;
  // Empty `job`: concerns none. See SendQueue for what overtakes what.
  virtual void Send(const std::string& job, worker::v1::AttachResponse message) = 0;
  // Reads on, after a message of which the owner said false.
  virtual void Resume() = 0;
  // Ends it from this side; OnBroken follows.
  virtual void Close() = 0;
};

// Who the stream belongs to. Called on gRPC threads, one call at a time: must not block.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;
  // False: read nothing more until Resume.
  virtual bool OnMessage(worker::v1::AttachRequest message) = 0;
  // Exactly once, last.
  virtual void OnBroken() = 0;
};

// Messages that wait to be sent to one worker. Control overtakes pixels and states, but never those
// of its own job: a Cancel cannot arrive before the Assign that it cancels.
// Not thread-safe; its owner has a lock.
class SendQueue {
 public:
  using Message = worker::v1::AttachResponse;

  // Empty `job`: concerns none.
  void Push(const std::string& job, Message message);
  std::optional<Message> Pop();
  void Clear();

 private:
  struct Entry {
    std::string job;
    Message message;
  };
  std::deque<Message> control_;
  std::deque<Entry> pixels_;  // and states, and whatever belongs to a job of which some wait
  std::unordered_map<std::string, int> waiting_;  // entries of pixels_ by job
};

// Largest piece of the bytes of a condition or state.
inline constexpr size_t kConditionPieceBytes = 256 << 10;

// An assignment as the messages that carry it: the pixels of its conditions or the state that it
// begins from, in pieces, then Assign without them.
std::vector<worker::v1::AttachResponse> MakeAssignmentMessages(const Assignment& assignment);

// One method, no reflection.
class AttachServer {
 public:
  // Decides about a stream by its first message, on a gRPC thread. The owner outlives the server.
  // Refused: the stream ends with that status.
  using Admit = absl::AnyInvocable<absl::StatusOr<SessionOwner*>(
      const worker::v1::Hello& hello, std::shared_ptr<Session> session) const>;

  // Listens on `socket_path`, of at most 107 bytes. UNAVAILABLE when that fails.
  static absl::StatusOr<std::unique_ptr<AttachServer>> Start(const std::string& socket_path,
                                                             Admit admit);
  // Ends every stream; all owners have seen OnBroken when it returns.
  ~AttachServer();

 private:
  class Impl;
  explicit AttachServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::front
