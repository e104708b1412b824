// SPDX-License-Identifier: Apache-2.0
// What the files of `tls` hold, checked before a listener gets it: a certificate that cannot serve
// must end a start, or be left aside by a renewal, and never end a listener that works.
#pragma once

#include <string>
#include <vector>

#include "server/front/config/server_options.h"

namespace reel::front {

// PEM.
struct TlsFiles {
  std::string certificates, key, client_ca;
};

// Reads the files that are named. Returns every problem with the key of the configuration in front;
// none: the certificates parse, the key is not encrypted and belongs to the first of them.
std::vector<std::string> ReadTlsFiles(const TlsOptions& options, TlsFiles& files);

}  // namespace reel::front
