#pragma once
/// An element of a list of objects with virtual functions, owned or referred to.

#include <distribute/base/config.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace distribute::train {

/// An object made on the spot is owned, a named one is referred to and outlives the handle. Copies
/// share it.
template <typename Base>
class Handle {
 public:
  template <typename T>
  requires std::derived_from<std::remove_cvref_t<T>, Base> Handle(T&& object) {
    if constexpr (std::is_lvalue_reference_v<T>)
      object_ = std::shared_ptr<Base>(std::shared_ptr<void>(), &object);
    else
      object_ = std::make_shared<std::remove_cvref_t<T>>(std::move(object));
  }
  template <std::derived_from<Base> T>
  Handle(std::shared_ptr<T> object) : object_(std::move(object)) {}
  Base& operator*() const { return *object_; }
  Base* operator->() const { return object_.get(); }

 private:
  std::shared_ptr<Base> object_;
};

}  // namespace distribute::train
