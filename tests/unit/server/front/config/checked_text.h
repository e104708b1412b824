// SPDX-License-Identifier: Apache-2.0
// Reads a configuration's text as reeld does, but for files and flags.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reel/config/v1/config.pb.h"
#include "server/front/config/config_checks.h"
#include "server/front/config/default_config.h"
#include "server/front/config/load_config.h"

namespace reel::front {

inline config::v1::ServerConfig ParsedText(const std::string& text) {
  config::v1::ServerConfig config;
  EXPECT_THAT(ParseConfigText(text, config), ::testing::IsEmpty());
  return config;
}

struct CheckedConfig {
  config::v1::ServerConfig config;
  std::vector<std::string> problems, warnings;
};

inline CheckedConfig CheckMessage(config::v1::ServerConfig config) {
  Surroundings surroundings = {"/state", ""};
  surroundings.host_name = "host-7";
  FillDefaults(surroundings, config);
  ConfigFindings findings = CheckConfig(config);
  return {std::move(config), std::move(findings.problems), std::move(findings.warnings)};
}

inline CheckedConfig CheckText(const std::string& text) { return CheckMessage(ParsedText(text)); }

}  // namespace reel::front
