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

/// Runs a library of functions with the variables of its graph. Thread-compatible; runs of
/// functions that assign no variable may be concurrent.
class GraphRunner {
 public:
  /// Errors call the file `name`.
  GraphRunner(RunLibrary library, std::string name);

  const RunGraph& graph() const { return library_.graph; }
  /// Returns operations that `targets` need, also inside of functions, and that are not supported.
  std::set<std::string> missing_operations(const std::vector<int>& targets) const;
  /// Returns the values of `results` after all of `targets` have run; `fed` replaces nodes.
  /// Throws  what the operations throw; UnimplementedError for one that is not supported.
  std::vector<GraphValue> run(const std::vector<NodeOutput>& results,
                              const std::vector<int>& targets,
                              const std::map<int, GraphValue>& fed) const;

 private:
  using Values = std::vector<GraphValue>;
  /// Functions and operations found while walking through functions.
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
