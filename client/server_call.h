// SPDX-License-Identifier: Apache-2.0
// One try of a call that streams from the server. Private to the library.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <utility>

#include "client/connection.h"
#include "client/retry.h"
#include "client/stop_signal.h"

namespace reel::client {

// Destroying it cancels what is under way.
template <class Message>
class ServerCall {
 public:
  virtual ~ServerCall() = default;
  // Blocks. False at the end; Finish returns why.
  virtual bool Read(Message* message) = 0;
  virtual Failure Finish() = 0;
};

// `Response` contains the Message that `take` moves out.
template <class Message, class Response>
class TypedServerCall final : public ServerCall<Message> {
 public:
  using Take = void (*)(Response&, Message*);

  TypedServerCall(std::unique_ptr<grpc::ClientContext> context, StopSignal& stop,
                  std::unique_ptr<grpc::ClientReader<Response>> reader, Take take)
      : context_(std::move(context)),
        reader_(std::move(reader)),
        take_(take),
        scope_(stop, [raw = context_.get()] { raw->TryCancel(); }) {}

  ~TypedServerCall() override {
    if (finished_) return;
    context_->TryCancel();
    reader_->Finish();  // gRPC requires it; returns at once after a cancel
  }

  bool Read(Message* message) override {
    if (!reader_->Read(&response_)) return false;
    take_(response_, message);
    return true;
  }

  Failure Finish() override {
    finished_ = true;
    return MakeFailure(reader_->Finish(), *context_);
  }

 private:
  const std::unique_ptr<grpc::ClientContext> context_;
  const std::unique_ptr<grpc::ClientReader<Response>> reader_;
  const Take take_;
  StopSignal::Scope scope_;
  Response response_;
  bool finished_ = false;
};

}  // namespace reel::client
