#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/cluster/cluster_spec.hpp>

#include <nlohmann/json.hpp>

namespace distribute {

DISTRIBUTE_INLINE JobTasks::JobTasks(std::initializer_list<std::string> addresses)
    : JobTasks(std::vector<std::string>(addresses)) {}

DISTRIBUTE_INLINE JobTasks::JobTasks(const std::vector<std::string>& addresses) {
  for (const std::string& address : addresses)
    tasks_.emplace_hint(tasks_.end(), int(tasks_.size()), address);
}

DISTRIBUTE_INLINE JobTasks::JobTasks(std::initializer_list<std::pair<const int, std::string>> tasks)
    : tasks_(tasks) {}

DISTRIBUTE_INLINE JobTasks::JobTasks(std::map<int, std::string> tasks) : tasks_(std::move(tasks)) {}

DISTRIBUTE_INLINE bool JobTasks::dense() const {
  return !tasks_.empty() && tasks_.begin()->first == 0 && tasks_.rbegin()->first == size() - 1;
}

DISTRIBUTE_INLINE ClusterSpec::ClusterSpec(
    std::initializer_list<std::pair<const std::string, JobTasks>> jobs)
    : ClusterSpec(Jobs(jobs)) {}

DISTRIBUTE_INLINE ClusterSpec::ClusterSpec(Jobs jobs) : jobs_(std::move(jobs)) { check(); }

DISTRIBUTE_INLINE std::string cluster_internal::text_problem(const std::string& text) {
  bool ascii = true;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return " has a control character: " + untrusted::shown(text);
    ascii = ascii && static_cast<unsigned char>(c) < 0x80;
  }
  if (ascii) return "";
  const nlohmann::json json = text;
  return json_of(json_text(json)) == json ? "" : " is not UTF-8: " + untrusted::shown(text);
}

DISTRIBUTE_INLINE void ClusterSpec::check() const {
  using namespace cluster_internal;
  for (const auto& [job, tasks] : jobs_) {
    const std::string problem = text_problem(job);
    if (!problem.empty()) throw InvalidArgumentError("the name of a job" + problem);
    for (const auto& [index, address] : tasks.by_index()) {
      if (index < 0)
        throw InvalidArgumentError(
            str_cat("job ", untrusted::shown(job), ": the task index ", index, " is negative"));
      const std::string wrong = text_problem(address);
      if (!wrong.empty())
        throw InvalidArgumentError(
            str_cat("job ", untrusted::shown(job), ": the address of task ", index, wrong));
    }
  }
}

DISTRIBUTE_INLINE ClusterSpec ClusterSpec::from_json(std::string_view text,
                                                     const std::string& source) {
  return cluster_internal::cluster_spec_of(untrusted::parse_json(text, source), source);
}

DISTRIBUTE_INLINE std::string ClusterSpec::to_json() const {
  nlohmann::json root = nlohmann::json::object();
  for (const auto& [job, tasks] : jobs_) {
    nlohmann::json& list = root[job] =
        tasks.dense() ? nlohmann::json::array() : nlohmann::json::object();
    for (const auto& [index, address] : tasks.by_index())
      if (tasks.dense())
        list.push_back(address);
      else
        list[std::to_string(index)] = address;
  }
  return json_text(root);
}

DISTRIBUTE_INLINE std::vector<std::string> ClusterSpec::jobs() const {
  std::vector<std::string> names;
  for (const auto& [job, tasks] : jobs_) names.push_back(job);
  return names;
}

DISTRIBUTE_INLINE bool ClusterSpec::has_job(const std::string& job) const {
  return jobs_.contains(job);
}

DISTRIBUTE_INLINE const JobTasks& ClusterSpec::job_or_throw(const std::string& job) const {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) return found->second;
  std::string known;
  for (const auto& [name, tasks] : jobs_)
    known += (known.empty() ? "" : ", ") + untrusted::shown(name);
  throw InvalidArgumentError("No such job in cluster: " + untrusted::shown(job) +
                             (known.empty() ? "; it has no jobs" : "; it has " + known));
}

DISTRIBUTE_INLINE int ClusterSpec::num_tasks(const std::string& job) const {
  return job_or_throw(job).size();
}

DISTRIBUTE_INLINE std::vector<int> ClusterSpec::task_indices(const std::string& job) const {
  std::vector<int> indices;
  for (const auto& [index, address] : job_or_throw(job).by_index()) indices.push_back(index);
  return indices;
}

DISTRIBUTE_INLINE const std::string& ClusterSpec::task_address(const std::string& job,
                                                               int index) const {
  const JobTasks& tasks = job_or_throw(job);
  const auto found = tasks.by_index().find(index);
  if (found != tasks.by_index().end()) return found->second;
  throw InvalidArgumentError(str_cat("No task with index ", index, " in job ",
                                     untrusted::shown(job), ", which has ", tasks.size(),
                                     " task(s)"));
}

DISTRIBUTE_INLINE std::vector<std::optional<std::string>> ClusterSpec::job_tasks(
    const std::string& job) const {
  constexpr int kLargest = 1'000'000;
  const auto& tasks = job_or_throw(job).by_index();
  const int last = tasks.empty() ? -1 : tasks.rbegin()->first;
  if (last > kLargest)
    throw InvalidArgumentError(str_cat("job ", untrusted::shown(job), ": the task index ", last,
                                       " is too large for a list; use task_indices"));
  std::vector<std::optional<std::string>> list(size_t(last + 1));
  for (const auto& [index, address] : tasks) list[size_t(index)] = address;
  return list;
}

}  // namespace distribute

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::map<int, std::string> tasks_of(const untrusted::JsonValue& job,
                                                      const std::string& place) {
  std::map<int, std::string> tasks;
  for (size_t i = 0; i < job.items.size(); ++i)
    tasks.emplace(int(i),
                  untrusted::string_of(job.items[i], str_cat(place, "[", i, "]: Task address")));
  for (const auto& [key, address] : job.members) {
    const std::string here = place + "[" + untrusted::shown(key) + "]";
    const std::optional<int> index = untrusted::parse_int(key);
    if (!index || *index < 0)
      throw InvalidArgumentError(here + ": a task index must be a whole number from 0 to 2^31 - 1");
    if (!tasks.emplace(*index, untrusted::string_of(address, here + ": Task address")).second)
      throw InvalidArgumentError(str_cat(here, ": task ", *index, " is named twice"));
  }
  return tasks;
}

DISTRIBUTE_INLINE ClusterSpec cluster_spec_of(const untrusted::JsonValue& value,
                                              const std::string& place) {
  if (!value.is_object())
    throw InvalidArgumentError(place + " must be a dictionary mapping one or more job names to " +
                               "lists of network addresses, not " + value.describe());
  ClusterSpec::Jobs jobs;
  for (const auto& [job, tasks] : value.members) {
    if (!tasks.is_array() && !tasks.is_object())
      throw InvalidArgumentError(
          place + ": The tasks for job " + untrusted::shown(job) + " must be a list " +
          "or a dictionary from integers to strings, not " + tasks.describe());
    jobs.emplace(job, tasks_of(tasks, place + "[" + untrusted::shown(job) + "]"));
  }
  return ClusterSpec(std::move(jobs));
}

}  // namespace distribute::cluster_internal
