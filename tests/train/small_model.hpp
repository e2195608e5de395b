#pragma once
/// The small net with an optimizer as one compiled Model, for tests of fit and its callbacks.

#include <distribute/nn/loss.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/small_fit.hpp>

/// What a SmallModel is made of.
struct SmallParts {
  distribute::nn::Sequential net = small_net();
  distribute::optim::SGD sgd;
};

/// Classifies the rows of small_data(); with metric "accuracy" or with the loss alone.
class SmallModel : SmallParts, public distribute::train::Model {
 public:
  explicit SmallModel(const distribute::optim::SGDOptions& options = {}, bool has_accuracy = true)
      : SmallParts{.sgd = distribute::optim::SGD(options)}, Model(net) {
    using namespace distribute;
    train::CompileOptions compiled{
        .optimizer = sgd, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})};
    if (has_accuracy) compiled.metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")};
    compile(compiled);
  }
};
