#pragma once
/// Layers one after the other.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <memory>

namespace distribute::nn {

/// Calls its layers in order, each with the mask of the one before it; owns them. Sequential
/// model(Conv2D({...}), Flatten(), Dense({...})). Layers without a name are called "conv2d",
/// "conv2d_1", ... as in Keras; in checkpoints the first one of each kind within a sequence has no
/// number. Source  tf.keras.Sequential
class Sequential : public Module {
 public:
  template <std::derived_from<Module>... Layers>
  explicit Sequential(Layers... layers) {
    (append(std::move(layers)), ...);
    number_parts_in_order();
  }

  /// Adds a layer at the end, and gives a reference to it; the sequence owns it.
  template <std::derived_from<Module> Layer>
  Layer& append(Layer layer) {
    return Module::add(std::string(), std::move(layer));
  }
  Module& append(std::unique_ptr<Module> layer) {
    add_child({}, std::move(layer));
    return child(num_children() - 1);
  }
  size_t size() const { return num_children(); }
  Module& operator[](size_t index) const { return child(index); }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE Masked masked_call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "sequential"; }
};

}  // namespace distribute::nn
