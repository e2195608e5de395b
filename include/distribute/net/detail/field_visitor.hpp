#pragma once
/// What shows the members of a message, and which types a message may hold.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace distribute::net {

class FieldVisitor;

/// Says how a type travels: `static void visit(FieldVisitor&, T&)` shows what it consists of.
/// Specialize it for types that cannot have a member `fields`.
template <typename T>
struct FieldsOf;

/// What a message can hold: numbers, texts, structs with `fields`, types with FieldsOf; vectors,
/// arrays, maps, tuples, pairs and optionals of them.
template <typename T>
concept Field = requires(FieldVisitor& visit, T& value) {
  FieldsOf<T>::visit(visit, value);
};

/// How a number travels.
struct NumberType {
  int bytes;
  const char* name;
};

/// What `fields` shows the members of a message to, in the order in which they travel. Implemented
/// by the encoder and the parser, and by the tests' generator and printer. Thread-compatible.
class FieldVisitor {
 public:
  static constexpr uint64_t kNoLimit = UINT64_MAX;

  FieldVisitor() = default;
  FieldVisitor(const FieldVisitor&) = delete;
  FieldVisitor& operator=(const FieldVisitor&) = delete;
  DISTRIBUTE_INLINE virtual ~FieldVisitor();

  /// Shows a member, and gives the visitor for the next one. `most` limits what may come: the bytes
  /// of a text, the items of a list or map, the value of an unsigned number.
  template <Field T>
  FieldVisitor& operator()(const char* name, T& value, uint64_t most = kNoLimit) {
    const Name here{name, innermost_};
    innermost_ = &here;
    most_ = most;
    FieldsOf<T>::visit(*this, value);
    innermost_ = here.outer;
    return *this;
  }
  /// An enumerator; `last` is the greatest one.
  template <typename E>
  requires std::is_enum_v<E> FieldVisitor& operator()(const char* name, E& value, E last) {
    using Bits = std::make_unsigned_t<std::underlying_type_t<E>>;
    auto bits = Bits(value);
    (*this)(name, bits, uint64_t(last));
    if (fills()) value = E(bits);
    return *this;
  }
  /// A text that points into the message when it is parsed.
  FieldVisitor& view(const char* name, std::string_view& value, uint64_t most = kNoLimit);
  /// The same of all bytes that are left, without their length: the last member of its message.
  FieldVisitor& rest(const char* name, std::string_view& value);

  /// Whether values come from the visitor, as from a parser; an encoder only reads them.
  virtual bool fills() const = 0;
  /// For a parsed value that no sender of this version can have meant; says what is wrong with it.
  virtual void refuse(const std::string& why) = 0;
  virtual bool ok() const { return true; }  // nothing was refused

  // What FieldsOf calls.
  virtual void number(uint64_t& bits, const NumberType& type, uint64_t most) = 0;
  virtual void text(std::string_view& value, uint64_t most) = 0;
  /// Numbers as they lie in memory, of which both sides know how many there are.
  virtual void block(std::span<std::byte> bytes, const NumberType& type) = 0;
  /// The size of a list of which each item has at least `item_bytes`.
  virtual uint64_t list(uint64_t size, uint64_t item_bytes, uint64_t most) = 0;

  /// The limit that operator() was given, once.
  uint64_t take_limit() { return std::exchange(most_, kNoLimit); }
  /// "entries[].name".
  std::string path() const;

 protected:
  virtual void take_rest(std::string_view& value) = 0;

 private:
  struct Name {
    const char* name;
    const Name* outer;
  };
  const Name* innermost_ = nullptr;
  uint64_t most_ = kNoLimit;
};

}  // namespace distribute::net
