// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/authorizer.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr size_t kMaxTokenBytes = 1024;
constexpr std::string_view kScheme = "bearer ";

const char* RoleName(Role role) {
  switch (role) {
    case Role::kViewer:
      return "viewer";
    case Role::kUser:
      return "user";
    case Role::kAdmin:
      return "admin";
  }
  return "";
}

std::string_view TokenOf(std::string_view authorization) {
  const absl::string_view text(authorization.data(), authorization.size());
  if (!absl::StartsWithIgnoreCase(text, absl::string_view(kScheme.data(), kScheme.size()))) {
    return {};
  }
  const std::string_view token = authorization.substr(kScheme.size());
  return token.size() <= kMaxTokenBytes ? token : std::string_view();
}

}  // namespace

Authorizer::Authorizer(TokenTable tokens)
    : tokens_(std::make_shared<const TokenTable>(std::move(tokens))) {}

std::shared_ptr<const TokenTable> Authorizer::tokens() const {
  MutexLock lock(mutex_);
  return tokens_;
}

void Authorizer::Replace(TokenTable tokens) {
  MutexLock lock(mutex_);
  if (tokens_ != nullptr) tokens_ = std::make_shared<const TokenTable>(std::move(tokens));
}

absl::StatusOr<Principal> Authorizer::Authorize(std::string_view authorization,
                                                Method method) const {
  const std::shared_ptr<const TokenTable> table = tokens();
  if (table == nullptr) return Principal{"default", Role::kAdmin};
  const MethodRow& row = RowOf(method);
  if (!row.role) return Principal{"default", Role::kViewer};
  const std::string_view token = TokenOf(authorization);
  const Principal* known = table->Find(token);
  if (token.empty() || known == nullptr) {
    return MakeError(Reason::kUnauthenticated,
                     "The call needs a token: metadata 'authorization: Bearer <token>'");
  }
  if (known->role < *row.role) {
    const std::string name(row.name);
    ErrorDetails details;
    details.metadata = {
        {"method", name}, {"role", RoleName(known->role)}, {"needed_role", RoleName(*row.role)}};
    return MakeError(Reason::kPermissionDenied,
                     absl::StrCat("The caller's role may not call this method; ", name, " needs ",
                                  RoleName(*row.role), ", the caller has ", RoleName(known->role)),
                     details);
  }
  return *known;
}

Reach ReachOf(const Principal& principal) {
  return {principal.tenant, principal.role == Role::kAdmin};
}

absl::Status StillReaches(const Principal& before, const Principal& now) {
  if (now.tenant != before.tenant) {
    return MakeError(Reason::kUnauthenticated, "The call's token belongs to another tenant now");
  }
  if (now.role < before.role && before.role == Role::kAdmin) {
    return MakeError(Reason::kPermissionDenied, "The call's token is not an admin's any more");
  }
  return absl::OkStatus();
}

}  // namespace reel::front
