// SPDX-License-Identifier: Apache-2.0
// A Content-Type, a line's end, and any bytes as a body of it: refused, or fields within their
// limits, whose texts a message can hold.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "server/front/http/door_json.h"
#include "server/front/http/facade_fields.h"
#include "server/front/http/form_body.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), input.size());
  const std::string_view type = input.substr(0, line);
  const std::string_view body = input.substr(std::min(line + 1, input.size()));
  const auto parts = reel::front::ParseFormBody(type, body);
  if (parts.ok() && parts->size() > static_cast<size_t>(reel::front::kMaxFormParts)) std::abort();
  if (reel::front::BodyTypeOf(type) == reel::front::BodyType::kOther) return 0;
  const auto ask = reel::front::ReadFacadeAsk(type, body, {{reel::front::ServedModel()}, {}});
  if (!ask.ok()) return 0;
  const reel::v1::VideoSpec& spec = ask->request.spec();
  if (!reel::front::IsUtf8(spec.prompt()) || spec.num_frames() < 0 || spec.width() < 0) {
    std::abort();
  }
  return 0;
}
