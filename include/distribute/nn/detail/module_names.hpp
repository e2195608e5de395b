#pragma once
/// Automatic names of modules: numbered by kind, in the order in which the modules were made.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::nn {
class Module;
}

namespace distribute::nn::nn_internal {

/// Holds the modules of a thread that have no name yet, and the numbers given so far. A number is
/// given when a name is asked for, as only then it is known which modules were named by their
/// parent. Every thread counts for itself, as in Keras, so that tasks that are threads give the
/// same names.
/// Thread-safe.
/// Source  keras.src.utils.naming.auto_name
class ModuleNames {
 public:
  static std::shared_ptr<ModuleNames> of_this_thread();

  /// Adds a module and returns its position in the order.
  uint64_t add(nn::Module& module);
  void remove(uint64_t place);
  void move(uint64_t place, nn::Module& to);
  /// Names the modules made before this position, then the one at it.
  void name_up_to(uint64_t place);
  /// Exchanges positions so that the modules follow each other in the given order.
  void reorder(const std::vector<nn::Module*>& modules);
  /// Names all modules that exist, then starts again with 0.
  void reset();

 private:
  void name_first();
  std::string next_name(const nn::Module& module);

  std::mutex mutex_;  // guards the rest, and the names of the modules in `unnamed_`
  uint64_t next_place_ = 0;
  std::map<uint64_t, nn::Module*> unnamed_;
  std::map<std::string, int64_t> counts_;  // next number of each kind
};

}  // namespace distribute::nn::nn_internal
