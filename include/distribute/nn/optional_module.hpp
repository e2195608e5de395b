#pragma once
/// A part that a module may not have.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/nn/module.hpp>

namespace distribute::nn {

/// Refers to a part that the module owns, or to none:
///
///   explicit Block(int64_t filters, bool projects) {
///     if (projects) shortcut_ = add("shortcut", nn::Conv2D({.filters = filters}));
///   }
///   Tensor call(const Tensor& x, nn::CallOptions options) override {
///     return conv_(x, options) + (shortcut_ ? shortcut_(x, options) : x);
///   }
///   nn::OptionalModule<nn::Conv2D> shortcut_;
///
/// Source  an attribute that is a layer or None
template <std::derived_from<Module> Layer>
class OptionalModule {
 public:
  OptionalModule() = default;
  OptionalModule(Layer& layer) : layer_(&layer) {}

  explicit operator bool() const { return layer_ != nullptr; }
  /// Throws  FailedPreconditionError when there is none.
  Layer& operator*() const {
    if (!layer_) throw FailedPreconditionError("an optional layer that does not exist was used");
    return *layer_;
  }
  Layer* operator->() const { return &**this; }
  Tensor operator()(const Tensor& x, CallOptions options = {}) const {
    return (**this)(x, options);
  }

 private:
  Layer* layer_ = nullptr;
};

}  // namespace distribute::nn
