// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/kernel_profiles.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "kernels/dispatch/absl_view.h"

namespace reel::kernels {
namespace {

struct Brought {
  std::string_view op, variant;
};
struct Profile {
  std::string_view name;
  // Variants that only this lossy profile selects; it runs where the first does, or another one of
  // the same operator.
  std::array<Brought, 5> brings = {};

  const Brought& needed() const { return brings[0]; }
  bool Brings(std::string_view op, std::string_view variant) const {
    return std::any_of(brings.begin(), brings.end(), [&](const Brought& brought) {
      return !brought.variant.empty() && brought.op == op && brought.variant == variant;
    });
  }
  bool is_lossy() const { return !needed().variant.empty(); }
};
constexpr Profile kProfiles[] = {
    {"auto"},
    {"reference"},
    {"batch_invariant"},
    {kInt8Profile, {{{"linear", "sm90_int8"}, {"linear", "int8_rows"}}}},
    {kInt8AllProfile,
     {{{"attention", "sm90_int8"}, {"linear", "sm90_int8"}, {"linear", "int8_rows"}}}},
    {kFp8Profile,
     {{{"linear", "e4m3_rows"}, {"linear", "e4m3_rows_tuned"}, {"linear_gelu", "e4m3"}}}},
    {kFp8AttentionProfile, {{{"attention", "sm90_e4m3"}}}},
    {kFp8AllProfile,
     {{{"attention", "sm90_e4m3"},
       {"linear", "e4m3_rows"},
       {"linear", "e4m3_rows_tuned"},
       {"linear_gelu", "e4m3"}}}},
    {kRoutedProfile,
     {{{"attention", "sm90_routed"},
       {"attention", "sm90_e4m3"},
       {"linear", "e4m3_rows"},
       {"linear", "e4m3_rows_tuned"},
       {"linear_gelu", "e4m3"}}}},
    {kCacheProfile, {{{"step_cache", "first_block"}}}},
};

// Null for an unknown name.
const Profile* Find(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kProfiles), std::end(kProfiles),
                                         [&](const Profile& known) { return known.name == name; });
  return found == std::end(kProfiles) ? nullptr : found;
}

// Why a needed variant does not run; "": it runs.
std::string WhyMissing(const std::vector<OpListing>& ops, const Profile& profile) {
  std::string reason = "this build does not have it";
  for (const OpListing& op : ops) {
    if (op.op != profile.needed().op) continue;
    for (const VariantListing& variant : op.variants) {
      if (!profile.Brings(op.op, variant.name)) continue;
      if (variant.runs) return "";
      if (variant.name == profile.needed().variant) reason = variant.reason;
    }
  }
  return reason;
}

}  // namespace

const std::vector<std::string>& BuiltInProfiles() {
  static const auto* const names = [] {
    auto* const all = new std::vector<std::string>;
    for (const Profile& profile : kProfiles) all->emplace_back(profile.name);
    return all;
  }();
  return *names;
}

bool IsLossyProfile(std::string_view profile) {
  const Profile* const found = Find(profile);
  return found != nullptr && found->is_lossy();
}

bool HasE4m3Layers(std::string_view profile) {
  return profile == kFp8Profile || profile == kFp8AllProfile || profile == kRoutedProfile;
}
bool HasInt8Layers(std::string_view profile) {
  return profile == kInt8Profile || profile == kInt8AllProfile;
}
bool HasE4m3Attention(std::string_view profile) {
  return profile == kFp8AttentionProfile || profile == kFp8AllProfile || profile == kRoutedProfile;
}
bool HasInt8Attention(std::string_view profile) { return profile == kInt8AllProfile; }
bool HasRoutedAttention(std::string_view profile) { return profile == kRoutedProfile; }

bool IsLossyVariant(std::string_view op, std::string_view variant) {
  return std::any_of(std::begin(kProfiles), std::end(kProfiles),
                     [&](const Profile& profile) { return profile.Brings(op, variant); });
}

absl::Status CheckProfileRuns(const std::vector<OpListing>& ops, std::string_view profile) {
  const Profile* const found = Find(profile);
  if (found == nullptr || !found->is_lossy()) return absl::OkStatus();
  const std::string reason = WhyMissing(ops, *found);
  if (reason.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "The kernel profile '", View(profile), "' cannot run here: its variant '",
      View(found->needed().variant), "' of '", View(found->needed().op), "': ", reason));
}

}  // namespace reel::kernels
