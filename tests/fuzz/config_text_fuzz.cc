// SPDX-License-Identifier: Apache-2.0
// Any bytes as a configuration: problems are told, or it can be written to the log in one line.
#include <cstdlib>
#include <string>

#include "reel/config/v1/config.pb.h"
#include "server/front/config/load_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  reel::config::v1::ServerConfig config;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!reel::front::ParseConfigText(text, config).empty()) return 0;
  if (reel::front::ConfigForLog(config).find('\n') != std::string::npos) std::abort();
  return 0;
}
