// SPDX-License-Identifier: Apache-2.0
// Checks a flag's text before its conversion, so that a program never uses a value other than the
// typed one. Each function returns the problem; empty: none.
#pragma once

#include <string>

namespace reel {

// Checks a number of 64 bits. Conversions wrap negative values and truncate large ones.
std::string WhyNotSeed(const std::string& text);
// For values whose 0 means "not given" to a server.
std::string WhyNotAboveZero(const std::string& text);
// The same for texts.
std::string WhyEmpty(const std::string& text);
// For a file that will be an MP4: any other ending is a mistake. "-" is fine.
std::string WhyNotMp4(const std::string& path);

}  // namespace reel
