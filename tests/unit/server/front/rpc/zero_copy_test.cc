// SPDX-License-Identifier: Apache-2.0
// CVE-2024-11407: gRPC's sends without copies mix up data. They are off unless a program asks.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <string>

#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace {

std::atomic<int> sends = 0, sends_without_copies = 0;

}  // namespace

#if defined(__has_feature)
#define REEL_HAS(feature) __has_feature(feature)
#else
#define REEL_HAS(feature) 0
#endif
// A sanitizer has a sendmsg of its own, which it needs.
#if !REEL_HAS(address_sanitizer) && !REEL_HAS(thread_sanitizer)
#define REEL_WATCHES_SENDS 1
// Instead of libc's, by which gRPC sends.
extern "C" ssize_t sendmsg(int descriptor, const msghdr* message, int flags) {
  static auto* const original = reinterpret_cast<decltype(&sendmsg)>(::dlsym(RTLD_NEXT, "sendmsg"));
  ++sends;
  if ((flags & MSG_ZEROCOPY) != 0) ++sends_without_copies;
  return original(descriptor, message, flags);
}
#else
#define REEL_WATCHES_SENDS 0
#endif

namespace reel::front {
namespace {

TEST(ZeroCopy, NoSendGoesWithoutCopies) {
  if (REEL_WATCHES_SENDS == 0) GTEST_SKIP() << "a sanitizer watches what is sent";
  RpcServer server;
  server.jobs.Add("r1-a");
  grpc::ClientContext context;
  v1::CreateVideoRequest request;
  v1::CreateVideoResponse response;
  // Above the size from which gRPC leaves out copies.
  request.mutable_spec()->add_conditions()->set_image(std::string(1 << 20, 'x'));
  ASSERT_TRUE(server.video().CreateVideo(&context, request, &response).ok());
  EXPECT_GT(sends, 2);
  EXPECT_EQ(sends_without_copies, 0);
}

}  // namespace
}  // namespace reel::front
