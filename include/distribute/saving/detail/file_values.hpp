#pragma once
/// What files of weights hold of a module: with LoRA the sum in place of the weight, and not the
/// matrices.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/saving/detail/assign_weights.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace distribute::saving_internal {

/// Returns the weights of the layer itself that files have.
std::vector<Trackable::NamedVariable> variables_in_files(const nn::Module& layer);

/// The values of a module's weights in files.
class FileValues {
 public:
  explicit FileValues(const nn::Module& module);
  Tensor operator()(const Variable& weight) const;

 private:
  std::map<uint64_t, const nn::LoraLayer*> merged_;  // by the weight's id
};

/// Makes the product of the matrices zero where the weight gets a value of a file, which has that
/// product in it.
void clear_lora(const nn::Module& module, WeightAssignment& weights);

}  // namespace distribute::saving_internal
