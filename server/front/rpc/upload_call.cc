// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/upload_call.h"

#include <utility>

#include "server/errors/error.h"
#include "server/front/api/video_answers.h"

namespace reel::front {

void UploadCall::Await() {
  const absl::Status allowed = context_.Authorize();
  if (allowed.ok()) return ReadNext();
  context_.Unserved(allowed);
  End(allowed);
}

void UploadCall::ReadNext() {
  const MutexLock lock(reading_);
  StartRead(&bytes_);
  ticket_ = context_.unsent_requests().Enter(*this, context_.connection());
}

absl::Status UploadCall::Check() const {
  if (context_.age() > kLongestUpload) {
    return MakeError(Reason::kRequestNotReceived, "The file did not come within 15 minutes");
  }
  return context_.StillAuthorized();
}

void UploadCall::OnReadDone(bool ok) {
  int64_t ticket = 0;
  {
    const MutexLock lock(reading_);
    ticket = ticket_;
  }
  if (!context_.unsent_requests().Leave(ticket)) return;  // whoever abandoned it ends it
  if (!ok) return Complete();
  if (const absl::Status may = Check(); !may.ok()) return End(may);
  auto piece = DecodeRequest<v1::UploadFileRequest>(bytes_);
  bytes_.Clear();
  if (!piece.ok()) {
    context_.Unserved(piece.status());
    return End(piece.status());
  }
  if (upload_ == nullptr) return Begin(*std::move(piece));
  if (piece->size_bytes() != 0 || !piece->sha256().empty()) {
    return End(MakeInvalid(Reason::kInvalidRequest,
                           {{piece->size_bytes() != 0 ? "size_bytes" : "sha256",
                             "is of the first piece alone; leave it out of the others"}}));
  }
  Take(std::move(*piece->mutable_data()));
}

void UploadCall::Begin(v1::UploadFileRequest first) {
  context_.Received();
  sha256_ = first.sha256();
  jobs_.BeginFile(context_.tenant(), first.size_bytes(),
                  [this, bytes = std::move(*first.mutable_data())](
                      absl::StatusOr<std::unique_ptr<FileUpload>> begun) mutable {
                    if (!begun.ok()) return End(begun.status());
                    upload_ = *std::move(begun);
                    Take(std::move(bytes));
                  });
}

void UploadCall::Take(std::string bytes) {
  if (bytes.empty()) return ReadNext();
  upload_->Append(std::move(bytes), [this](const absl::Status& written) {
    if (!written.ok()) return End(written);
    ReadNext();
  });
}

// The caller has sent everything, or has gone.
void UploadCall::Complete() {
  if (context_.cancelled()) return End(absl::CancelledError());
  if (upload_ == nullptr) {
    const absl::Status none = MakeError(Reason::kUndecodableRequest, "The call has no request");
    context_.Unserved(none);
    return End(none);
  }
  upload_->Finish(sha256_, [this](const absl::StatusOr<UploadedFile>& file) {
    if (!file.ok()) return End(file.status());
    FileToProto(*file, *response_.mutable_file());
    End(absl::OkStatus());
  });
}

void UploadCall::End(const absl::Status& status) {
  upload_.reset();
  if (!status.ok()) return Finish(context_.End(status));
  context_.Sent();
  StartWriteAndFinish(&response_, grpc::WriteOptions(), context_.End(status));
}

}  // namespace reel::front
