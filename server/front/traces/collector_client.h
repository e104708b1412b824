// SPDX-License-Identifier: Apache-2.0
// A collector over HTTP/1.1, plain or with TLS, by libcurl. Its connection is kept for the next
// batch.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "server/front/config/address.h"
#include "server/front/curl/curl_handles.h"
#include "server/front/traces/collector.h"

namespace reel::front {

struct CollectorClientOptions {
  CollectorAddress address;
  std::string ca_file = {};       // of the collector's certificate; empty: the system's
  std::string headers_file = {};  // read for each batch, so that a token can be renewed
  // For one batch, from the look-up of the name to the answer.
  absl::Duration limit = absl::Seconds(5);
};

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
