// SPDX-License-Identifier: Apache-2.0
// One call of UploadFile: pieces in, one after the other as the disk takes them, then one answer.
#pragma once

#include <memory>
#include <string>

#include "kernels/base/mutex.h"
#include "reel/v1/video_service.pb.h"
#include "server/front/jobs/job_service.h"
#include "server/front/rpc/request_reactor.h"

namespace reel::front {

// Each piece is waited for like a request (UnsentRequests), the whole for kLongestUpload. Holds one
// piece at a time. Frees itself when gRPC is done.
class UploadCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, v1::UploadFileResponse>,
                         private UnsentRequest {
 public:
  // `jobs` outlives it.
  UploadCall(const CallEnvironment& environment, grpc::CallbackServerContext& server_context,
             JobService& jobs)
      : context_(environment, server_context, Method::kUploadFile), jobs_(jobs) {}
  // In the RPC's handler.
  void Await();

 private:
  ~UploadCall() override = default;

  void OnReadDone(bool ok) override;
  void OnCancel() override {}  // the read that is under way, or comes next, tells
  void OnDone() override { delete this; }
  void Abandon(const absl::Status& why) override { End(why); }

  void ReadNext();
  // The call may go on.
  absl::Status Check() const;
  void Begin(v1::UploadFileRequest first);
  void Take(std::string bytes);
  void Complete();
  void End(const absl::Status& status);

  CallContext context_;
  JobService& jobs_;
  Mutex reading_;  // held until the ticket of a read is known
  int64_t ticket_ ABSL_GUARDED_BY(reading_) = 0;
  grpc::ByteBuffer bytes_;
  std::unique_ptr<FileUpload> upload_;  // null before the first piece
  std::string sha256_;
  v1::UploadFileResponse response_;
};

}  // namespace reel::front
