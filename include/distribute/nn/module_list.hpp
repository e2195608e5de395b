#pragma once
/// Lists of layers, and layers that may be absent, as attributes of a module.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/nn/module.hpp>

namespace distribute::nn {

/// Is the base of lists of layers.
class ModuleListBase : public Module {
 public:
  size_t size() const { return num_children(); }
  bool empty() const { return size() == 0; }
  bool adds_name() const override { return false; }

 protected:
  ModuleListBase() = default;

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "module_list"; }
};

/// Owns layers that the module around it calls as it likes:
///
///   class Tower : public nn::Module {
///    public:
///     explicit Tower(int64_t depth) {
///       for (int64_t i = 0; i < depth; ++i) blocks_.append(Block(64));
///     }
///
///    private:
///     Tensor call(const Tensor& x, nn::CallOptions options) override {
///       Tensor y = x;
///       for (Block& block : blocks_) y = block(y, options);
///       return y;
///     }
///     nn::ModuleList<Block>& blocks_ = add("blocks", nn::ModuleList<Block>());
///   };
///
/// Checkpoints call the layers "blocks/0", "blocks/1", as TensorFlow does those of a list. Names of
/// weights leave the list out, as Keras's do: "tower/block_1/conv/kernel".
/// Throws  UnimplementedError when it is called itself.
/// Source  a list as attribute of tf.Module or tf.keras.layers.Layer; torch.nn.ModuleList
template <std::derived_from<Module> Layer = Module>
class ModuleList : public ModuleListBase {
 public:
  template <std::derived_from<Layer>... Layers>
  explicit ModuleList(Layers... layers) {
    (append(std::move(layers)), ...);
    number_parts_in_order();
  }

  /// Adds a layer at the end.
  /// Throws  InvalidArgumentError for a name taken already in the module around the list.
  template <std::derived_from<Layer> Added>
  Added& append(Added layer) {
    auto owned = std::make_unique<Added>(std::move(layer));
    Added& reference = *owned;
    add_element(std::move(owned));
    return reference;
  }
  Layer& operator[](size_t index) const { return static_cast<Layer&>(child(index)); }

  class Iterator {
   public:
    Iterator(const ModuleList& list, size_t index) : list_(&list), index_(index) {}
    Layer& operator*() const { return (*list_)[index_]; }
    Iterator& operator++() { return ++index_, *this; }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const ModuleList* list_;
    size_t index_;
  };
  /// Returns the layers in order.
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
};

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
