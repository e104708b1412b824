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
  // Variants that only this profile brings, and that make it lossy; without the first it does not
  // run.
  std::array<Brought, 4> brings = {};

  const Brought& needed() const { return brings[0]; }
  bool is_lossy() const { return !needed().variant.empty(); }
};
constexpr Profile kProfiles[] = {
    {"auto"},
    {"reference"},
    {"batch_invariant"},
    {kFp8Profile,
     {{{"linear", "e4m3_rows"}, {"linear", "e4m3_rows_tuned"}, {"linear_gelu", "e4m3"}}}},
    {kFp8AttentionProfile, {{{"attention", "sm90_e4m3"}}}},
    {kFp8AllProfile,
     {{{"attention", "sm90_e4m3"},
       {"linear", "e4m3_rows"},
       {"linear", "e4m3_rows_tuned"},
       {"linear_gelu", "e4m3"}}}},
    {kCacheProfile, {{{"step_cache", "first_block"}}}},
};

// Null for the name of none.
const Profile* Find(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kProfiles), std::end(kProfiles),
                                         [&](const Profile& known) { return known.name == name; });
  return found == std::end(kProfiles) ? nullptr : found;
}

// Why the variant does not run: "" where it does.
std::string WhyMissing(const std::vector<OpListing>& ops, const Profile& profile) {
  for (const OpListing& op : ops) {
    if (op.op != profile.needed().op) continue;
    for (const VariantListing& variant : op.variants) {
      if (variant.name == profile.needed().variant) return variant.runs ? "" : variant.reason;
    }
  }
  return "this build does not have it";
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
  return profile == kFp8Profile || profile == kFp8AllProfile;
}
bool HasE4m3Attention(std::string_view profile) {
  return profile == kFp8AttentionProfile || profile == kFp8AllProfile;
}

bool IsLossyVariant(std::string_view op, std::string_view variant) {
  return std::any_of(std::begin(kProfiles), std::end(kProfiles), [&](const Profile& profile) {
    return std::any_of(profile.brings.begin(), profile.brings.end(), [&](const Brought& brought) {
      return !brought.variant.empty() && brought.op == op && brought.variant == variant;
    });
  });
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
