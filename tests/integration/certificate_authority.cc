// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/certificate_authority.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "tests/integration/program.h"

namespace reel::tests {
namespace {

// A key and a certificate for it, signed with itself unless `more` says by whom.
Identity Make(const testing::TempFolder& folder, const std::string& name,
              const std::vector<std::string>& more) {
  Identity made{folder.File(name + ".crt"), folder.File(name + ".key")};
  std::vector<std::string> arguments = {
      "req",   "-x509", "-newkey", "ec",          "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
      "-days", "2",     "-subj",   "/CN=" + name, "-out",     made.certificate,          "-keyout",
      made.key};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult result = RunProgram("openssl", std::move(arguments));
  EXPECT_EQ(result.status, 0) << result.errors;
  return made;
}

}  // namespace

void Identity::InstallAs(const std::string& certificate_file, const std::string& key_file) const {
  for (const auto& [from, to] : {std::pair(certificate, certificate_file), {key, key_file}}) {
    std::filesystem::copy_file(from, to + ".new");
    std::filesystem::rename(to + ".new", to);
  }
}

CertificateAuthority::CertificateAuthority() : root_(Make(folder_, "authority", {})) {}

Identity CertificateAuthority::Issue(const std::string& name) const {
  return Make(folder_, name,
              {"-CA", root_.certificate, "-CAkey", root_.key, "-addext",
               "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"});
}

}  // namespace reel::tests
