// SPDX-License-Identifier: Apache-2.0
// Checks of a flag's text beyond its conversion to a type: a program never takes another value
// than the one that was typed. Each function says what is wrong; empty: nothing.
#pragma once

#include <string>

namespace reel {

// A number of 64 bits. Conversions wrap what is negative and cut what is too large.
std::string WhyNotSeed(const std::string& text);
// For values whose 0 means "not given" to a server, which a typed 0 does not.
std::string WhyNotAboveZero(const std::string& text);
// For texts, likewise.
std::string WhyEmpty(const std::string& text);
// For a file that will be an MP4, whatever it is called: another ending is a mistake. "-" is fine.
std::string WhyNotMp4(const std::string& path);

}  // namespace reel
