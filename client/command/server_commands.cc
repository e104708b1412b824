// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/command/commands.h"
#include "client/command/experiment_text.h"
#include "client/command/quantity.h"
#include "client/command/text_table.h"
#include "client/command/worker_table.h"

namespace reel::client {
namespace {

std::string DescribeInfo(const v1::GetServerInfoResponse& info) {
  std::string version = info.version();
  if (!info.revision().empty()) absl::StrAppend(&version, " (", info.revision(), ")");
  TextTable facts({"version", version});
  if (!info.replica().empty()) facts.AddRow({"replica", info.replica()});
  facts.AddRow({"up", HumanDuration(FromProto(info.uptime()))});
  if (info.draining()) facts.AddRow({"state", "draining: accepts no new jobs"});
  facts.AddRow({"kernel profiles", absl::StrJoin(info.kernel_profiles(), ", ")});
  if (!info.lossy_kernel_profiles().empty()) {
    facts.AddRow({"of them lossy", absl::StrJoin(info.lossy_kernel_profiles(), ", ")});
  }
  const v1::Limits& limits = info.limits();
  facts.AddRow({"prompt", absl::StrCat("at most ", limits.max_prompt_bytes(), " bytes")});
  facts.AddRow(
      {"time limit", absl::StrCat(HumanDuration(FromProto(limits.default_timeout())), ", at most ",
                                  HumanDuration(FromProto(limits.max_timeout())))});
  facts.AddRow({"jobs", absl::StrCat("at most ", limits.max_jobs_per_tenant(), " at a time")});
  return absl::StrCat(facts.Render(), "\n", WorkerTable(info));
}

const char* StateOf(const v1::Model& model) {
  switch (model.state()) {
    case v1::MODEL_STATE_READY:
      return "ready";
    case v1::MODEL_STATE_REPLACING:
      return "ready, another is loading";
    case v1::MODEL_STATE_FAILED:
      return "failed";
    case v1::MODEL_STATE_UNLOADED:
      return "unloaded";
    case v1::MODEL_STATE_ON_DEMAND:
      return "on demand";
    default:
      // An older server, without states, reports only this.
      return model.ready() ? "ready" : "loading";
  }
}

// One line for each model with a problem.
std::string DescribeProblems(const v1::ListModelsResponse& models) {
  std::string text;
  for (const v1::Model& model : models.models()) {
    if (model.problem().empty()) continue;
    absl::StrAppend(&text, "\n", TextTable({model.name() + ":", model.problem()}).Render());
  }
  return text;
}

// "15 GB + 27 GB on the host"
std::string WeightsText(const v1::Model& model) {
  if (model.weight_bytes() == 0) return "-";
  std::string text = HumanBytes(model.weight_bytes());
  if (model.host_bytes() > 0) {
    absl::StrAppend(&text, " + ", HumanBytes(model.host_bytes()), " on the host");
  }
  if (!model.weights_form().empty()) absl::StrAppend(&text, ", ", model.weights_form());
  if (!model.text_form().empty()) absl::StrAppend(&text, ", texts ", model.text_form());
  if (!model.decoder().empty()) absl::StrAppend(&text, ", ", model.decoder(), " decoder");
  return text;
}

// Those that requests may name, a line each.
std::string DescribeAdapters(const v1::ListModelsResponse& models) {
  TextTable table({"ADAPTER", "MODEL", "RANK", "SIZE", "SCALE", "MOST SCALE", "PARTS", "REFERENCE",
                   "SHA256", "DESCRIPTION"});
  bool any = false;
  for (const v1::Model& model : models.models()) {
    for (const v1::AdapterInfo& adapter : model.adapters()) {
      any = true;
      table.AddRow({adapter.name(), model.name(), absl::StrCat(adapter.rank()),
                    HumanBytes(adapter.bytes()), absl::StrCat(adapter.default_scale()),
                    absl::StrCat(adapter.max_scale()), absl::StrJoin(adapter.parts(), ", "),
                    adapter.wants_reference() ? "wanted" : "-", adapter.sha256().substr(0, 12),
                    adapter.description()});
    }
  }
  return any ? absl::StrCat("\n", table.Render()) : "";
}

// "LTX-Video 0.9.5 + style x 0.5", with the adapters in its weights.
std::string FamilyText(const v1::Model& model) {
  std::string text = model.family();
  for (const v1::Adapter& adapter : model.fixed_adapters()) {
    absl::StrAppend(&text, " + ", adapter.name());
    if (adapter.scale() != 1) absl::StrAppend(&text, " x ", adapter.scale());
  }
  return text;
}

std::string DescribeModels(const v1::ListModelsResponse& models) {
  TextTable table({"MODEL", "STATE", "FAMILY", "WEIGHTS", "SHA256", "DEFAULT SHAPE", "STEPS",
                   "SIZE", "MOST FRAMES", "PRESETS", "LOSSY PROFILES"});
  for (const v1::Model& model : models.models()) {
    const std::string name = absl::StrCat(model.name(), model.is_default() ? " (default)" : "");
    // A model that was never loaded has no other facts.
    if (model.family().empty()) {
      table.AddRow({name, StateOf(model)});
      continue;
    }
    const v1::ModelDefaults& defaults = model.defaults();
    const v1::ModelLimits& limits = model.limits();
    const std::string sha256 = model.weights_sha256().substr(0, 12);
    table.AddRow(
        {name, StateOf(model), FamilyText(model), WeightsText(model), sha256.empty() ? "-" : sha256,
         absl::StrFormat("%dx%dx%d", defaults.width(), defaults.height(), defaults.num_frames()),
         absl::StrFormat("%d (1-%d)", defaults.num_inference_steps(), limits.max_steps()),
         absl::StrFormat("%d-%d by %d", limits.min_size(), limits.max_size(),
                         model.spatial_multiple()),
         absl::StrFormat("%s%d, %dk+1",
                         limits.min_frames() > 1 ? absl::StrCat(limits.min_frames(), "-") : "",
                         limits.max_frames(), model.temporal_multiple()),
         absl::StrJoin(model.presets(), ", "), absl::StrJoin(model.lossy_kernel_profiles(), ", ")});
  }
  return table.Render() + DescribeAdapters(models) + DescribeProblems(models);
}

// "gpu0*" where it runs (the star: chosen by the profile auto), then why it does not run elsewhere.
std::string DescribeSupport(const v1::KernelVariant& variant) {
  std::string runs, reasons;
  for (const v1::KernelSupport& support : variant.support()) {
    if (support.runs()) {
      absl::StrAppend(&runs, runs.empty() ? "" : ", ", support.worker(),
                      support.is_auto() ? "*" : "");
    } else {
      absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", "not on ", support.worker(), ": ",
                      support.reason());
    }
  }
  if (runs.empty() || reasons.empty()) return runs + reasons;
  return absl::StrCat(runs, "; ", reasons);
}

std::string DescribeKernels(const v1::ListKernelsResponse& kernels) {
  if (kernels.ops().empty()) return "";
  TextTable table({"OP", "VARIANT", "ORIGIN", "RUNS ON (* = auto)"});
  for (const v1::KernelOp& op : kernels.ops()) {
    for (const v1::KernelVariant& variant : op.variants()) {
      table.AddRow({op.op(), absl::StrCat(variant.name(), variant.lossy() ? " (lossy)" : ""),
                    variant.origin(), DescribeSupport(variant)});
    }
  }
  return table.Render();
}

// Includes refused plug-ins, whose variants are listed nowhere else.
std::string DescribePlugins(const v1::ListKernelsResponse& kernels) {
  if (kernels.plugins().empty()) return "";
  TextTable table({"PLUGIN", "WORKER", "STATE", "REASON, OR WHICH PARTS ARE NOT USED"});
  for (const v1::KernelPlugin& plugin : kernels.plugins()) {
    for (const v1::PluginSupport& support : plugin.support()) {
      table.AddRow({plugin.name(), support.worker(), support.loaded() ? "open" : "refused",
                    support.reason()});
    }
  }
  return absl::StrCat("\n", table.Render());
}

ExitCode Info(Session& session) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const auto info = (*client)->Info();
  if (!info.ok()) return session.Fail(info.status());
  return session.Show(*info, DescribeInfo(*info));
}

ExitCode Models(Session& session) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const auto models = (*client)->Models();
  if (!models.ok()) return session.Fail(models.status());
  v1::ListModelsResponse response;
  response.mutable_models()->Assign(models->begin(), models->end());
  return session.Show(response, DescribeModels(response));
}

ExitCode Kernels(Session& session) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const auto kernels = (*client)->Kernels();
  if (!kernels.ok()) return session.Fail(kernels.status());
  if (kernels->ops().empty()) {
    session.console.Notice("no operators: the served models use no kernels");
  }
  return session.Show(*kernels, DescribeKernels(*kernels) + DescribePlugins(*kernels));
}

ExitCode Experiments(Session& session) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const auto experiments = (*client)->Experiments();
  if (!experiments.ok()) return session.Fail(experiments.status());
  if (experiments->experiments().empty()) session.console.Notice("no experiments are configured");
  return session.Show(*experiments, DescribeExperiments(*experiments));
}

ExitCode Restore(Session& session, const std::string& name) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const auto worker = (*client)->RestoreWorker(name);
  if (!worker.ok()) return session.Fail(worker.status());
  const bool was_out = worker->state() == v1::WORKER_STATE_OUT;
  return session.Show(
      *worker,
      absl::StrCat(worker->name(), was_out ? "  restarts; `reel info` shows whether it is ready\n"
                                           : "  was not out of service: nothing to do\n"));
}

using OnModel = absl::StatusOr<v1::Model> (VideoClient::*)(const std::string&) const;

ExitCode ChangeModel(Session& session, const std::string& name, OnModel change,
                     const std::string& what) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const auto model = ((*client).get()->*change)(name);
  if (!model.ok()) return session.Fail(model.status());
  return session.Show(*model, absl::StrCat(model->name(), "  ", what, "\n"));
}

void AddOfModel(CLI::App& app, Action& action, const std::string& name, const std::string& help,
                OnModel change, const std::string& what) {
  auto model = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand(name, help);
  command.add_option("model", *model, "A model of the server's configuration")->required();
  command.callback([model, change, what, &action] {
    action = [model, change, what](Session& session) {
      return ChangeModel(session, *model, change, what);
    };
  });
}

void AddPlain(CLI::App& app, Action& action, const std::string& name, const std::string& help,
              ExitCode (*run)(Session&)) {
  app.add_subcommand(name, help)->callback([run, &action] { action = run; });
}

}  // namespace

void AddInfo(CLI::App& app, Action& action) {
  AddPlain(app, action, "info", "The server, its limits and workers", Info);
}
void AddModels(CLI::App& app, Action& action) {
  AddPlain(app, action, "models", "The models that are served, with limits and defaults", Models);
}
void AddKernels(CLI::App& app, Action& action) {
  AddPlain(app, action, "kernels", "Operators, their variants, where each one runs, and plug-ins",
           Kernels);
}
void AddExperiments(CLI::App& app, Action& action) {
  AddPlain(app, action, "experiments", "The server's A/B experiments, and what they have shown",
           Experiments);
}

void AddLoad(CLI::App& app, Action& action) {
  AddOfModel(app, action, "load",
             "Load a model of the configuration, or load it again (for admins)",
             &VideoClient::LoadModel, "loads; `reel models` shows when it is ready");
}
void AddUnload(CLI::App& app, Action& action) {
  AddOfModel(app, action, "unload",
             "Take a model out of service; what waits for it ends (for admins)",
             &VideoClient::UnloadModel, "takes no more requests");
}

void AddRestore(CLI::App& app, Action& action) {
  auto worker = std::make_shared<std::string>();
  CLI::App& command =
      *app.add_subcommand("restore", "Put a worker that is out of service back (for admins)");
  command.add_option("worker", *worker, "Its name, as `reel info` shows it")->required();
  command.callback([worker, &action] {
    action = [worker](Session& session) { return Restore(session, *worker); };
  });
}

}  // namespace reel::client
