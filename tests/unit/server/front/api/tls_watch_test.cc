// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/tls_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/certificate_authority.h"

namespace reel::front {
namespace {

TEST(TlsWatch, GivesEachGoodVersionOnce) {
  const tests::CertificateAuthority authority;
  const ::reel::testing::TempFolder folder;
  TlsOptions options;
  options.certificate_file = folder.File("tls.crt");
  options.key_file = folder.File("tls.key");
  int heard = 0;
  TlsWatch watch(options, [&heard](absl::Time) { ++heard; });
  std::optional<TlsFiles> fresh;
  EXPECT_FALSE(watch.Look(fresh).empty());  // there are none yet
  EXPECT_FALSE(fresh);

  const auto install = [&options](const tests::Identity& identity) {
    identity.InstallAs(options.certificate_file, options.key_file);
  };
  install(authority.Issue("one"));
  EXPECT_TRUE(watch.Look(fresh).empty());
  ASSERT_TRUE(fresh);
  const std::string first = fresh->certificates;
  EXPECT_FALSE(watch.Renewed());

  folder.Write("tls.crt", "no certificate");
  EXPECT_FALSE(watch.Renewed());
  install(authority.Issue("two"));
  const auto renewed = watch.Renewed();
  ASSERT_TRUE(renewed);
  EXPECT_NE(renewed->certificates, first);
  EXPECT_FALSE(watch.Renewed());
  EXPECT_EQ(heard, 2);
}

}  // namespace
}  // namespace reel::front
