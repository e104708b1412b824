// SPDX-License-Identifier: Apache-2.0
// Files that are sent ahead of requests: larger than any message, the same result as in one, whole
// or not at all, their tenant's own, over kills, in bounded memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"
#include "tests/integration/program.h"

namespace reel::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kCard[] = " pictures: true sound: true";

v1::VideoSpec Refining(const v1::UploadedFile& file) {
  v1::VideoSpec spec = RefinementSpec();
  spec.mutable_conditions(0)->set_file(file.name());
  return spec;
}

// The same clip with so many more bytes that mean nothing, in a box at its end.
std::string Padded(std::string clip, uint32_t bytes) {
  for (int shift = 24; shift >= 0; shift -= 8) clip += static_cast<char>(bytes >> shift & 0xFF);
  return clip + "free" + std::string(bytes - 8, '.');
}

class Files : public Conformance {
 protected:
  static std::string Clip(Service& service) {
    Caller caller(service.server());
    std::string bytes;
    const std::string name = caller.Finish(ClipSpec()).name();
    EXPECT_TRUE(service.Connect().Download(name, 0, &bytes).ok());
    return bytes;
  }
  static bool NothingOnTheWay(Service& service) {
    return Eventually(
        [&] { return std::filesystem::is_empty(service.server().data_folder() + "/uploads"); });
  }
};

TEST_P(Files, AClipOf20MbGivesTheBytesOfTheSameInARequest) {
  Service service(GetParam(), {.step_ms = 5, .faults = kCard});
  Caller caller(service.server());
  const std::string clip = Clip(service);
  v1::VideoSpec in_request = RefinementSpec();
  in_request.mutable_conditions(0)->set_video(clip);
  const std::string expected = caller.Finish(in_request).media().sha256();
  const std::string large = Padded(clip, 20'000'000);
  const auto sent = caller.Upload(large);
  ASSERT_TRUE(sent.status.ok()) << sent.status.error_message();
  EXPECT_EQ(sent.file.name(), "files/" + Sha256Hex(large));
  EXPECT_EQ(sent.file.content_type(), "video/mp4");
  const v1::Video video = caller.Finish(Refining(sent.file));
  EXPECT_EQ(video.media().sha256(), expected);
  ASSERT_EQ(video.spec().conditions_size(), 1);
  EXPECT_EQ(video.spec().conditions(0).size_bytes(), std::ssize(large));
  EXPECT_EQ(caller.Upload(large).file.name(), sent.file.name());
  EXPECT_TRUE(NothingOnTheWay(service));
}

TEST_P(Files, OutliveTheServerAndSoDoesWhatNamesThem) {
  Service service(GetParam(), {.step_ms = 1000, .faults = kCard});
  const std::string large = Padded(Clip(service), 6'000'000);
  v1::UploadedFile file;
  std::string name;
  {
    Caller caller(service.server());
    file = caller.Upload(large).file;
    name = caller.Create(Refining(file)).video.name();
    caller.AwaitStep(name);
  }
  service.Restart(SIGKILL);
  Caller caller(service.server());
  const v1::Video killed = caller.Await(name);
  EXPECT_EQ(killed.state(), v1::VIDEO_STATE_SUCCEEDED) << killed.DebugString();
  EXPECT_GT(killed.attempt(), 1);
  EXPECT_EQ(caller.Finish(Refining(file)).media().sha256(), killed.media().sha256());
}

TEST_P(Files, ARequestIdIsKnownLongerThanTheFileThatItsRequestNamed) {
  Service service(GetParam(), {.step_ms = 5, .faults = kCard});
  const std::string id = NewRequestId();
  v1::UploadedFile file;
  v1::Video made;
  {
    Caller caller(service.server());
    file = caller.Upload(Clip(service)).file;
    made = caller.Await(caller.Create(Refining(file), id).video.name());
    EXPECT_EQ(made.state(), v1::VIDEO_STATE_SUCCEEDED) << made.DebugString();
  }
  service.ExpireFiles();
  Caller caller(service.server());
  EXPECT_EQ(caller.Create(Refining(file)).reason(), "FILE_NOT_FOUND");
  EXPECT_EQ(caller.Create(Refining(file), NewRequestId()).reason(), "FILE_NOT_FOUND");
  const Answer again = caller.Create(Refining(file), id);
  ASSERT_TRUE(again.ok()) << again.status.error_message();
  EXPECT_EQ(again.video.name(), made.name());
  EXPECT_EQ(again.video.media().sha256(), made.media().sha256());
  v1::VideoSpec other = Refining(file);
  other.set_seed(77);
  EXPECT_EQ(caller.Create(other, id).reason(), "REQUEST_ID_CONFLICT");
}

TEST_P(Files, WhatIsNotWholeOrNoFileIsNamedAndLeavesNothing) {
  Service service(GetParam(), {.step_ms = 5, .faults = kCard, .data = "max_file_bytes: 2000000"});
  Caller caller(service.server());
  const std::string bytes = "1234ftyp" + std::string(1'500'000, 'x');
  EXPECT_THAT(caller.Upload(bytes, 1'000'000).status.error_message(), HasSubstr("size_bytes"));
  EXPECT_THAT(caller.Upload(bytes, 1'900'000).status.error_message(), HasSubstr("size_bytes"));
  EXPECT_THAT(caller.Upload(bytes, 2'000'001).status.error_message(), HasSubstr("2000000"));
  EXPECT_THAT(caller.Upload(std::string(100, 'x')).status.error_message(), HasSubstr("data"));
  v1::UploadedFile none;
  none.set_name("files/" + Sha256Hex(bytes));
  const Answer refused = caller.Create(Refining(none));
  EXPECT_EQ(refused.reason(), "FILE_NOT_FOUND");
  EXPECT_THAT(ViolatedFields(refused.status), ElementsAre("spec.conditions[0].file"));
  none.set_name("files/../../etc/passwd");
  EXPECT_EQ(caller.Create(Refining(none)).reason(), "INVALID_REQUEST");
  EXPECT_TRUE(NothingOnTheWay(service));
  // Whole, and yet no clip: the job fails once, by name.
  const auto sent = caller.Upload(bytes);
  ASSERT_TRUE(sent.status.ok()) << sent.status.error_message();
  const v1::Video broken = caller.Await(caller.Create(Refining(sent.file)).video.name());
  EXPECT_EQ(ErrorOf(broken), "INVALID_SPEC");
}

TEST_P(Files, AreTheirTenantsAndCountInItsBytes) {
  testing::TempFolder folder;
  std::string lines;
  for (const char* const tenant : {"anna", "bert"}) {
    lines += Sha256Hex(tenant) + " " + tenant + " user\n";
  }
  const std::string tokens = folder.Write("tokens", lines);
  ::chmod(tokens.c_str(), 0600);
  Service service(GetParam(),
                  {.step_ms = 5,
                   .faults = kCard,
                   .more = absl::StrCat("auth { tokens_file: '", tokens,
                                        "' tenants { name: 'anna' max_stored_bytes: 3000000 }"
                                        " tenants { name: 'bert' } }")});
  Caller anna(service.server(), "anna"), bert(service.server(), "bert");
  const std::string bytes = "1234ftyp" + std::string(2'000'000, 'x');
  const auto sent = anna.Upload(bytes);
  ASSERT_TRUE(sent.status.ok()) << sent.status.error_message();
  EXPECT_EQ(ReasonOf(anna.Upload(bytes + "y").status), "TENANT_QUOTA");
  EXPECT_EQ(bert.Create(Refining(sent.file)).reason(), "FILE_NOT_FOUND");
  EXPECT_EQ(ReasonOf(Caller(service.server()).Upload(bytes).status), "UNAUTHENTICATED");
  EXPECT_TRUE(bert.Upload(bytes + "y").status.ok());
}

// 16 files of 64 MiB on their way in at once.
TEST_P(Files, TakeLittleMemoryHoweverManyComeAtOnce) {
  constexpr int kFiles = 16, kPieces = 256;
  constexpr size_t kPieceBytes = 256 << 10;
  Service service(GetParam(), {.step_ms = 5, .faults = kCard});
  const int64_t before = service.server().MemoryBytes();
  const auto stub = v1::VideoService::NewStub(service.server().Connect());
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts(kFiles);
  std::vector<v1::UploadFileResponse> responses(kFiles);
  std::vector<std::unique_ptr<grpc::ClientWriter<v1::UploadFileRequest>>> writers;
  for (int i = 0; i < kFiles; ++i) {
    contexts[static_cast<size_t>(i)] = std::make_unique<grpc::ClientContext>();
    writers.push_back(stub->UploadFile(contexts[static_cast<size_t>(i)].get(),
                                       &responses[static_cast<size_t>(i)]));
  }
  std::vector<std::thread> senders;
  for (auto& writer : writers) {
    senders.emplace_back([&writer] {
      v1::UploadFileRequest piece;
      piece.set_size_bytes(int64_t{64} << 20);
      for (int i = 0; i < kPieces; ++i) {
        piece.set_data(std::string(kPieceBytes - (i == 0 ? 1 : 0), 'x'));
        EXPECT_TRUE(writer->Write(piece)) << i;
        piece.clear_size_bytes();
      }
    });
  }
  int64_t most = 0;
  for (std::thread& sender : senders) {
    sender.join();
    most = std::max(most, service.server().MemoryBytes() - before);
  }
  RecordProperty("peak_mib", static_cast<int>(most >> 20));
  // A sanitizer keeps what was freed for a while.
  if (!ProgramsAreSanitized()) {
    EXPECT_LT(most, int64_t{128} << 20) << "of 1 GiB that came";
  }
  // A byte is missing of each.
  for (auto& writer : writers) writer->WritesDone();
  for (auto& writer : writers) {
    const grpc::Status status = writer->Finish();
    EXPECT_EQ(ReasonOf(status), "INVALID_REQUEST") << status.error_message();
  }
  EXPECT_TRUE(NothingOnTheWay(service));
}

REEL_EVERY_LIFE(Files);

}  // namespace
}  // namespace reel::tests
