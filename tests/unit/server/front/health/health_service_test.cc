// SPDX-License-Identifier: Apache-2.0
#include "server/front/health/health_service.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "grpc/health/v1/health.grpc.pb.h"
#include "server/front/rpc/grpc_server.h"
#include "tests/fakes/recording_call_observer.h"

namespace reel::front {
namespace {

namespace pb = grpc::health::v1;

class HealthServiceTest : public testing::Test {
 protected:
  HealthServiceTest()
      : service_(MakeHealthService({authorizer_, observer_, calls_, unsent_, probes_, callers_},
                                   board_)) {
    GrpcServerOptions options;
    options.address = "127.0.0.1:0";
    server_ = *GrpcServer::Start(options, {service_.get()});
    stub_ = pb::Health::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  }
  ~HealthServiceTest() override {
    board_.Close();
    server_->Shutdown(absl::Seconds(5));
    EXPECT_EQ(calls_.count(), 0);
  }

  grpc::Status Check(const std::string& service, pb::HealthCheckResponse& response) {
    grpc::ClientContext context;
    pb::HealthCheckRequest request;
    request.set_service(service);
    return stub_->Check(&context, request, &response);
  }
  std::unique_ptr<grpc::ClientReader<pb::HealthCheckResponse>> Watch(grpc::ClientContext& context,
                                                                     const std::string& service) {
    pb::HealthCheckRequest request;
    request.set_service(service);
    return stub_->Watch(&context, request);
  }

  // Probes need no token, even where everybody else does.
  Authorizer authorizer_{TokenTable()};
  RecordingCallObserver observer_;
  OpenCalls calls_;
  UnsentRequests unsent_;
  NewConnections probes_, callers_;
  HealthBoard board_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<pb::Health::Stub> stub_;
};

TEST_F(HealthServiceTest, ChecksByName) {
  pb::HealthCheckResponse response;
  ASSERT_TRUE(Check("", response).ok());
  EXPECT_EQ(response.status(), pb::HealthCheckResponse::NOT_SERVING);
  board_.SetAdmitting(true);
  ASSERT_TRUE(Check("reel.v1.VideoService", response).ok());
  EXPECT_EQ(response.status(), pb::HealthCheckResponse::SERVING);
  ASSERT_TRUE(Check("liveness", response).ok());
  EXPECT_EQ(response.status(), pb::HealthCheckResponse::SERVING);
}

TEST_F(HealthServiceTest, AnUnknownNameIsNotFound) {
  pb::HealthCheckResponse response;
  EXPECT_EQ(Check("other", response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(HealthServiceTest, ListsAll) {
  grpc::ClientContext context;
  pb::HealthListResponse response;
  ASSERT_TRUE(stub_->List(&context, pb::HealthListRequest(), &response).ok());
  EXPECT_EQ(response.statuses_size(), 5);
  EXPECT_EQ(response.statuses().at("liveness").status(), pb::HealthCheckResponse::SERVING);
}

TEST_F(HealthServiceTest, AWatchHearsOfChanges) {
  grpc::ClientContext context;
  auto reader = Watch(context, "");
  pb::HealthCheckResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), pb::HealthCheckResponse::NOT_SERVING);
  board_.SetAdmitting(true);
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), pb::HealthCheckResponse::SERVING);
  board_.Drain();
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), pb::HealthCheckResponse::NOT_SERVING);
  board_.Close();
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(HealthServiceTest, AWatchOfAnUnknownNameStays) {
  grpc::ClientContext context;
  auto reader = Watch(context, "other");
  pb::HealthCheckResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), pb::HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(HealthServiceTest, WatchesThatLeaveWhileThingsChangeLeaveNothingOpen) {
  for (int i = 0; i < 40; ++i) {
    grpc::ClientContext context;
    auto reader = Watch(context, "");
    pb::HealthCheckResponse response;
    if (i % 2 == 0) reader->Read(&response);
    board_.SetAdmitting(i % 3 == 0);
    context.TryCancel();
    board_.SetAdmitting(i % 3 != 0);
    EXPECT_FALSE(reader->Finish().ok());
  }
  EXPECT_TRUE(calls_.WaitForNone(absl::Seconds(10)));
}

}  // namespace
}  // namespace reel::front
