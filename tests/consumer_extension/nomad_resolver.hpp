#pragma once
/// A cluster that one variable describes: NOMAD_TASKS='{"addresses": ["a:1", "b:1"], "own": 1}'.

#include <distribute/base/json.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/default_resolver.hpp>

#include <memory>
#include <string>
#include <vector>

class NomadResolver : public distribute::ClusterResolver {
 public:
  explicit NomadResolver(const distribute::Environment& variables) {
    namespace untrusted = distribute::untrusted;
    const untrusted::JsonValue root =
        untrusted::parse_json(variables("NOMAD_TASKS").value_or("{}"), "NOMAD_TASKS");
    if (const untrusted::JsonValue* addresses = root.find("addresses"))
      for (const untrusted::JsonValue& address : addresses->items)
        addresses_.push_back(untrusted::string_of(address, "NOMAD_TASKS: addresses"));
    set_task_type(distribute::TaskType("worker"));
    if (const untrusted::JsonValue* own = root.find("own"))
      set_task_id(untrusted::int_of(*own, "NOMAD_TASKS: own"));
  }

  distribute::ClusterSpec cluster_spec() const override { return {{{"worker", addresses_}}}; }

 private:
  std::vector<std::string> addresses_;
};

inline void register_nomad() {
  distribute::register_cluster_resolver(
      {.name = "Nomad",
       .order = 5,
       .implied_by =
           [](const distribute::Environment& variables) {
             return std::string(variables.has("NOMAD_TASKS") ? "NOMAD_TASKS" : "");
           },
       .make =
           [](const distribute::Environment& variables) {
             return std::make_unique<NomadResolver>(variables);
           }});
}
