// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/s3_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/status_macros.h"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {
namespace {

constexpr char kOpen[] = "<Contents>";
constexpr char kClose[] = "</Contents>";

absl::Status NoList() {
  return absl::UnavailableError("The object store does not answer with a list of objects");
}

absl::StatusOr<ObjectEntry> ReadEntry(std::string_view xml) {
  ObjectEntry entry;
  const std::string changed = TextOf(xml, "LastModified").value_or("");
  if (!absl::SimpleAtoi(TextOf(xml, "Size").value_or(""), &entry.size) || entry.size < 0 ||
      !absl::ParseTime(absl::RFC3339_full, changed, &entry.changed, nullptr)) {
    return NoList();
  }
  entry.key = TextOf(xml, "Key").value_or("");
  return entry;
}

}  // namespace

std::optional<std::string> TextOf(std::string_view xml, std::string_view name) {
  const std::string open = "<" + std::string(name) + ">";
  const std::string close = "</" + std::string(name) + ">";
  const size_t from = xml.find(open);
  if (from == std::string_view::npos) return std::nullopt;
  const std::string_view rest = xml.substr(from + open.size());
  const size_t size = rest.find('<');
  if (size == std::string_view::npos || rest.substr(size, close.size()) != close) {
    return std::nullopt;
  }
  return std::string(rest.substr(0, size));
}

absl::StatusOr<ObjectPage> ReadListAnswer(std::string_view xml) {
  if (xml.find("<ListBucketResult") == std::string_view::npos) return NoList();
  ObjectPage page;
  const std::optional<std::string> more = TextOf(xml, "IsTruncated");
  if (more != "true" && more != "false") return NoList();
  page.more = *more == "true";
  for (size_t from = xml.find(kOpen); from != std::string_view::npos;) {
    const size_t to = xml.find(kClose, from);
    if (to == std::string_view::npos) return NoList();
    absl::StatusOr<ObjectEntry> entry = ReadEntry(xml.substr(from, to - from));
    if (!entry.ok()) return entry.status();
    if (IsLegalKey(entry->key)) page.objects.push_back(*std::move(entry));
    from = xml.find(kOpen, to);
  }
  return page;
}

namespace {

constexpr size_t kMostCode = 64;

bool IsWordChar(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Its own word for the reason, as far as it is one.
std::string CodeOf(const std::string& body) {
  const std::string code = TextOf(body, "Code").value_or("");
  const bool is_word =
      code.size() <= kMostCode && std::all_of(code.begin(), code.end(), IsWordChar);
  return is_word ? code : "";
}

bool IsOfCredentials(int status, const std::string& code) {
  static constexpr std::string_view kCodes[] = {"AccessDenied",
                                                "InvalidAccessKeyId",
                                                "SignatureDoesNotMatch",
                                                "XAdminUserNotFound",
                                                "AuthorizationHeaderMalformed",
                                                "InvalidToken",
                                                "RequestTimeTooSkewed",
                                                "ExpiredToken"};
  const bool known = std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
  return known || status == 401 || status == 403;
}

bool IsFull(int status, const std::string& code) {
  static constexpr std::string_view kCodes[] = {"QuotaExceeded", "XMinioStorageFull",
                                                "XMinioAdminBucketQuotaExceeded",
                                                "InsufficientStorage", "StorageFull"};
  return status == 507 || std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
}

}  // namespace

absl::Status RefusalOf(const StoreAnswer& answer, const std::string& place) {
  if (answer.status == 0) {
    return absl::UnavailableError(
        absl::StrCat("The object store hung up before it had all bytes: ", place));
  }
  const std::string code = CodeOf(answer.body);
  const std::string said =
      absl::StrCat(place, " (", answer.status, code.empty() ? "" : " ", code, ")");
  if (IsFull(answer.status, code)) {
    return absl::ResourceExhaustedError(absl::StrCat("The object store is full: ", said));
  }
  if (code == "NoSuchBucket") {
    return absl::FailedPreconditionError(
        absl::StrCat("The object store has no such bucket: ", said));
  }
  if (IsOfCredentials(answer.status, code)) {
    return absl::PermissionDeniedError(
        absl::StrCat("The object store refuses the credentials: ", said));
  }
  if (code == "XAmzContentSHA256Mismatch" || code == "BadDigest") {
    return absl::DataLossError(
        absl::StrCat("The object store has got other bytes than it was told of: ", said));
  }
  switch (answer.status) {
    case 404:
      return absl::NotFoundError(absl::StrCat("The object store has no such object: ", said));
    case 412:
      return absl::AlreadyExistsError(absl::StrCat("The object is there already: ", said));
    case 416:
      return absl::OutOfRangeError(absl::StrCat("The object has no byte there: ", said));
    default:
      return absl::UnavailableError(absl::StrCat("The object store does not do it: ", said));
  }
}

namespace {

// Of nothing, as calls without a body have it.
constexpr char kEmptySha256[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr int64_t kMostWords = 64 << 10;     // of an answer without an object
constexpr int64_t kMostListBytes = 4 << 20;  // of a page: 1000 keys
constexpr size_t kMostIdle = 16;

absl::Status NoKey() { return absl::InvalidArgumentError("The key of an object is not legal"); }

std::string HashField(const std::string& sha256) {
  return absl::StrCat("x-amz-content-sha256: ", sha256);
}

bool IsSuccess(const StoreAnswer& answer) { return answer.status >= 200 && answer.status < 300; }

}  // namespace

S3Store::S3Store(S3Options options)
    : options_(std::move(options)), credentials_(options_.credentials_file) {}

CurlHandle S3Store::Take() {
  const MutexLock lock(mutex_);
  if (idle_.empty()) return CurlHandle(curl_easy_init());
  CurlHandle handle = std::move(idle_.back());
  idle_.pop_back();
  return handle;
}

void S3Store::GiveBack(CurlHandle handle) {
  // Credentials are not kept in it.
  curl_easy_reset(handle.get());
  const MutexLock lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(handle));
}

std::string S3Store::PlaceOf(const std::string& key) const {
  return absl::StrCat(options_.endpoint, "/", options_.bucket, key.empty() ? "" : "/", key);
}

StoreCall S3Store::CallOf(StoreCall::Method method, const std::string& key) const {
  StoreCall call;
  call.method = method;
  call.url = PlaceOf(key);
  call.most_bytes = kMostWords;
  return call;
}

absl::StatusOr<StoreAnswer> S3Store::Ask(const StoreCall& call) {
  if (stopping_) return absl::CancelledError("the server shuts down");
  const absl::StatusOr<KeyPair> pair = credentials_.Get();
  if (!pair.ok()) {
    return absl::PermissionDeniedError(
        absl::StrCat("The object store's credentials cannot be read: ", pair.status().message()));
  }
  CurlHandle handle = Take();
  if (handle == nullptr) return absl::UnavailableError("libcurl has no handle left");
  auto answer = CarryOut(handle.get(), call, {options_.region, pair->key, pair->secret},
                         options_.limits, stopping_);
  GiveBack(std::move(handle));
  if (answer.ok() || !absl::IsUnavailable(answer.status())) return answer;
  return absl::UnavailableError(absl::StrCat(answer.status().message(), ": ", options_.endpoint));
}

absl::Status S3Store::PutFile(const std::string& key, const ObjectFile& file) {
  const FileDescriptor opened(open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!opened || fstat(opened.get(), &info) != 0) {
    return absl::DataLossError(absl::StrCat("The file cannot be opened: ", strerror(errno)));
  }
  if (info.st_size != file.size) return absl::DataLossError("The file has another size than said");
  StoreCall call = CallOf(StoreCall::Method::kPut, key);
  call.body = [fd = opened.get()](int64_t offset, char* buffer, size_t size) -> int64_t {
    ssize_t got = -1;
    do {
      got = pread(fd, buffer, size, offset);
    } while (got < 0 && errno == EINTR);
    return got;
  };
  return Put(key, std::move(call), {file.size, file.sha256}, file.content_type);
}

absl::Status S3Store::PutBytes(const std::string& key, std::string_view bytes,
                               const std::string& content_type) {
  StoreCall call = CallOf(StoreCall::Method::kPut, key);
  call.body = [bytes](int64_t offset, char* buffer, size_t size) -> int64_t {
    const std::string_view rest = bytes.substr(static_cast<size_t>(offset), size);
    std::copy(rest.begin(), rest.end(), buffer);
    return static_cast<int64_t>(rest.size());
  };
  return Put(key, std::move(call), {static_cast<int64_t>(bytes.size()), Sha256Hex(bytes)},
             content_type);
}

absl::Status S3Store::Put(const std::string& key, StoreCall call, const ObjectFacts& facts,
                          const std::string& content_type) {
  if (!IsLegalKey(key)) return NoKey();
  call.body_bytes = facts.size;
  call.headers = {HashField(facts.sha256), absl::StrCat("x-amz-meta-sha256: ", facts.sha256),
                  "If-None-Match: *",
                  absl::StrCat("Content-Type: ",
                               content_type.empty() ? "application/octet-stream" : content_type)};
  REEL_ASSIGN_OR_RETURN(const StoreAnswer answer, Ask(call));
  if (IsSuccess(answer)) return absl::OkStatus();
  const absl::Status refusal = RefusalOf(answer, PlaceOf(key));
  const bool unheard = answer.status == 0;
  if (!absl::IsAlreadyExists(refusal) && !unheard) return refusal;
  // Perhaps it is there by an earlier try, whose answer was lost.
  const absl::StatusOr<ObjectFacts> there = Head(key);
  if (!there.ok()) return unheard ? refusal : there.status();
  if (there->size == facts.size && there->sha256 == facts.sha256) return absl::OkStatus();
  return unheard ? RefusalOf({.status = 412}, PlaceOf(key)) : refusal;
}

absl::StatusOr<std::string> S3Store::Get(const std::string& key, int64_t offset, int64_t size) {
  if (!IsLegalKey(key)) return NoKey();
  if (size <= 0) return std::string();
  StoreCall call = CallOf(StoreCall::Method::kGet, key);
  call.headers = {HashField(kEmptySha256),
                  absl::StrCat("Range: bytes=", offset, "-", offset + size - 1)};
  call.most_bytes = std::max(size, kMostWords);
  REEL_ASSIGN_OR_RETURN(StoreAnswer answer, Ask(call));
  if (!IsSuccess(answer)) return RefusalOf(answer, PlaceOf(key));
  const bool whole = answer.status == 200 && offset == 0;
  if ((answer.status != 206 && !whole) || static_cast<int64_t>(answer.body.size()) > size) {
    return absl::UnavailableError("The object store does not answer with the range asked for");
  }
  return std::move(answer.body);
}

absl::StatusOr<ObjectFacts> S3Store::Head(const std::string& key) {
  if (!IsLegalKey(key)) return NoKey();
  StoreCall call = CallOf(StoreCall::Method::kHead, key);
  call.headers = {HashField(kEmptySha256)};
  REEL_ASSIGN_OR_RETURN(const StoreAnswer answer, Ask(call));
  if (!IsSuccess(answer)) return RefusalOf(answer, PlaceOf(key));
  return ObjectFacts{answer.content_length, answer.sha256};
}

absl::Status S3Store::Delete(const std::string& key) {
  if (!IsLegalKey(key)) return NoKey();
  StoreCall call = CallOf(StoreCall::Method::kDelete, key);
  call.headers = {HashField(kEmptySha256)};
  REEL_ASSIGN_OR_RETURN(const StoreAnswer answer, Ask(call));
  if (IsSuccess(answer)) return absl::OkStatus();
  const absl::Status refusal = RefusalOf(answer, PlaceOf(key));
  return absl::IsNotFound(refusal) ? absl::OkStatus() : refusal;
}

absl::StatusOr<ObjectPage> S3Store::List(const std::string& prefix, const std::string& after) {
  StoreCall call = CallOf(StoreCall::Method::kGet, "");
  // Sorted by name, and a slash encoded: libcurl signs a query as it stands.
  const auto encoded = [](const std::string& key) {
    return absl::StrReplaceAll(key, {{"/", "%2F"}});
  };
  absl::StrAppend(&call.url, "?list-type=2&max-keys=1000&prefix=", encoded(prefix));
  if (!after.empty()) absl::StrAppend(&call.url, "&start-after=", encoded(after));
  call.headers = {HashField(kEmptySha256)};
  call.most_bytes = kMostListBytes;
  REEL_ASSIGN_OR_RETURN(const StoreAnswer answer, Ask(call));
  if (!IsSuccess(answer)) return RefusalOf(answer, PlaceOf(""));
  return ReadListAnswer(answer.body);
}

}  // namespace reel::front
