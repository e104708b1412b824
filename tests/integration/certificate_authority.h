// SPDX-License-Identifier: Apache-2.0
// Certificates that a test makes for itself, with the openssl command.
#pragma once

#include <string>

#include "tests/fakes/temp_folder.h"

namespace reel::tests {

// Paths of PEM files.
struct Identity {
  std::string certificate, key;
  // Copies them as a renewal does: each file appears whole, one after the other.
  void InstallAs(const std::string& certificate_file, const std::string& key_file) const;
};

class CertificateAuthority {
 public:
  CertificateAuthority();

  // Its own certificate: what those who trust it are given.
  const std::string& root() const { return root_.certificate; }
  // A new key and a certificate for it, good for 127.0.0.1 and for clients; the files live as long
  // as the authority.
  Identity Issue(const std::string& name) const;

 private:
  testing::TempFolder folder_;
  Identity root_;
};

}  // namespace reel::tests
