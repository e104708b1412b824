// SPDX-License-Identifier: Apache-2.0
// Any bytes at all as an MP4 file, and as what its box says: either is refused, or the texts that
// are shown of it have no control characters.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "client/origin.h"

namespace {

void Expect(const std::string& text) {
  for (const char character : text) {
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7F) std::abort();
  }
}

void Read(const std::string& text) {
  const auto origin = reel::client::ParseOrigin(text);
  if (!origin.ok()) return;
  for (const auto* shown : {&origin->build, &origin->device, &origin->family, &origin->weights}) {
    Expect(*shown);
  }
  for (const std::string& adapter : origin->adapters) Expect(adapter);
  for (const auto& [op, variant] : origin->kernels) Expect(op + variant);
  if (!reel::client::Differences(*origin, *origin).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::istringstream file(bytes);
  const auto text = reel::client::FindOrigin(file);
  if (text.ok()) {
    if (text->size() > 65'536) std::abort();
    Read(*text);
  }
  Read(bytes);
  return 0;
}
