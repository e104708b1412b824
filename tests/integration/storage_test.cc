// SPDX-License-Identifier: Apache-2.0
// Stored videos are bounded, checked, and never deleted because something else was damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"
#include "tests/integration/small_disk.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Storage : public ::testing::Test {
 protected:
  Storage() { setup_.data_folder = folder_.File("data"); }
  static void Stop(ReelServer& server) {
    server.Signal(SIGTERM);
    EXPECT_EQ(server.WaitForExit().value_or(-1), 0);
  }
  std::string MediaFile(const std::string& video) const {
    return folder_.File("data/media/" + video.substr(video.find('/') + 1) + ".1.mp4");
  }

  testing::TempFolder folder_;
  ServerSetup setup_;
};

TEST_F(Storage, ALostDatabaseKeepsTheFilesAndTheyComeBackWithIt) {
  std::string name, file;
  {
    ReelServer server(setup_);
    Calls calls(server.Connect());
    const StreamResult made = calls.Generate(SmallSpec("kept"));
    ASSERT_TRUE(made.status.ok()) << made.status.error_message();
    name = made.accepted.name();
    file = made.file;
    Stop(server);
  }
  for (const std::string database : {"log.db", "reel.db"}) {
    std::filesystem::rename(folder_.File("data/" + database), folder_.File("backup." + database));
  }
  {
    ReelServer server(setup_);
    Calls calls(server.Connect());
    EXPECT_THAT(calls.List(), IsEmpty());
    EXPECT_THAT(server.Log(), HasSubstr("files of videos that the database does not know"));
    EXPECT_FALSE(std::filesystem::exists(MediaFile(name)));
    EXPECT_TRUE(calls.Generate(SmallSpec("goes on")).status.ok());
    Stop(server);
  }
  for (const std::string database : {"log.db", "reel.db"}) {
    std::filesystem::rename(folder_.File("backup." + database), folder_.File("data/" + database));
  }
  ReelServer server(setup_);
  Calls calls(server.Connect());
  std::string downloaded;
  ASSERT_TRUE(calls.Download(name, 0, &downloaded).ok());
  EXPECT_EQ(downloaded, file);
}

std::string ReplicaOf(Calls& calls) {
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  EXPECT_TRUE(calls.server().GetServerInfo(&context, {}, &info).ok());
  return info.replica();
}

TEST_F(Storage, ANameTellsItsServerAndStaysWithTheFolder) {
  ReelServer other;
  std::string name, replica, bytes;
  {
    ReelServer server(setup_);
    Calls calls(server.Connect());
    replica = ReplicaOf(calls);
    name = calls.Create(SmallSpec("named")).name();
    EXPECT_EQ(name.rfind("videos/" + replica + "-", 0), 0u) << name << " of " << replica;
    calls.Await(name);
    Stop(server);
  }
  Calls elsewhere(other.Connect());
  EXPECT_NE(ReplicaOf(elsewhere), replica);
  const grpc::Status refused = elsewhere.Download(name, 0, &bytes);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ReasonOf(refused), "WRONG_REPLICA");
  EXPECT_THAT(refused.error_message(), HasSubstr("of replica " + replica));
  EXPECT_THAT(refused.error_message(), HasSubstr("this is replica " + ReplicaOf(elsewhere)));
  setup_.config = "data { max_bytes: 1000000000 replica: 'lab' }";
  ReelServer renamed(setup_);
  Calls calls(renamed.Connect());
  EXPECT_EQ(ReplicaOf(calls), "lab");
  EXPECT_EQ(calls.Get(name).state(), v1::VIDEO_STATE_SUCCEEDED);
}

TEST_F(Storage, AnUnreadableDatabaseIsRefusedWithWhatToDo) {
  std::filesystem::create_directories(folder_.File("data/media"));
  folder_.Write("data/reel.db", std::string(9000, 'x'));
  folder_.Write("data/media/r0-old.1.mp4", "precious");
  const ProgramResult refused = RunProgram(
      BinaryPath("reeld"),
      {"--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--data_dir=" + folder_.File("data"),
       "--config=" + folder_.Write("c.textproto", "models { name: 't' test_card {} }")});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.errors, HasSubstr("Put a copy of it back"));
  EXPECT_THAT(refused.errors, HasSubstr("file is not a database"));
  EXPECT_EQ(folder_.Read("data/media/r0-old.1.mp4"), "precious");
}

TEST_F(Storage, AFlippedByteIsDataLossAndNoDamagedByteLeaves) {
  ReelServer server(setup_);
  Calls calls(server.Connect());
  const StreamResult made = calls.Generate(SmallSpec("damaged"));
  const StreamResult other = calls.Generate(SmallSpec("whole"));
  ASSERT_TRUE(made.status.ok() && other.status.ok());
  const std::string name = made.accepted.name();
  const auto half = static_cast<int64_t>(made.file.size() / 2);
  {
    std::fstream media(MediaFile(name), std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(media.is_open());
    media.seekp(half);
    media.put(static_cast<char>(made.file[static_cast<size_t>(half)] ^ 1));
  }
  for (const int64_t offset : {int64_t{0}, half}) {
    std::string bytes;
    const grpc::Status lost = calls.Download(name, offset, &bytes);
    EXPECT_EQ(lost.error_code(), grpc::StatusCode::DATA_LOSS) << lost.error_message();
    EXPECT_EQ(ReasonOf(lost), "MEDIA_CORRUPT");
    EXPECT_THAT(lost.error_details(), HasSubstr("google.rpc.ResourceInfo"));
    EXPECT_THAT(lost.error_details(), HasSubstr(name));
    EXPECT_EQ(made.file.compare(static_cast<size_t>(offset), bytes.size(), bytes), 0);
  }
  v1::WatchVideoRequest watch;
  watch.set_name(name);
  EXPECT_EQ(calls.Watch(watch).reason(), "MEDIA_CORRUPT");
  EXPECT_THAT(server.Log(), HasSubstr("A stored video is damaged"));
  std::string whole;
  EXPECT_TRUE(calls.Download(other.accepted.name(), 0, &whole).ok());
  EXPECT_EQ(whole, other.file);
}

// A caller of the one tenant that has a limit.
class Tenant {
 public:
  Tenant(const testing::TempFolder& folder, int64_t max_stored_bytes) {
    const std::string tokens = folder.Write("tokens", Sha256Hex("secret") + " small user\n");
    ::chmod(tokens.c_str(), 0600);
    config_ =
        absl::StrCat("auth { tokens_file: '", tokens,
                     "' tenants { name: 'small' max_stored_bytes: ", max_stored_bytes, " } }");
  }
  const std::string& config() const { return config_; }
  static void Sign(grpc::ClientContext& context) {
    context.AddMetadata("authorization", "Bearer secret");
  }
  static grpc::Status Create(Calls& calls, const v1::VideoSpec& spec, std::string* name = nullptr) {
    v1::CreateVideoRequest request;
    *request.mutable_spec() = spec;
    v1::CreateVideoResponse response;
    grpc::ClientContext context;
    Sign(context);
    const grpc::Status status = calls.videos().CreateVideo(&context, request, &response);
    if (name != nullptr) *name = response.video().name();
    return status;
  }
  static v1::Video Await(Calls& calls, const std::string& name) {
    v1::Video video;
    Eventually([&] {
      v1::GetVideoRequest request;
      request.set_name(name);
      v1::GetVideoResponse response;
      grpc::ClientContext context;
      Sign(context);
      calls.videos().GetVideo(&context, request, &response);
      video = response.video();
      return video.state() >= v1::VIDEO_STATE_SUCCEEDED;
    });
    return video;
  }

 private:
  std::string config_;
};

int64_t BytesIn(const std::string& folder) {
  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += static_cast<int64_t>(entry.file_size());
  }
  return bytes;
}

TEST_F(Storage, ATenantsBytesAreBoundedHoweverManyVideosRunAtOnce) {
  constexpr int64_t kLimit = 60'000;
  const Tenant tenant(folder_, kLimit);
  setup_.config = tenant.config();
  ReelServer server(setup_);
  Calls calls(server.Connect());
  const auto create_many = [&] {
    std::vector<std::string> names;
    for (int i = 0; i < 40; ++i) {
      std::string name;
      const grpc::Status created =
          Tenant::Create(calls, SmallSpec("x", static_cast<uint64_t>(i)), &name);
      if (created.ok()) {
        names.push_back(name);
        continue;
      }
      EXPECT_EQ(ReasonOf(created), "TENANT_QUOTA");
      EXPECT_THAT(created.error_message(), HasSubstr(absl::StrCat("of ", kLimit, " allowed")));
    }
    for (const std::string& name : names) Tenant::Await(calls, name);
    return names.size();
  };
  EXPECT_GE(create_many(), 1U);  // of unknown size: one after the other
  create_many();
  EXPECT_LE(BytesIn(folder_.File("data/media")), kLimit);
  EXPECT_GT(BytesIn(folder_.File("data/media")), 0);
}

TEST_F(Storage, AReadOnlyDataFolderIsRefusedAtStart) {
  SmallDisk disk(MS_RDONLY);
  if (!disk.mounted()) GTEST_SKIP() << "SKIPPED: no right to mount a read-only disk";
  for (const char* below : {"", "data"}) {
    const ProgramResult refused = RunProgram(
        BinaryPath("reeld"),
        {"--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--data_dir=" + disk.path(below),
         "--config=" + folder_.Write("c.textproto", "models { name: 't' test_card {} }")});
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.errors, HasSubstr("Read-only file system"));
  }
}

}  // namespace
}  // namespace reel::tests
