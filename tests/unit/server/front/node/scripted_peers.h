// SPDX-License-Identifier: Apache-2.0
// Other nodes as a script: a test sees what they are asked, and says what they answer.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "server/front/node/peer_port.h"

namespace reel::front {

// For one thread.
class ScriptedPeers final : public PeerPort {
 public:
  struct Call {
    PeerAsk ask;
    std::shared_ptr<PeerSink> sink;
    bool is_open = true;
  };
  std::unique_ptr<PeerStream> Open(const PeerAsk& ask, std::shared_ptr<PeerSink> sink) override {
    calls.push_back(std::make_shared<Call>(Call{ask, std::move(sink)}));
    return std::make_unique<Stream>(calls.back());
  }
  Call& last() { return *calls.back(); }

  std::deque<std::shared_ptr<Call>> calls;

 private:
  class Stream final : public PeerStream {
   public:
    explicit Stream(std::shared_ptr<Call> call) : call_(std::move(call)) {}
    ~Stream() override { call_->is_open = false; }

   private:
    const std::shared_ptr<Call> call_;
  };
};

}  // namespace reel::front
