// SPDX-License-Identifier: Apache-2.0
#include "client/file_upload.h"

#include <string>
#include <utility>

#include "client/retry.h"
#include "client/stop_signal.h"

namespace reel::client {
namespace {

constexpr size_t kPieceBytes = 256 << 10;
// A server waits no longer either.
constexpr absl::Duration kLongestUpload = absl::Minutes(15);

grpc::Status Send(grpc::ClientWriter<v1::UploadFileRequest>& writer, std::string_view bytes) {
  v1::UploadFileRequest piece;
  piece.set_size_bytes(static_cast<int64_t>(bytes.size()));
  bool goes_on = true;  // false: the server has ended the call, and Finish tells why
  for (std::string_view left = bytes; goes_on && !left.empty();) {
    const std::string_view next = left.substr(0, kPieceBytes);
    piece.set_data(next.data(), next.size());
    goes_on = writer.Write(piece);
    left.remove_prefix(next.size());
    piece.clear_size_bytes();
  }
  if (goes_on) writer.WritesDone();
  return writer.Finish();
}

}  // namespace

absl::StatusOr<v1::UploadedFile> UploadFile(const Connection& connection, std::string_view bytes) {
  StopSignal never;
  Retrier retrier(connection.options().retry, never, RandomFraction);
  for (;;) {
    grpc::ClientContext context;
    absl::Status ready = connection.Prepare(context, kLongestUpload);
    if (!ready.ok()) return ready;
    v1::UploadFileResponse response;
    const auto writer = connection.videos().UploadFile(&context, &response);
    const grpc::Status status = Send(*writer, bytes);
    if (status.ok()) return std::move(*response.mutable_file());
    absl::Status again = retrier.AfterFailedCall(MakeFailure(status, context));
    if (!again.ok()) return again;
    connection.Reconnect();
  }
}

}  // namespace reel::client
