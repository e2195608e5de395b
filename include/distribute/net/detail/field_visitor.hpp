#pragma once
/// Shows the members of messages to encoders and parsers, and defines which types a message may
/// hold.

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

/// Says how a type is sent: `static void visit(FieldVisitor&, T&)` shows its parts. Specialize it
/// for types that cannot have a member `fields`.
template <typename T>
struct FieldsOf;

/// A type that a message can hold: numbers, texts, structs with `fields`, types with FieldsOf; also
/// vectors, arrays, maps, tuples, pairs and optionals of them.
template <typename T>
concept Field = requires(FieldVisitor& visit, T& value) {
  FieldsOf<T>::visit(visit, value);
};

/// Describes how a number is sent.
struct NumberType {
  int bytes;
  const char* name;
};

/// The visitor to which `fields` shows the members of a message in the order in which they are
/// sent. The encoder, the parser, and the tests' generator and printer implement it.
/// Thread-compatible.
class FieldVisitor {
 public:
  static constexpr uint64_t kNoLimit = UINT64_MAX;

  FieldVisitor() = default;
  FieldVisitor(const FieldVisitor&) = delete;
  FieldVisitor& operator=(const FieldVisitor&) = delete;
  DISTRIBUTE_INLINE virtual ~FieldVisitor();

  /// Shows a member, and returns the visitor for the next one. `most` limits a parsed value: the
  /// bytes of a text, the items of a list or map, or the value of an unsigned number.
  template <Field T>
  FieldVisitor& operator()(const char* name, T& value, uint64_t most = kNoLimit) {
    const Name here{name, innermost_};
    innermost_ = &here;
    most_ = most;
    FieldsOf<T>::visit(*this, value);
    innermost_ = here.outer;
    return *this;
  }
  /// Shows an enumerator; `last` is the greatest one.
  template <typename E>
  requires std::is_enum_v<E> FieldVisitor& operator()(const char* name, E& value, E last) {
    using Bits = std::make_unsigned_t<std::underlying_type_t<E>>;
    auto bits = Bits(value);
    (*this)(name, bits, uint64_t(last));
    if (fills()) value = E(bits);
    return *this;
  }
  /// Shows a text; a parsed text points into the message.
  FieldVisitor& view(const char* name, std::string_view& value, uint64_t most = kNoLimit);
  /// Shows all remaining bytes as a text without length, as the last member of a message.
  FieldVisitor& rest(const char* name, std::string_view& value);

  /// Whether values come from the visitor, as they do from a parser; an encoder only reads them.
  virtual bool fills() const = 0;
  /// Rejects a parsed value that a sender of this version cannot mean; `why` says what is wrong.
  virtual void refuse(const std::string& why) = 0;
  virtual bool ok() const { return true; }  // no value was refused

  // FieldsOf calls these.
  virtual void number(uint64_t& bits, const NumberType& type, uint64_t most) = 0;
  virtual void text(std::string_view& value, uint64_t most) = 0;
  /// Shows numbers as they are stored in memory. Both sides know how many there are.
  virtual void block(std::span<std::byte> bytes, const NumberType& type) = 0;
  /// Shows the size of a list whose items have at least `item_bytes` bytes each.
  virtual uint64_t list(uint64_t size, uint64_t item_bytes, uint64_t most) = 0;

  /// Takes the limit that operator() was given, and resets it.
  uint64_t take_limit() { return std::exchange(most_, kNoLimit); }
  /// The place of the current member, such as "entries[].name".
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
