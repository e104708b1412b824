// SPDX-License-Identifier: Apache-2.0
#include "client/command/adapter_flags.h"

#include "absl/strings/numbers.h"

namespace reel::client {
namespace {

// A number after the last colon is the scale.
v1::Adapter AdapterOf(const std::string& word) {
  v1::Adapter adapter;
  adapter.set_name(word);
  const size_t colon = word.rfind(':');
  double scale = 0;
  if (colon != std::string::npos && absl::SimpleAtod(word.substr(colon + 1), &scale)) {
    adapter.set_name(word.substr(0, colon));
    adapter.set_scale(scale);
  }
  return adapter;
}

std::string WhyNoAdapter(const std::string& word) {
  return AdapterOf(word).name().empty() ? "\"" + word + "\" is not NAME[:SCALE]" : "";
}

}  // namespace

void AdapterFlags::AddTo(CLI::App& command) {
  command
      .add_option("--adapter", words_,
                  "NAME[:SCALE], an adapter (LoRA) of the model; `reel models` lists them; may be "
                  "repeated")
      ->check(WhyNoAdapter)
      ->allow_extra_args(false);
}

void AdapterFlags::Fill(v1::VideoSpec& spec) const {
  for (const std::string& word : words_) *spec.add_adapters() = AdapterOf(word);
}

}  // namespace reel::client
