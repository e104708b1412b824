// SPDX-License-Identifier: Apache-2.0
// The rules of spec_rules.h that hold for every model.
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "model/continuation_rules.h"
#include "model/spec_rules.h"
#include "model/utf8.h"

namespace reel::model {
namespace {

constexpr size_t kMaxNameBytes = 63;
constexpr int64_t kMaxVariants = 64;
constexpr int64_t kMaxCrf = 51;

// Messages repeat only a prompt's length.
void CheckPrompt(std::string_view field, const std::string& text, const RequestLimits& limits,
                 ViolationList& out) {
  const auto bytes = static_cast<int64_t>(text.size());
  if (bytes > limits.max_prompt_bytes) {
    out.Add(std::string(field), absl::StrCat(bytes, " bytes, above ", limits.max_prompt_bytes,
                                             "; nearest: ", limits.max_prompt_bytes));
    return;
  }
  const auto characters = CountCharacters(text);
  if (!characters) {
    out.Add(std::string(field), absl::StrCat("the ", bytes, " bytes are not valid UTF-8"));
    return;
  }
  if (text.find('\0') != std::string::npos) {
    out.Add(std::string(field),
            absl::StrCat("the ", bytes, " bytes contain a NUL character; remove it"));
  }
  if (*characters > limits.max_prompt_chars) {
    out.Add(std::string(field),
            absl::StrCat(*characters, " characters, above ", limits.max_prompt_chars,
                         "; nearest: ", limits.max_prompt_chars));
  }
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

bool IsName(std::string_view text) {
  if (text.empty() || text.size() > kMaxNameBytes) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && c != '.' && c != '_' && c != '-' && c != ':') return false;
  }
  return true;
}

// Names are looked up elsewhere; this refuses only malformed ones.
void CheckName(std::string_view field, std::string_view name, ViolationList& out) {
  if (name.empty() || IsName(name)) return;
  out.Add(std::string(field), absl::StrCat(Quoted(name), " is not a name: 1 to ", kMaxNameBytes,
                                           " letters, digits and . _ - :"));
}

void CheckKernels(const KernelSelection& kernels, ViolationList& out) {
  CheckName("kernels.profile", kernels.profile, out);
  CheckName("kernels.experiment", kernels.experiment, out);
  CheckName("kernels.arm", kernels.arm, out);
  const auto count = static_cast<int64_t>(kernels.variants.size());
  if (!out.InRange("kernels.variants", count, int64_t{0}, kMaxVariants)) return;
  for (const auto& [op, variant] : kernels.variants) {
    if (!IsName(op) || !IsName(variant)) {
      out.Add("kernels.variants", absl::StrCat(Quoted(op), " to ", Quoted(variant),
                                               " are not names of an operator and a variant"));
    }
  }
}

void CheckConditions(const GenerationSpec& spec, const RequestLimits& limits, ViolationList& out) {
  const auto count = static_cast<int64_t>(spec.conditions.size());
  if (!out.InRange("conditions", count, int64_t{0}, int64_t{limits.max_conditions})) return;
  int64_t total = 0, of_files = 0;
  for (size_t i = 0; i < spec.conditions.size(); ++i) {
    const Condition& condition = spec.conditions[i];
    const std::string field = absl::StrCat("conditions[", i, "]");
    const int64_t size = condition.bytes != nullptr ? static_cast<int64_t>(condition.bytes->size())
                                                    : condition.size_bytes;
    // What is known by its description alone was sent ahead, or in a message.
    const bool by_itself = condition.bytes == nullptr;
    const int64_t most = by_itself ? limits.max_file_bytes : limits.max_condition_bytes;
    if (out.InRange(field + ".size_bytes", size, int64_t{1}, most)) {
      (by_itself ? of_files : total) += size;
    }
    if (condition.strength) out.InRange(field + ".strength", *condition.strength, 0.0, 1.0);
    if (!condition.attention_strength) continue;
    const std::string attention = field + ".attention_strength";
    if (condition.is_reference()) {
      out.InRange(attention, *condition.attention_strength, 0.0, 1.0);
    } else {
      out.Add(attention, "only a reference clip has one; nearest: leave it out");
    }
  }
  if (total > limits.max_condition_bytes) {
    out.Add("conditions", absl::StrCat(total, " bytes together, above ", limits.max_condition_bytes,
                                       "; nearest: ", limits.max_condition_bytes));
  }
  if (of_files > limits.max_file_bytes) {
    out.Add("conditions",
            absl::StrCat("files of ", of_files, " bytes together, above ", limits.max_file_bytes,
                         "; nearest: ", limits.max_file_bytes));
  }
}

}  // namespace

void CheckForAnyModel(const GenerationSpec& spec, const RequestLimits& limits, ViolationList& out) {
  CheckName("worker", spec.worker, out);
  if (IsBlank(spec.prompt)) out.Add("prompt", "is empty; say what to show");
  CheckPrompt("prompt", spec.prompt, limits, out);
  CheckPrompt("negative_prompt", spec.negative_prompt.value_or(""), limits, out);
  CheckConditions(spec, limits, out);
  CheckKernels(spec.kernels, out);
  CheckSource(spec, out);
  out.InRange("preview.every_steps", int64_t{spec.preview.every_steps}, int64_t{0},
              int64_t{std::numeric_limits<int>::max()});
  if (spec.preview.max_side != 0) {
    out.InRange("preview.max_side", int64_t{spec.preview.max_side},
                int64_t{limits.min_preview_side}, int64_t{limits.max_preview_side});
  }
  if (spec.encoding.crf) {
    out.InRange("encoding.crf", int64_t{*spec.encoding.crf}, int64_t{0}, kMaxCrf);
  }
}

}  // namespace reel::model
