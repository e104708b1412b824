// SPDX-License-Identifier: Apache-2.0
#include "client/command/arm.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::client {

absl::StatusOr<Arm> ParseArm(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, '+');
  Arm arm{text, words.front(), {}};
  bool good = !text.empty() && arm.profile.find('=') == std::string::npos;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    good = good && equals != 0 && equals != std::string::npos && equals + 1 < words[i].size();
    if (good) arm.variants[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  if (good) return arm;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not PROFILE, PROFILE+OP=VARIANT or +OP=VARIANT"));
}

void Select(const Arm& arm, v1::VideoSpec& spec) {
  v1::KernelSelection& kernels = *spec.mutable_kernels();
  kernels.set_profile(arm.profile);
  kernels.set_experiment("-");  // what the arm says, and nothing else
  kernels.mutable_variants()->clear();
  kernels.mutable_variants()->insert(arm.variants.begin(), arm.variants.end());
}

std::map<std::string, std::string> VariantsThatRan(const v1::RunStats& stats) {
  std::map<std::string, std::string> ran;
  for (const v1::KernelUse& use : stats.kernels()) {
    std::string& variants = ran[use.op()];
    absl::StrAppend(&variants, variants.empty() ? "" : ", ", use.variant(),
                    use.lossy() ? " (lossy)" : "");
  }
  return ran;
}

bool RanLossy(const v1::RunStats& stats) {
  return std::any_of(stats.kernels().begin(), stats.kernels().end(),
                     [](const v1::KernelUse& use) { return use.lossy(); });
}

}  // namespace reel::client
