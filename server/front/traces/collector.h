// SPDX-License-Identifier: Apache-2.0
// A destination of traces, and the collector that is one: over HTTP/1.1, plain or with TLS, by
// libcurl.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "server/front/config/address.h"
#include "server/front/curl/curl.h"

namespace reel::front {

struct SendResult {
  enum class Outcome {
    kTaken,
    kRefused,  // the same again would be refused again
    kLater,    // cannot be reached, or asks to wait
  };
  Outcome outcome = Outcome::kTaken;
  absl::Duration wait = {};   // at least, as the collector asks
  std::string why = {};       // it was not taken, or a part of it
  int64_t refused_spans = 0;  // of what was taken; they are not to be sent again
};

// The seam between the exporter and the network.
class Collector {
 public:
  virtual ~Collector() = default;
  // Waits for the answer, for seconds at most. On the exporter's thread.
  virtual SendResult Send(const std::string& body) = 0;
  // From any thread: the server ends, and what is still to be sent has half a second from now.
  virtual void Hurry() = 0;
};

struct CollectorClientOptions {
  CollectorAddress address;
  std::string ca_file = {};       // of the collector's certificate; empty: the system's
  std::string headers_file = {};  // read for each batch, so that a token can be renewed
  // For one batch, from the look-up of the name to the answer.
  absl::Duration limit = absl::Seconds(5);
};

// By libcurl. Its connection is kept for the next batch.
class CollectorClient final : public Collector {
 public:
  explicit CollectorClient(CollectorClientOptions options);

  SendResult Send(const std::string& body) override;
  void Hurry() override;

 private:
  struct Answer;
  // Until what is being sent must end, since the server does.
  absl::Duration Left() const;
  // The options of a request; the answer comes into `answer`.
  void Prepare(const std::string& body, const CurlHeaders& headers, Answer& answer);
  // CURLE_ABORTED_BY_CALLBACK: the server ends.
  CURLcode Perform();

  const CollectorClientOptions options_;
  const std::string url_;
  const CurlLibrary library_;
  const CurlHandle call_;
  const CurlMulti multi_;  // Hurry wakes it
  // Of the steady clock, in its ticks; the largest: none.
  std::atomic<std::chrono::steady_clock::rep> last_end_;
};

}  // namespace reel::front
