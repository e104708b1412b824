// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "server/front/curl/curl.h"
#include "tests/fakes/temp_folder.h"
#include "tests/fakes/trace_receiver.h"

namespace reel::front {
namespace {

CURLcode Post(const std::string& url) {
  const CurlLibrary library;
  const CurlHandle call(curl_easy_init());
  SetTransport(call.get(), url.c_str());
  curl_easy_setopt(call.get(), CURLOPT_TIMEOUT_MS, 30'000L);
  curl_easy_setopt(call.get(), CURLOPT_POSTFIELDS, "{}");
  curl_easy_setopt(
      call.get(), CURLOPT_WRITEFUNCTION, +[](char*, size_t, size_t count, void*) { return count; });
  return curl_easy_perform(call.get());
}

TEST(CurlTransport, SpeaksHttpAlone) {
  testing::TraceReceiver receiver;
  EXPECT_EQ(Post(receiver.endpoint() + "/a/../b"), CURLE_OK);
  EXPECT_EQ(receiver.Received().back().path, "/a/../b");  // as a signature has it
  const testing::TempFolder folder;
  EXPECT_EQ(Post("file://" + folder.Write("secret", "x")), CURLE_UNSUPPORTED_PROTOCOL);
  EXPECT_EQ(Post("ftp://127.0.0.1/x"), CURLE_UNSUPPORTED_PROTOCOL);
}

TEST(CurlTransport, NoProxyOfTheEnvironmentCounts) {
  testing::TraceReceiver receiver, proxy;
  ASSERT_EQ(setenv("http_proxy", proxy.endpoint().c_str(), 1), 0);
  EXPECT_EQ(Post(receiver.endpoint()), CURLE_OK);
  unsetenv("http_proxy");
  EXPECT_EQ(receiver.Received().size(), 1U);
  EXPECT_EQ(proxy.Received().size(), 0U);
}

TEST(CurlTransport, NoTimeIsNotWithoutLimit) {
  EXPECT_EQ(CurlMilliseconds(absl::ZeroDuration()), 1);
  EXPECT_EQ(CurlMilliseconds(absl::Microseconds(2500)), 2);
}

}  // namespace
}  // namespace reel::front
