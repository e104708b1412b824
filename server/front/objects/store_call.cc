// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/store_call.h"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/front/curl/curl.h"
#include "server/logging/log.h"

namespace reel::front {

std::optional<StoreCredentials::Mark> StoreCredentials::MarkOf(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return Mark{info.st_dev,         info.st_ino,          info.st_size,
              info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_mode};
}

absl::StatusOr<KeyPair> StoreCredentials::Get() {
  const MutexLock lock(mutex_);
  const std::optional<Mark> mark = MarkOf(path_);
  if (mark && mark == read_) return pair_;
  absl::StatusOr<KeyPair> pair = ReadKeyPair(path_);
  const bool has_old = pair_.ok();
  if (pair.ok() && has_old) {
    Log(LogLevel::kInfo, "read the object store's credentials again", {{"file", path_}});
  }
  if (!pair.ok() && has_old && mark != read_) {
    Log(LogLevel::kError, "The object store's credentials are invalid; the old ones stay in use",
        {{"error", pair.status()}});
  }
  read_ = mark;
  if (pair.ok() || !has_old) pair_ = std::move(pair);
  return pair_;
}

namespace {

// Slower than that is as good as standing still.
constexpr long kLeastBytesPerSecond = 1024;
constexpr int64_t kBytesPerSecond = 256 << 10;
constexpr size_t kMostFieldBytes = 256;

struct Exchange {
  const StoreCall& call;
  const std::atomic<bool>& stopping;
  StoreAnswer answer;
  int64_t sent = 0;
};

size_t OnBody(char* bytes, size_t, size_t count, void* context) {
  Exchange& exchange = *static_cast<Exchange*>(context);
  std::string& body = exchange.answer.body;
  if (static_cast<int64_t>(body.size() + count) > exchange.call.most_bytes) return 0;
  body.append(bytes, count);
  return count;
}

size_t OnField(char* bytes, size_t, size_t count, void* context) {
  StoreAnswer& answer = static_cast<Exchange*>(context)->answer;
  const absl::string_view line(bytes, count);
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos || count > kMostFieldBytes) return count;
  // Names may come in lower case.
  const absl::string_view name = line.substr(0, colon);
  const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
  if (absl::EqualsIgnoreCase(name, "x-amz-meta-sha256")) answer.sha256 = std::string(value);
  if (absl::EqualsIgnoreCase(name, "content-length") &&
      !absl::SimpleAtoi(value, &answer.content_length)) {
    answer.content_length = -1;
  }
  return count;
}

size_t OnWanted(char* buffer, size_t, size_t room, void* context) {
  Exchange& exchange = *static_cast<Exchange*>(context);
  const int64_t left = exchange.call.body_bytes - exchange.sent;
  const size_t most = std::min(room, static_cast<size_t>(std::max<int64_t>(left, 0)));
  if (most == 0) return 0;
  const int64_t filled = exchange.call.body(exchange.sent, buffer, most);
  if (filled <= 0) return CURL_READFUNC_ABORT;
  exchange.sent += filled;
  return static_cast<size_t>(filled);
}

// A connection that was kept may be found dead after bytes have left.
int OnSeek(void* context, curl_off_t offset, int origin) {
  if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  static_cast<Exchange*>(context)->sent = offset;
  return CURL_SEEKFUNC_OK;
}

int OnProgress(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Exchange*>(context)->stopping ? 1 : 0;
}

void SetLimits(CURL* handle, const StoreCall& call, const StoreLimits& limits) {
  const int64_t bytes = call.body_bytes + call.most_bytes;
  const auto stall = std::max<long>(
      static_cast<long>(absl::ToInt64Seconds(absl::Ceil(limits.stall, absl::Seconds(1)))), 1);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, CurlMilliseconds(limits.connect));
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS,
                   CurlMilliseconds(limits.call + absl::Seconds(bytes / kBytesPerSecond)));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, kLeastBytesPerSecond);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, stall);
}

void SetMethod(CURL* handle, const StoreCall& call, Exchange& exchange) {
  switch (call.method) {
    case StoreCall::Method::kGet:
      break;
    case StoreCall::Method::kHead:
      curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
      break;
    case StoreCall::Method::kPut:
      curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
      curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(call.body_bytes));
      curl_easy_setopt(handle, CURLOPT_READFUNCTION, &OnWanted);
      curl_easy_setopt(handle, CURLOPT_READDATA, &exchange);
      curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, &OnSeek);
      curl_easy_setopt(handle, CURLOPT_SEEKDATA, &exchange);
      break;
    case StoreCall::Method::kDelete:
      curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, "DELETE");
      break;
  }
}

void SetSignature(CURL* handle, const StoreSigner& signer) {
  const std::string signature = absl::StrCat("aws:amz:", signer.region, ":s3");
  curl_easy_setopt(handle, CURLOPT_AWS_SIGV4, signature.c_str());
  curl_easy_setopt(handle, CURLOPT_USERNAME, signer.key.c_str());
  curl_easy_setopt(handle, CURLOPT_PASSWORD, signer.secret.c_str());
}

absl::Status Failure(CURLcode code, const std::atomic<bool>& stopping) {
  if (stopping) return absl::CancelledError("the server shuts down");
  if (code == CURLE_WRITE_ERROR) {
    return absl::UnavailableError("The object store sends more than was asked for");
  }
  if (code == CURLE_ABORTED_BY_CALLBACK) {
    return absl::DataLossError("The bytes for the object store cannot be read");
  }
  return absl::UnavailableError(
      absl::StrCat("The object store cannot be reached: ", curl_easy_strerror(code)));
}

// A store may refuse a put by its head and hang up, so that the answer is lost with the connection.
bool HungUp(CURLcode code, const Exchange& exchange) {
  if (exchange.call.method != StoreCall::Method::kPut) return false;
  const bool ended = code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING;
  return code == CURLE_SEND_ERROR || (ended && exchange.sent < exchange.call.body_bytes);
}

}  // namespace

absl::StatusOr<StoreAnswer> CarryOut(CURL* handle, const StoreCall& call, const StoreSigner& signer,
                                     const StoreLimits& limits, const std::atomic<bool>& stopping) {
  curl_easy_reset(handle);
  Exchange exchange{call, stopping, {}, 0};
  CurlHeaders headers;
  for (const std::string& line : call.headers) headers.Add(line.c_str());
  SetTransport(handle, call.url.c_str());
  SetSignature(handle, signer);
  SetLimits(handle, call, limits);
  SetMethod(handle, call, exchange);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &OnField);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &OnProgress);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &exchange);
  const CURLcode code = curl_easy_perform(handle);
  if (!stopping && HungUp(code, exchange)) return StoreAnswer();
  if (code != CURLE_OK) return Failure(code, stopping);
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  exchange.answer.status = static_cast<int>(status);
  return std::move(exchange.answer);
}

}  // namespace reel::front
