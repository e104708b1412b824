// SPDX-License-Identifier: Apache-2.0
// The page that the door serves: HTML, style and script that are compiled in, with what keeps a
// browser from running anything else in it.
#pragma once

#include <string_view>

#include "server/front/http/door_message.h"

namespace reel::front {

// Of "/", "/app.js" and "/app.css".
DoorReply PageReply(std::string_view path);

// The files' texts, made from page/ by the build.
std::string_view PageHtml();
std::string_view PageScript();
std::string_view PageStyle();

}  // namespace reel::front
