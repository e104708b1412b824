// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/collector.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/front/config/secret_files.h"
#include "server/front/curl/curl.h"
#include "server/front/traces/otlp.h"

namespace reel::front {
namespace {

using Clock = std::chrono::steady_clock;
using Outcome = SendResult::Outcome;

constexpr absl::Duration kHurry = absl::Milliseconds(500);
constexpr size_t kMostHead = 16 * 1024;
constexpr size_t kMostReply = 64 * 1024;
// A smaller body fits into one packet as it is. Every OTLP receiver takes gzip.
constexpr size_t kLeastPacked = 1024;
// Certificates that were renewed count from then on; reading the system's takes ten milliseconds.
constexpr long kKeepCertificatesSeconds = 60;

SendResult Later(const std::string& why) { return {Outcome::kLater, absl::ZeroDuration(), why}; }

// Those that OTLP/HTTP says may be tried again.
bool MayBeTriedAgain(long status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

SendResult ResultOf(long status, absl::Duration retry_after, const std::string& reply) {
  if (status >= 200 && status < 300) {
    const OtlpReply read = ReadOtlpReply(reply);
    return {Outcome::kTaken, {}, read.message, read.rejected_spans};
  }
  const std::string why = absl::StrCat("status ", status);
  if (!MayBeTriedAgain(status)) return {Outcome::kRefused, {}, why};
  return {Outcome::kLater, retry_after, why};
}

}  // namespace

struct CollectorClient::Answer {
  size_t head_bytes = 0;
  std::string body;
  std::array<char, CURL_ERROR_SIZE> error{};

  static size_t OnField(char*, size_t, size_t count, void* context) {
    Answer& answer = *static_cast<Answer*>(context);
    answer.head_bytes += count;
    return answer.head_bytes <= kMostHead ? count : 0;
  }
  static size_t OnBody(char* bytes, size_t, size_t count, void* context) {
    Answer& answer = *static_cast<Answer*>(context);
    if (answer.body.size() + count > kMostReply) return 0;
    answer.body.append(bytes, count);
    return count;
  }
};

CollectorClient::CollectorClient(CollectorClientOptions options)
    : options_(std::move(options)),
      url_(options_.address.ToString()),
      call_(curl_easy_init()),
      multi_(curl_multi_init()),
      last_end_(std::numeric_limits<Clock::rep>::max()) {}

void CollectorClient::Hurry() {
  const Clock::time_point end = Clock::now() + absl::ToChronoNanoseconds(kHurry);
  last_end_.store(end.time_since_epoch().count());
  if (multi_ != nullptr) curl_multi_wakeup(multi_.get());
}

absl::Duration CollectorClient::Left() const {
  const Clock::rep last = last_end_.load();
  if (last == std::numeric_limits<Clock::rep>::max()) return absl::InfiniteDuration();
  return absl::FromChrono(Clock::time_point(Clock::duration(last)) - Clock::now());
}

void CollectorClient::Prepare(const std::string& body, const CurlHeaders& headers, Answer& answer) {
  CURL* const call = call_.get();
  curl_easy_reset(call);  // connections stay
  SetTransport(call, url_.c_str());
  if (!options_.ca_file.empty()) {
    curl_easy_setopt(call, CURLOPT_CAINFO, options_.ca_file.c_str());
    curl_easy_setopt(call, CURLOPT_CAPATH, nullptr);  // the system's do not count beside it
  }
  curl_easy_setopt(call, CURLOPT_CA_CACHE_TIMEOUT, kKeepCertificatesSeconds);
  curl_easy_setopt(call, CURLOPT_CONNECTTIMEOUT_MS, CurlMilliseconds(options_.limit));
  curl_easy_setopt(call, CURLOPT_TIMEOUT_MS, CurlMilliseconds(options_.limit));
  // A look-up that hangs is left to itself: the system's resolver may take half a minute.
  curl_easy_setopt(call, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(call, CURLOPT_USERAGENT, "reel");
  curl_easy_setopt(call, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(call, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(call, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(call, CURLOPT_HEADERFUNCTION, &Answer::OnField);
  curl_easy_setopt(call, CURLOPT_HEADERDATA, &answer);
  curl_easy_setopt(call, CURLOPT_WRITEFUNCTION, &Answer::OnBody);
  curl_easy_setopt(call, CURLOPT_WRITEDATA, &answer);
  curl_easy_setopt(call, CURLOPT_ERRORBUFFER, answer.error.data());
}

CURLcode CollectorClient::Perform() {
  if (curl_multi_add_handle(multi_.get(), call_.get()) != CURLM_OK) return CURLE_FAILED_INIT;
  CURLcode code = CURLE_FAILED_INIT;
  for (;;) {
    int running = 0;
    if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) break;
    if (running == 0) {
      int others = 0;
      const CURLMsg* const done = curl_multi_info_read(multi_.get(), &others);
      if (done != nullptr) code = done->data.result;
      break;
    }
    // A Hurry after this look wakes the poll.
    const absl::Duration left = Left();
    if (left <= absl::ZeroDuration()) {
      code = CURLE_ABORTED_BY_CALLBACK;
      break;
    }
    const absl::Duration wait = std::min(left, options_.limit);
    curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(CurlMilliseconds(wait)), nullptr);
  }
  curl_multi_remove_handle(multi_.get(), call_.get());
  return code;
}

SendResult CollectorClient::Send(const std::string& body) {
  if (call_ == nullptr || multi_ == nullptr) return Later("libcurl has no handle left");
  if (Left() <= absl::ZeroDuration()) return Later("the server shuts down");
  CurlHeaders headers;
  headers.Add("Content-Type: application/json");
  headers.Add("Expect:");  // libcurl would wait a second for an answer that few give
  if (!options_.headers_file.empty()) {
    const auto more = ReadCollectorHeaders(options_.headers_file);
    if (!more.ok()) return Later(std::string(more.status().message()));
    for (const std::string& line : *more) headers.Add(line.c_str());
  }
  const std::string packed = body.size() < kLeastPacked ? "" : Gzip(body);
  if (!packed.empty()) headers.Add("Content-Encoding: gzip");

  Answer answer;
  Prepare(packed.empty() ? body : packed, headers, answer);
  const CURLcode code = Perform();
  long status = 0;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(call_.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(call_.get(), CURLINFO_RETRY_AFTER, &retry_after);
  curl_easy_reset(call_.get());  // it keeps no credentials, and nothing of this call
  // The head of an answer tells, whatever becomes of its body. A collector that refuses early may
  // close before it has read all; one that takes what it has not read is none.
  const bool took = status >= 200 && status < 300;
  if (status >= 200 && !(took && code == CURLE_SEND_ERROR)) {
    return ResultOf(status, absl::Seconds(retry_after), answer.body);
  }
  if (code == CURLE_ABORTED_BY_CALLBACK) return Later("the server shuts down");
  const std::string why = answer.error[0] != '\0' ? answer.error.data() : curl_easy_strerror(code);
  const bool other = code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY;
  if (other) return {Outcome::kRefused, {}, "the answer is not HTTP/1"};
  return Later(why);
}

}  // namespace reel::front
