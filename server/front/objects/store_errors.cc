// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/store_errors.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "server/front/objects/list_answer.h"

namespace reel::front {
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

}  // namespace reel::front
