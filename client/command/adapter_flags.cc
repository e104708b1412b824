// SPDX-License-Identifier: Apache-2.0
#include "client/command/adapter_flags.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/program/adapter_word.h"

namespace reel::client {
namespace {

v1::Adapter AdapterOf(const std::string& text) {
  const AdapterWord word = ParseAdapterWord(text);
  v1::Adapter adapter;
  adapter.set_name(word.name);
  if (word.scale) adapter.set_scale(*word.scale);
  adapter.mutable_part_scales()->insert(word.part_scales.begin(), word.part_scales.end());
  adapter.mutable_pass_scales()->Assign(word.pass_scales.begin(), word.pass_scales.end());
  return adapter;
}

std::string WhyNoAdapter(const std::string& word) {
  if (!ParseAdapterWord(word).name.empty()) return "";
  return absl::StrCat("\"", word, "\" is not NAME", kAdapterScales);
}

}  // namespace

void AdapterFlags::AddTo(CLI::App& command) {
  command
      .add_option("--adapter", words_,
                  absl::StrCat("NAME", kAdapterScales,
                               ", an adapter (LoRA) of the model, which `reel models` lists: how "
                               "much of it, of its parts (video, audio, video_to_audio, "
                               "audio_to_video) and in each pass; may be repeated"))
      ->check(WhyNoAdapter)
      ->allow_extra_args(false);
}

void AdapterFlags::Fill(v1::VideoSpec& spec) const {
  for (const std::string& word : words_) *spec.add_adapters() = AdapterOf(word);
}

}  // namespace reel::client
