// SPDX-License-Identifier: Apache-2.0
#include "server/render/safetensors_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/fakes/temp_folder.h"

namespace reel::render {
namespace {

using ::testing::StartsWith;

absl::Span<const std::byte> Bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(float)};
}

TEST(SafetensorsWriter, WritesHeaderAndDataInOrder) {
  const reel::testing::TempFolder folder;
  auto file = *PartFile::Open(folder.File("a.safetensors"), PartFile::Mode::kScratch);
  SafetensorsWriter writer(file, {{"latents", {1, 2}}, {"frames", {1, 1, 1, 3}}});
  ASSERT_TRUE(writer.WriteHeader().ok());
  ASSERT_TRUE(writer.Write(Bytes({1, 2})).ok());
  ASSERT_TRUE(writer.Write(Bytes({3, 4, 5})).ok());
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(file.Commit().ok());

  const std::string bytes = folder.Read("a.safetensors");
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  EXPECT_EQ(header % 8, 0u);
  EXPECT_THAT(bytes.substr(8),
              StartsWith(R"({"latents":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                         R"("frames":{"dtype":"F32","shape":[1,1,1,3],"data_offsets":[8,20]}})"));
  ASSERT_EQ(bytes.size(), 8 + header + 20);
  float last = 0;
  std::memcpy(&last, bytes.data() + bytes.size() - 4, sizeof(last));
  EXPECT_EQ(last, 5);
}

TEST(SafetensorsWriter, WritesMetadataBeforeTheTensors) {
  const reel::testing::TempFolder folder;
  auto file = *PartFile::Open(folder.File("a.safetensors"), PartFile::Mode::kScratch);
  SafetensorsWriter writer(file, {{"a", {1}}}, {{"rate", "8000"}, {"sound", "mono"}});
  ASSERT_TRUE(writer.WriteHeader().ok());
  ASSERT_TRUE(writer.Write(Bytes({1})).ok());
  ASSERT_TRUE(file.Commit().ok());
  EXPECT_THAT(folder.Read("a.safetensors").substr(8),
              StartsWith(R"({"__metadata__":{"rate":"8000","sound":"mono"},"a":{"dtype")"));
}

TEST(SafetensorsWriter, NoticesMissingData) {
  const reel::testing::TempFolder folder;
  auto file = *PartFile::Open(folder.File("a.safetensors"), PartFile::Mode::kScratch);
  SafetensorsWriter writer(file, {{"frames", {2}}});
  ASSERT_TRUE(writer.WriteHeader().ok());
  ASSERT_TRUE(writer.Write(Bytes({1})).ok());
  EXPECT_EQ(writer.Finish().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace reel::render
