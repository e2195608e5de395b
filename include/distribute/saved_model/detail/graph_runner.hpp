#pragma once
/// Runs graphs of TensorFlow, node by node.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/graph_reader.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace distribute::saved_model_internal {

/// A library of functions with the variables that its graph has. Thread-compatible; runs of
/// functions that assign nothing may go side by side.
class GraphRunner {
 public:
  /// Errors call the file `name`.
  GraphRunner(RunLibrary library, std::string name);

  const RunGraph& graph() const { return library_.graph; }
  /// Operations that `targets` need and that are not there, also inside of functions.
  std::set<std::string> missing_operations(const std::vector<int>& targets) const;
  /// The values of `results` after all of `targets` have run; `fed` takes the place of nodes.
  /// Throws  what the operations throw; UnimplementedError for one that is not there.
  std::vector<GraphValue> run(const std::vector<NodeOutput>& results,
                              const std::vector<int>& targets,
                              const std::map<int, GraphValue>& fed) const;

 private:
  using Values = std::vector<GraphValue>;
  /// What a walk through functions has seen.
  struct Seen {
    std::set<std::string> functions, open, missing;
  };
  void collect(const RunGraph& graph, const std::vector<int>& targets, Seen& seen) const;
  std::vector<int> order_of(const RunGraph& graph, const std::vector<int>& targets,
                            const std::map<int, GraphValue>& fed) const;
  Values run_graph(const RunGraph& graph, const std::vector<NodeOutput>& results,
                   const std::vector<int>& targets, const std::map<int, GraphValue>& fed) const;
  Values run_node(const RunNode& node, Values inputs) const;
  Values run_function(const std::string& function, const Values& arguments) const;
  Values run_while(const RunNode& node, Values state) const;
  const RunGraph& function_called(const std::string& name) const;

  RunLibrary library_;
  std::string name_;
  std::map<std::string, std::shared_ptr<GraphVariable>> variables_;  // by shared name
};

}  // namespace distribute::saved_model_internal
