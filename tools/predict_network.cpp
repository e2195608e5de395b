#include "predict_network.hpp"

#include "../examples/mnist_cnn/model.hpp"

#include <distribute/base/error.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/resnet.hpp>

namespace distribute_tools {

namespace applications = distribute::nn::applications;
using distribute::concat;
using distribute::str_cat;
using distribute::nn::Module;

namespace {

/// What a checkpoint says of the network that it was saved from.
class SavedShapes {
 public:
  explicit SavedShapes(const std::string& checkpoint)
      : reader_(checkpoint), keys_(distribute::train::weight_keys(reader_)) {}

  bool contains(const std::string& weight) const { return keys_.contains(weight); }
  /// The last dimension of a weight, or the usual one where the file has no such weight.
  int64_t last_dim(const std::string& weight, int64_t usual) {
    const auto found = keys_.find(weight);
    if (found == keys_.end()) return usual;
    const auto& dims = reader_.entry(found->second[0]).dims;
    return dims.empty() ? usual : dims.back();
  }

 private:
  distribute::train::BundleReader reader_;
  distribute::train::WeightKeys keys_;
};

std::unique_ptr<Module> resnet50(SavedShapes& saved) {
  applications::ResNetOptions options{.classes = saved.last_dim("predictions/bias", 1000)};
  // Keras's own network has biases in its convolutions.
  options.version_1 = saved.contains("conv1_conv/bias");
  options.classifier_activation = nullptr;  // predict makes probabilities of all networks' logits
  return std::make_unique<applications::ResNet>(options);
}

std::unique_ptr<Module> resnet9(SavedShapes& saved) {
  return std::make_unique<applications::ResNet9>(applications::ResNet9Options{
      .width = saved.last_dim("prep_conv/kernel", 64), .classes = saved.last_dim("fc/bias", 10)});
}

/// Stages are block_a, block_b, ..., the blocks of one block_a, block_a2, ...
std::unique_ptr<Module> small_resnet(SavedShapes& saved) {
  applications::SmallResNetOptions options{.classes = saved.last_dim("fc/bias", 10)};
  std::vector<int64_t> filters;
  const auto kernel = [](size_t stage) {
    return str_cat("block_", std::string(1, char('a' + stage)), "_conv1/kernel");
  };
  while (filters.size() < 26 && saved.contains(kernel(filters.size())))
    filters.push_back(saved.last_dim(kernel(filters.size()), 0));
  if (!filters.empty()) options.filters = filters;
  while (saved.contains(str_cat("block_a", options.blocks + 1, "_conv1/kernel"))) ++options.blocks;
  return std::make_unique<applications::SmallResNet>(options);
}

}  // namespace

bool is_digits_model(const std::string& model) { return model == "book" || model == "tutorial"; }

const std::vector<std::string>& predict_models() {
  static const std::vector<std::string> models{"book",    "tutorial", "resnet50", "resnet8",
                                               "resnet9", "resnet10", "resnet18", "resnet20"};
  return models;
}

std::unique_ptr<Module> make_predict_network(const std::string& model,
                                             const std::string& checkpoint) {
  SavedShapes saved(checkpoint);
  if (model == "book") return std::make_unique<distribute::nn::Sequential>(mnist_cnn::book_model());
  if (model == "tutorial")
    return std::make_unique<distribute::nn::Sequential>(mnist_cnn::tutorial_model());
  if (model == "resnet50") return resnet50(saved);
  return model == "resnet9" ? resnet9(saved) : small_resnet(saved);
}

}  // namespace distribute_tools
