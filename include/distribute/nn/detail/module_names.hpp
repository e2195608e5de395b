#pragma once
/// Names of modules that were given none: numbers by kind, in the order in which they were made.

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

/// The modules of a thread that have no name yet, and the numbers given so far. Numbers are given
/// when a name is asked for: only then is it known which modules got one from their parent.
/// Every thread counts for itself, as in Keras, so that tasks that are threads name alike.
/// Thread-safe.
/// Source  keras.src.utils.naming.auto_name
class ModuleNames {
 public:
  static std::shared_ptr<ModuleNames> of_this_thread();

  /// Gives the module's place in the order.
  uint64_t add(nn::Module& module);
  void remove(uint64_t place);
  void move(uint64_t place, nn::Module& to);
  /// Names the modules made before, then this one.
  void name_up_to(uint64_t place);
  /// Exchanges the modules' places, so that they follow each other as given.
  void reorder(const std::vector<nn::Module*>& modules);
  /// Starts again with 0, after naming those that there are.
  void reset();

 private:
  void name_first();
  std::string next_name(const nn::Module& module);

  std::mutex mutex_;  // guards the rest, and the names of the modules in `unnamed_`
  uint64_t next_place_ = 0;
  std::map<uint64_t, nn::Module*> unnamed_;
  std::map<std::string, int64_t> counts_;  // by kind
};

}  // namespace distribute::nn::nn_internal
