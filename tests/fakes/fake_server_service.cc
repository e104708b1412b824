// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_server_service.h"

namespace reel::fakes {

namespace {

grpc::Status Become(const std::string& name, v1::ModelState state, v1::Model& model) {
  if (name != "testcard") return {grpc::StatusCode::NOT_FOUND, "No model has this name: " + name};
  model.set_name(name);
  model.set_state(state);
  return grpc::Status::OK;
}

}  // namespace

grpc::Status FakeServerService::GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                                              v1::GetServerInfoResponse* response) {
  response->set_version("0.1.0");
  response->set_http_url("http://127.0.0.1:8080");
  response->set_has_page(true);
  response->mutable_uptime()->set_seconds(61);
  v1::Worker& worker = *response->add_workers();
  worker.set_name("cpu0");
  worker.set_device("cpu");
  worker.set_state(v1::WORKER_STATE_READY);
  worker.add_models("testcard");
  response->mutable_limits()->set_max_prompt_bytes(8192);
  response->add_kernel_profiles("auto");
  return grpc::Status::OK;
}

grpc::Status FakeServerService::ListModels(grpc::ServerContext*, const v1::ListModelsRequest*,
                                           v1::ListModelsResponse* response) {
  v1::Model& model = *response->add_models();
  model.set_name("testcard");
  model.set_is_default(true);
  model.set_family("test card");
  model.set_ready(true);
  model.mutable_defaults()->set_width(704);
  model.mutable_defaults()->set_height(480);
  model.mutable_defaults()->set_num_frames(121);
  return grpc::Status::OK;
}

grpc::Status FakeServerService::ListKernels(grpc::ServerContext*, const v1::ListKernelsRequest*,
                                            v1::ListKernelsResponse* response) {
  v1::KernelOp& op = *response->add_ops();
  op.set_op("rms_norm");
  for (const char* name : {"cpu", "loops"}) {
    v1::KernelVariant& variant = *op.add_variants();
    variant.set_name(name);
    variant.set_origin("built-in");
    v1::KernelSupport& support = *variant.add_support();
    support.set_worker("cpu0");
    support.set_runs(true);
    support.set_is_auto(op.variants_size() == 1);
  }
  v1::KernelPlugin& plugin = *response->add_plugins();
  plugin.set_name("mine");
  v1::PluginSupport& refused = *plugin.add_support();
  refused.set_worker("cpu0");
  refused.set_reason("The build has no code for this device");
  return grpc::Status::OK;
}

grpc::Status FakeServerService::ListExperiments(grpc::ServerContext*,
                                                const v1::ListExperimentsRequest*,
                                                v1::ListExperimentsResponse* response) {
  v1::Experiment& experiment = *response->add_experiments();
  experiment.set_name("norms");
  for (const char* name : {"old", "new"}) experiment.add_arms()->set_name(name);
  return grpc::Status::OK;
}

grpc::Status FakeServerService::GetFleet(grpc::ServerContext*, const v1::GetFleetRequest*,
                                         v1::GetFleetResponse* response) {
  response->set_name("prod");
  response->set_node("a");
  for (const char* name : {"a", "b"}) response->add_nodes()->set_name(name);
  response->mutable_nodes(0)->set_state(v1::FLEET_NODE_STATE_SERVING);
  response->mutable_nodes(1)->set_state(v1::FLEET_NODE_STATE_SILENT);
  response->mutable_log()->set_connected(true);
  return grpc::Status::OK;
}

grpc::Status FakeServerService::CheckFleet(grpc::ServerContext*, const v1::CheckFleetRequest*,
                                           v1::CheckFleetResponse* response) {
  v1::FleetCheck& log = *response->add_checks();
  log.set_name("fleet log");
  log.set_ok(true);
  log.set_detail("REEL");
  if (!store_is_away) return grpc::Status::OK;
  v1::FleetCheck& store = *response->add_checks();
  store.set_name("fleet store");
  store.set_detail("cannot put an object");
  store.set_hint("Make the bucket.");
  return grpc::Status::OK;
}

grpc::Status FakeServerService::RestoreWorker(grpc::ServerContext*,
                                              const v1::RestoreWorkerRequest* request,
                                              v1::RestoreWorkerResponse* response) {
  if (request->worker() != "cpu0" && request->worker() != "gpu0") {
    return {grpc::StatusCode::NOT_FOUND, "No worker has this name: " + request->worker()};
  }
  response->mutable_worker()->set_name(request->worker());
  response->mutable_worker()->set_state(request->worker() == "gpu0" ? v1::WORKER_STATE_OUT
                                                                    : v1::WORKER_STATE_READY);
  return grpc::Status::OK;
}

grpc::Status FakeServerService::LoadModel(grpc::ServerContext*, const v1::LoadModelRequest* request,
                                          v1::LoadModelResponse* response) {
  return Become(request->model(), v1::MODEL_STATE_LOADING, *response->mutable_model());
}

grpc::Status FakeServerService::UnloadModel(grpc::ServerContext*,
                                            const v1::UnloadModelRequest* request,
                                            v1::UnloadModelResponse* response) {
  return Become(request->model(), v1::MODEL_STATE_UNLOADED, *response->mutable_model());
}

grpc::Status FakeHealth::Check(grpc::ServerContext*, const grpc::health::v1::HealthCheckRequest*,
                               grpc::health::v1::HealthCheckResponse* response) {
  response->set_status(grpc::health::v1::HealthCheckResponse::SERVING);
  return grpc::Status::OK;
}

}  // namespace reel::fakes
