// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/log_connection.h"

namespace reel::front {
namespace {

struct FreeBytes {
  void operator()(unsigned char* bytes) const { std::free(bytes); }
};
using Signature = std::unique_ptr<unsigned char, FreeBytes>;

// Of all nonces but those whose signature libnats would not send.
TEST(LogAccess, SignsWhatIsSentAndNothingElse) {
  // The first key of RFC 8032, 7.1, as NATS writes keys.
  std::string seed = "SUAJ2YNRTXX72WTAXKCEV5ES5QWMIRCJYVUXWMTJDFYDXLADDSXH6YALCA";
  ASSERT_EQ(nats_Open(-1), NATS_OK);
  int refused = 0;
  // The signature of 131 begins with a zero.
  for (int i = 100; i < 164; ++i) {
    const std::string nonce = absl::StrCat("nonce ", i);
    unsigned char* bytes = nullptr;
    int size = 0;
    ASSERT_EQ(nats_Sign(seed.c_str(), nonce.c_str(), &bytes, &size), NATS_OK);
    const Signature wanted(bytes);
    bytes = nullptr;
    const natsStatus status = SignNonce(nullptr, &bytes, &size, nonce.c_str(), &seed);
    const Signature made(bytes);
    if (wanted.get()[0] == 0) {
      ++refused;
      EXPECT_NE(status, NATS_OK);
      EXPECT_EQ(made, nullptr);
      continue;
    }
    ASSERT_EQ(status, NATS_OK);
    ASSERT_EQ(size, 64);
    EXPECT_TRUE(std::equal(made.get(), made.get() + size, wanted.get()));
  }
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace reel::front
