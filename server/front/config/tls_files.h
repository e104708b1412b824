// SPDX-License-Identifier: Apache-2.0
// The files of `tls`, checked before a listener gets them. A certificate that cannot serve ends a
// start and is left aside by a renewal; it never ends a listener that works.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace reel::config::v1 {
class Tls;
}

namespace reel::front {

struct TlsOptions {
  std::string certificate_file, key_file;  // empty: no TLS
  std::string client_ca_file;              // set: clients must present a certificate of it
  bool enabled() const { return !certificate_file.empty(); }
};

TlsOptions TlsOptionsOf(const config::v1::Tls& tls);

struct TlsFiles {
  std::string certificates, key, client_ca;         // PEM
  absl::Time valid_until = absl::InfiniteFuture();  // of the first certificate
};

// Where in the configuration they are named.
struct TlsKeys {
  const char* certificate = "tls.certificate_file";
  const char* key = "tls.key_file";
  const char* ca = "tls.client_ca_file";
};

// Reads the files that are named. Returns every problem with the key of the configuration in front;
// none: the certificates parse, the key is not encrypted and belongs to the first of them.
std::vector<std::string> ReadTlsFiles(const TlsOptions& options, TlsFiles& files,
                                      const TlsKeys& keys = {});

}  // namespace reel::front
