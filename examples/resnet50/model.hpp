#pragma once
/// The networks of this example, by the name that --model takes.

#include "flags.hpp"

#include <distribute/distribute.hpp>

#include <memory>

namespace resnet50 {

inline std::unique_ptr<distribute::nn::Module> make_model(const Options& o) {
  namespace applications = distribute::nn::applications;
  if (o.common.model == "resnet50")
    return std::make_unique<applications::ResNet>(
        applications::ResNetOptions{.classes = o.num_classes,
                                    .zero_gamma = o.zero_gamma,
                                    .synchronized = o.sync_batch_norm,
                                    .classifier_activation = nullptr});  // the loss wants logits
  if (o.common.model == "resnet9")
    return std::make_unique<applications::ResNet9>(
        applications::ResNet9Options{.width = o.width > 0 ? o.width : 64,
                                     .classes = o.num_classes,
                                     .synchronized = o.sync_batch_norm});
  applications::SmallResNetOptions small{.classes = o.num_classes,
                                         .synchronized = o.sync_batch_norm};
  if (o.common.model == "resnet20") small.blocks = 3;
  if (o.common.model == "resnet10" || o.common.model == "resnet18") {
    small.filters = {64, 128, 256, 512};
    small.blocks = o.common.model == "resnet10" ? 1 : 2;
  }
  const int64_t own_width = small.filters[0];
  for (int64_t& filters : small.filters)
    if (o.width > 0) filters = filters / own_width * o.width;
  // The penalty on kernels is the optimizer's decay, but for the net of the reference runs.
  if (o.common.model != "resnet8") small.l2 = 0;
  return std::make_unique<applications::SmallResNet>(small);
}

}  // namespace resnet50
