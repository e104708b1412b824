// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_intake.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "server/errors/error.h"
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

namespace reel::front {
namespace {

constexpr size_t kFilePieceBytes = 256 << 10;
constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";

// An answer, and who waits for it on the loop's thread.
template <typename T>
struct Awaited {
  explicit Awaited(HttpStream::executor_type executor)
      : told(std::move(executor), std::chrono::steady_clock::time_point::max()) {}
  boost::asio::steady_timer told;
  std::optional<T> answer;
};

}  // namespace

template <typename T, typename Begin>
FileIntake::Awaitable<T> FileIntake::AnswerOf(Begin begin) {
  const auto awaited = std::make_shared<Awaited<T>>(stream_.get_executor());
  begin([awaited](T answer) {
    boost::asio::post(awaited->told.get_executor(),
                      [awaited, answer = std::move(answer)]() mutable {
                        awaited->answer = std::move(answer);
                        awaited->told.cancel();
                      });
  });
  while (!awaited->answer) {
    HttpStream::ErrorCode ignored;
    co_await awaited->told.async_wait(Await(ignored));
  }
  co_return *std::move(awaited->answer);
}

FileIntake::Awaitable<absl::StatusOr<UploadedFile>> FileIntake::Run(const Door& door,
                                                                    const DoorRequest& request) {
  using Begun = absl::StatusOr<std::unique_ptr<FileUpload>>;
  stream_.Limit(absl::InfiniteDuration());
  const auto begin = [&](auto done) { door.BeginFile(request, std::move(done)); };
  Begun upload = co_await AnswerOf<Begun>(begin);
  if (!upload.ok()) co_return upload.status();
  const absl::Status told = co_await TellToGoOn(request);
  if (!told.ok()) co_return told;
  const absl::Status taken = co_await TakePieces(BodyOf(request.head).length, **upload);
  if (!taken.ok()) co_return taken;
  const auto finish = [&](auto done) { (*upload)->Finish("", std::move(done)); };
  absl::StatusOr<UploadedFile> file = co_await AnswerOf<absl::StatusOr<UploadedFile>>(finish);
  buffer_.shrink_to_fit();
  co_return file;
}

FileIntake::Awaitable<absl::Status> FileIntake::TellToGoOn(const DoorRequest& request) {
  const bool waits = request.head.Count("expect") > 0 && ExpectsContinue(request.head);
  if (!waits) co_return absl::OkStatus();
  stream_.Limit(patience_);
  HttpStream::ErrorCode code;
  const auto text = boost::asio::buffer(kGoOn);
  co_await boost::asio::async_write(stream_, text, Await(code));
  if (code) co_return absl::CancelledError();
  co_return absl::OkStatus();
}

FileIntake::Awaitable<absl::Status> FileIntake::TakePieces(int64_t length, FileUpload& upload) {
  for (int64_t left = length; left > 0;) {
    absl::StatusOr<std::string> piece = co_await ReadPiece(left);
    if (!piece.ok()) co_return piece.status();
    left -= std::ssize(*piece);
    const auto append = [&](auto done) { upload.Append(*std::move(piece), std::move(done)); };
    const absl::Status written = co_await AnswerOf<absl::Status>(append);
    if (!written.ok()) co_return written;
  }
  co_return absl::OkStatus();
}

absl::Status FileIntake::NotInTime() {
  late_ = true;
  return MakeError(Reason::kRequestNotReceived, "The file did not come in time");
}

FileIntake::Awaitable<absl::StatusOr<std::string>> FileIntake::ReadPiece(int64_t left) {
  if (buffer_.size() == 0) {
    if (absl::FromChrono(std::chrono::steady_clock::now() - began_) > kLongestUpload)
      co_return NotInTime();
    stream_.Limit(patience_);
    HttpStream::ErrorCode code;
    const size_t most = std::min(kFilePieceBytes, static_cast<size_t>(left));
    const auto room = buffer_.prepare(most);
    const size_t got = co_await stream_.async_read_some(room, Await(code));
    if (code && stream_.late()) co_return NotInTime();
    if (code) co_return absl::CancelledError();
    buffer_.commit(got);
    stream_.Limit(absl::InfiniteDuration());
  }
  const size_t size = std::min(buffer_.size(), static_cast<size_t>(left));
  std::string piece(static_cast<const char*>(buffer_.data().data()), size);
  buffer_.consume(size);
  co_return piece;
}

}  // namespace reel::front
