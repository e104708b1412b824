// SPDX-License-Identifier: Apache-2.0
// A collector over HTTP/1.1: one connection for each batch, of which there is one a second at most.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "server/front/config/collector_address.h"
#include "server/front/traces/collector.h"
#include "server/front/traces/name_lookup.h"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {

class CollectorClient final : public Collector {
 public:
  // `limit`: for one batch, from the look-up of the name to the answer.
  explicit CollectorClient(const CollectorAddress& address,
                           absl::Duration limit = absl::Seconds(5));

  SendResult Send(const std::string& body) override;
  void Hurry() override;

 private:
  // Until the end of what is being sent.
  absl::Duration Left() const;
  // False: the time is over.
  bool WaitFor(int socket, short events) const;
  FileDescriptor Connect();
  FileDescriptor ConnectTo(const addrinfo& place) const;
  bool SendAll(int socket, const std::string& bytes) const;
  // Up to the end of the answer's head.
  std::string ReceiveHead(int socket) const;

  const CollectorAddress address_;
  const absl::Duration limit_;
  NameLookup lookup_;
  std::chrono::steady_clock::time_point end_;
  // Of the steady clock, in its ticks; the largest: none.
  std::atomic<std::chrono::steady_clock::rep> last_end_;
  FileDescriptor hurried_;  // readable from Hurry on: whoever waits looks at the time again
};

// What the head of an answer means; an empty one is that of a collector that hung up.
SendResult ReadAnswer(const std::string& head);

}  // namespace reel::front
