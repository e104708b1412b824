// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/admission.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "server/errors/error.h"
#include "server/front/jobs/experiment_board.h"
#include "server/front/scheduling/worker_table.h"

namespace reel::front {
namespace {

using model::FieldViolation;

constexpr absl::Duration kFirstCardRetry = absl::Seconds(2);

std::string Seconds(absl::Duration value) {
  return absl::StrCat(absl::ToDoubleSeconds(absl::Trunc(value, absl::Milliseconds(1))));
}

// For people: "20ms", "5.1s", "2m10s".
std::string Rounded(absl::Duration value) {
  const absl::Duration unit = value < absl::Seconds(1)    ? absl::Milliseconds(1)
                              : value < absl::Seconds(10) ? absl::Milliseconds(100)
                                                          : absl::Seconds(1);
  return absl::FormatDuration(absl::Trunc(value + unit / 2, unit));
}

void AddPrefixed(std::vector<FieldViolation> from, std::vector<FieldViolation>& out) {
  for (FieldViolation& violation : from) {
    violation.field = "spec." + violation.field;
    out.push_back(std::move(violation));
  }
}

// Of a spec that came back from the server only the description of its conditions is left.
void CheckBytes(const model::GenerationSpec& spec, std::vector<FieldViolation>& out) {
  for (size_t i = 0; i < spec.conditions.size(); ++i) {
    const model::Condition& condition = spec.conditions[i];
    if (condition.bytes != nullptr || !condition.file.empty()) continue;
    // Without a size it breaks another rule; a promotion's are in its state.
    if (condition.size_bytes <= 0 || spec.source) continue;
    out.push_back({absl::StrCat("spec.conditions[", i, "].", model::FieldOf(condition.kind)),
                   "has a description but no bytes, which are not kept; send them again"});
  }
}

// Of pictures, clips and sounds that came with the request or ahead of it, or would with one that
// is only quoted.
int64_t ConditionBytesOf(const NewJob& job) {
  int64_t bytes = 0;
  for (const model::Condition& condition : job.spec.conditions) {
    const bool is_to_come = job.only_quoted || !condition.file.empty();
    const int64_t described = is_to_come && !job.spec.source ? condition.size_bytes : 0;
    bytes += condition.bytes ? static_cast<int64_t>(condition.bytes->size()) : described;
  }
  return bytes;
}

// Decides once whether a video keeps its state. Fills in `keep_state`; a violation if it is
// requested but configured to be off.
void ChooseKeep(StateOptions::Keep keep, model::GenerationSpec& spec,
                std::vector<FieldViolation>& out) {
  if (keep == StateOptions::Keep::kNever) {
    if (spec.keep_state.value_or(false)) {
      out.push_back({"spec.keep_state",
                     "this server keeps no states (its state.keep is never, or its fleet has no "
                     "object store): leave it out"});
    }
    spec.keep_state = false;
    return;
  }
  const bool usual = keep == StateOptions::Keep::kAlways || spec.stop_after_pass.has_value();
  spec.keep_state = spec.keep_state.value_or(usual);
}

absl::Status Unavailable(Reason reason, std::string_view message, absl::Duration retry) {
  return MakeError(reason, message, {.retry_after = retry});
}

}  // namespace

absl::Duration Admission::Timeout(const NewJob& job, std::vector<FieldViolation>& out) const {
  const absl::Duration wanted =
      job.timeout.value_or(std::min(options_.default_timeout, options_.max_timeout));
  if (wanted <= absl::ZeroDuration()) {
    out.push_back({"timeout", absl::StrCat(Seconds(wanted),
                                           " s is not positive; leave it out for the default, ",
                                           Seconds(options_.default_timeout), " s")});
  } else if (wanted > options_.max_timeout) {
    out.push_back({"timeout", absl::StrCat(Seconds(wanted), " s is longer than the limit, ",
                                           Seconds(options_.max_timeout), " s")});
  }
  return wanted;
}

absl::StatusOr<const model::ModelCard*> Admission::FindModel(const std::string& name) const {
  REEL_RETURN_IF_ERROR(roster_.CheckServed(name));
  if (const model::ModelCard* card = roster_.FindCard(name)) return card;
  const absl::Status failed = roster_.LoadError(name);
  return MakeError(
      Reason::kModelNotReady,
      failed.ok() ? absl::StrCat("The model is still loading: ", name)
                  : absl::StrCat("The model could not be loaded: ", name, ": ", failed.message()),
      {.metadata = {{"model", name}}, .retry_after = kFirstCardRetry});
}

void Admission::CheckWorker(const std::string& worker, std::vector<FieldViolation>& out) const {
  // Before any worker was seen no name can be wrong.
  if (worker.empty() || roster_.workers().empty() || roster_.workers().contains(worker)) return;
  const std::string names = absl::StrJoin(
      roster_.workers(), ", ",
      [](std::string* text, const auto& entry) { absl::StrAppend(text, entry.first); });
  out.push_back({"spec.worker", absl::StrCat("no worker has this name; known: ", names)});
}

void Admission::ExpandProfile(const model::KernelSelection& selection, Need& need) const {
  need.profile = selection.profile;
  need.variants = selection.variants;
  for (const KernelProfileOptions& profile : options_.kernel_profiles) {
    if (profile.name != selection.profile) continue;
    need.profile = profile.base;
    // The request's own variants win.
    need.variants.insert(profile.variants.begin(), profile.variants.end());
  }
}

// A profile of the configuration may be built on a lossy one that this model does not support. A
// profile that a request names itself has been checked with the request.
void Admission::CheckConfiguredProfile(const std::string& base, const model::ModelCard& card,
                                       std::vector<FieldViolation>& out) {
  const auto& known = card.lossy_profiles;
  const bool lossy = kernels::IsLossyProfile(base);
  if (!lossy || std::find(known.begin(), known.end(), base) != known.end()) return;
  out.push_back({"spec.kernels.profile", absl::StrCat("this model does not support ", base,
                                                      ", which the profile is built "
                                                      "on")});
}

std::string Admission::PlanName(const Need& need) {
  return kernels::KernelPlan(need.profile, {need.variants.begin(), need.variants.end()}).name();
}

// Legal when one worker can run it, here or at another server of a fleet; else the answer that
// comes nearest to that.
absl::Status Admission::CheckPlan(Need& need) const {
  absl::Status refused;
  bool any = false;
  const auto refuse = [&](const absl::Status& why) {
    any = true;
    if (refused.ok() || refused.code() == absl::StatusCode::kInvalidArgument) refused = why;
  };
  for (const auto& [name, worker] : roster_.workers()) {
    if (!need.worker.empty() && need.worker != name) continue;
    const bool ready = worker.info.state == WorkerState::kReady;
    if (worker.info.kernels.empty() && !ready) continue;
    // One that is up without the model will never run it.
    if (ready && !worker.Offers(need.model)) continue;
    const auto plan = roster_.Plan(worker, need);
    if (plan.ok()) {
      need.shape.plan = plan->name();
      need.shape.where = roster_.WhereOf(worker, need.model);
      return absl::OkStatus();
    }
    refuse(plan.status());
  }
  for (const auto& plan : roster_.elsewhere().Plans(need, roster_.FindCard(need.model))) {
    if (plan.ok()) {
      need.shape.plan = plan->name();
      return absl::OkStatus();
    }
    refuse(plan.status());
  }
  if (any) return refused;
  // No worker has told its kernels yet: only what needs none of them can be judged.
  if (!need.variants.empty()) {
    return Unavailable(Reason::kModelNotReady, "No worker has reported its kernels yet",
                       kFirstCardRetry);
  }
  const auto plan = kernels::MakePlan({}, need.profile, {});
  if (plan.ok()) need.shape.plan = plan->name();
  return plan.status();
}

absl::Status Admission::PlanFor(const model::ModelCard& card, CheckedRequest& checked,
                                std::vector<FieldViolation>& out) const {
  checked.need.variants.clear();
  ExpandProfile(checked.spec.kernels, checked.need);
  absl::Status plan = CheckPlan(checked.need);
  // What the request itself names has been checked with the rest of it.
  const bool own = checked.spec.kernels.arm.empty();
  if (!own || checked.need.profile != checked.spec.kernels.profile) {
    CheckConfiguredProfile(checked.need.profile, card, out);
  }
  return plan;
}

absl::Status Admission::CheckKernels(const NewJob& job, uint64_t fresh_seed,
                                     const model::ModelCard& card, CheckedRequest& checked,
                                     std::vector<FieldViolation>& out) const {
  // Without an id of the caller's the seed is what tells calls apart.
  const std::string key = job.request_id.empty() ? absl::StrCat(fresh_seed) : job.request_id;
  // As it was sent: the resolved one has a profile in any case.
  model::KernelSelection selection = job.spec.kernels;
  const ArmChoice choice = ChooseArm(options_.experiments, checked.need.model, key, selection);
  if (!choice.problem.empty()) return absl::InvalidArgumentError(choice.problem);
  const model::KernelSelection resolved = checked.spec.kernels;
  if (selection != job.spec.kernels) checked.spec.kernels = selection;
  if (!choice.drawn) return PlanFor(card, checked, out);
  std::vector<FieldViolation> of_arm;
  absl::Status plan = PlanFor(card, checked, of_arm);
  if (plan.ok() && of_arm.empty()) return plan;
  // Nobody asked for the arm: what it cannot run here is no reason to refuse the request.
  checked.spec.kernels = resolved;
  return PlanFor(card, checked, out);
}

absl::StatusOr<CheckedRequest> Admission::CheckRequest(const NewJob& job,
                                                       uint64_t fresh_seed) const {
  std::vector<FieldViolation> violations;
  CheckedRequest checked;
  checked.timeout = Timeout(job, violations);
  const bool names_none = job.spec.model.empty() && !roster_.served().empty();
  const std::string name = names_none ? roster_.served().front() : job.spec.model;
  const auto card = FindModel(name);
  if (!card.ok()) {
    AddPrefixed(model::CheckWithoutCard(job.spec, options_.limits), violations);
    if (!violations.empty()) return MakeInvalid(Reason::kInvalidSpec, violations);
    return card.status();
  }
  model::Resolution resolved =
      model::ResolveFor(job.tenant, job.spec, **card, options_.limits, fresh_seed);
  AddPrefixed(std::move(resolved.violations), violations);
  if (!job.only_quoted) CheckBytes(job.spec, violations);
  ChooseKeep(options_.state.keep, resolved.spec, violations);
  CheckWorker(job.spec.worker, violations);
  checked.spec = std::move(resolved.spec);
  checked.need.model = name;
  checked.need.worker = checked.spec.worker;
  const absl::Status plan = CheckKernels(job, fresh_seed, **card, checked, violations);
  const bool only_kernels = violations.empty();
  if (absl::IsInvalidArgument(plan)) {
    violations.push_back({"spec.kernels", std::string(plan.message())});
  }
  if (!violations.empty()) {
    const bool spec_is_fine = violations.size() == 1 && violations[0].field == "timeout";
    return MakeInvalid(only_kernels   ? Reason::kUnknownKernel
                       : spec_is_fine ? Reason::kInvalidRequest
                                      : Reason::kInvalidSpec,
                       violations);
  }
  if (absl::IsFailedPrecondition(plan)) {
    return MakeError(Reason::kKernelUnavailable, std::string(plan.message()),
                     {.precondition_type = "KERNEL",
                      .precondition_subject = checked.need.profile,
                      .precondition_description = std::string(plan.message())});
  }
  REEL_RETURN_IF_ERROR(plan);
  const std::string where = std::move(checked.need.shape.where);
  checked.need.shape = ShapeOf(checked.spec, **card, checked.need.shape.plan);
  checked.need.shape.where = where;
  checked.kinds = CostsByKind(roster_, costs_, checked.need);
  checked.need.shape.where = checked.kinds.front().where;
  checked.cost = checked.kinds.front().cost;
  checked.pool = PoolCostOf(roster_, checked.kinds);
  checked.need.memory_bytes = PeakMemoryOf(roster_, costs_, checked.need);
  checked.output = costs_.Output(checked.need.shape);
  checked.condition_bytes = ConditionBytesOf(job) + job.state_bytes;
  return checked;
}

absl::Status Admission::CheckLoad(const NewJob& job, const CheckedRequest& request,
                                  const Load& load, const Quarantine& quarantine,
                                  absl::Duration now, double jitter) const {
  if (load.draining) {
    return Unavailable(Reason::kServerDraining, "The server is shutting down",
                       absl::Seconds(5) * jitter);
  }
  if (!load.of_fleet && roster_.Hopeless(request.need)) {
    return Unavailable(Reason::kNoDevice,
                       roster_.AllOut() ? "Every device is out of service"
                                        : "Every device that could run this is out of service",
                       absl::Seconds(30) * jitter);
  }
  if (const absl::Duration left = quarantine.Left(request.need.shape, now);
      left > absl::ZeroDuration()) {
    return MakeError(
        Reason::kShapeQuarantined,
        absl::StrCat("This model and shape crashed two workers; it is refused for another ",
                     absl::ToInt64Minutes(absl::Ceil(left, absl::Minutes(1))), " min"),
        {.metadata = {{"model", request.need.model}, {"seconds_left", Seconds(left)}},
         .precondition_type = "SHAPE",
         .precondition_subject = request.need.model,
         .precondition_description =
             "two workers were lost while they ran only this model and shape"});
  }
  REEL_RETURN_IF_ERROR(CheckQuota(job, request, load));
  if (!load.of_fleet) REEL_RETURN_IF_ERROR(CheckMemory(request));
  REEL_RETURN_IF_ERROR(CheckDeadline(request, load));
  return CheckQueue(request, load, jitter);
}

absl::Status Admission::CheckQuota(const NewJob& job, const CheckedRequest& request,
                                   const Load& load) const {
  const TenantOptions& tenant = TenantOf(options_, job.tenant);
  const auto refuse = [&](std::string_view what, int64_t value, int64_t limit) {
    return MakeOverQuota(Reason::kTenantQuota, "tenant:" + job.tenant, what, {value, limit},
                         absl::Seconds(30));
  };
  if (load.tenant_jobs >= tenant.max_jobs) {
    return refuse("The tenant has too many queued and running jobs", load.tenant_jobs,
                  tenant.max_jobs);
  }
  if (tenant.device_seconds_per_hour > 0 &&
      load.tenant_device_seconds >= tenant.device_seconds_per_hour) {
    return refuse("The tenant has used its device seconds of the last hour",
                  static_cast<int64_t>(load.tenant_device_seconds),
                  static_cast<int64_t>(tenant.device_seconds_per_hour));
  }
  const absl::Duration asked = load.tenant_backlog + request.devices() * request.cost.p50();
  if (tenant.max_queued_device_seconds > 0 && load.tenant_backlog > absl::ZeroDuration() &&
      asked > absl::Seconds(tenant.max_queued_device_seconds)) {
    return refuse("The tenant's queued and running jobs would take too many device seconds",
                  absl::ToInt64Seconds(absl::Ceil(asked, absl::Seconds(1))),
                  static_cast<int64_t>(tenant.max_queued_device_seconds));
  }
  if (!ReservationFor(request.output, request.condition_bytes, load.tenant_bytes)) {
    const int64_t file = request.output.likely > 0 ? request.output.likely : request.output.most;
    return TooManyBytes(job.tenant, load.tenant_bytes, request.condition_bytes + file, "");
  }
  return CheckDisk(load.disk);
}

absl::Status Admission::CheckMemory(const CheckedRequest& request) const {
  const std::optional<MemoryNeed> unfit = FindUnfit(roster_, request.need);
  if (!unfit) return absl::OkStatus();
  const std::string text = absl::StrCat(
      "No device has the memory for a video of this size, its model included; bytes needed: ",
      unfit->needed, ", available: ", unfit->there);
  return MakeError(Reason::kTooLargeForDevice, text,
                   {.metadata = {{"needed_bytes", absl::StrCat(unfit->needed)},
                                 {"available_bytes", absl::StrCat(unfit->there)}},
                    .precondition_type = "MEMORY",
                    .precondition_subject = request.need.model,
                    .precondition_description = text});
}

absl::Status Admission::CheckDeadline(const CheckedRequest& request, const Load& load) const {
  // A guess refuses nobody: before the first step of a model nothing is known.
  if (!request.cost.observed) return absl::OkStatus();
  const absl::Duration guessed = load.guesses_load ? load.model_load : absl::ZeroDuration();
  const absl::Duration needed = load.outlook.delay + load.model_load - guessed + request.cost.p90();
  if (needed <= request.timeout && !load.outlook.makes_late) return absl::OkStatus();
  const std::string why = needed > request.timeout
                              ? absl::StrCat("The video would take ", Rounded(needed))
                              : "In time it would make others of its tenant miss their deadlines";
  return MakeError(Reason::kDeadlineUnreachable,
                   absl::StrCat(why, "; the deadline is ", Rounded(request.timeout), " away"),
                   {.metadata = {{"timeout_seconds", Seconds(request.timeout)},
                                 {"queue_seconds", Seconds(load.wait())},
                                 {"run_p90_seconds", Seconds(request.cost.p90())}}});
}

absl::Status Admission::CheckQueue(const CheckedRequest& request, const Load& load,
                                   double jitter) const {
  const int devices = std::max(1, load.fleet_devices > 0 ? load.fleet_devices : roster_.NumReady());
  const absl::Duration room = absl::Seconds(options_.max_backlog_seconds) * devices;
  const absl::Duration backlog = load.of_fleet ? load.fleet_backlog : load.backlog;
  // An idle server takes any job, however long.
  const bool too_long = backlog > absl::ZeroDuration() && backlog + request.WorkerTime() > room;
  if (!too_long && load.queued < options_.max_queued_jobs) return absl::OkStatus();
  // When as much has been done as this one needs; by the count alone, when one place is free.
  absl::Duration retry = too_long ? backlog + request.WorkerTime() - room : request.WorkerTime();
  retry = std::clamp(retry / devices, absl::Seconds(1), absl::Seconds(60)) * jitter;
  return MakeError(Reason::kQueueFull,
                   absl::StrCat("The queue is full: ", load.queued, " jobs wait, ",
                                Rounded(backlog), " of work; try again in ", Rounded(retry)),
                   {.metadata = {{"queued", absl::StrCat(load.queued)},
                                 {"backlog_seconds", Seconds(backlog)},
                                 {"capacity_seconds", Seconds(room)}},
                    .retry_after = retry});
}

}  // namespace reel::front
