#pragma once
/// Any values for any message, through the same `fields` that encodes it.

#include <distribute/net/message.hpp>

#include <algorithm>
#include <deque>
#include <random>
#include <string>

namespace distribute::testing {

/// Fills what it is shown with values within their limits, extreme ones among them.
class ValueGenerator final : public net::FieldVisitor {
 public:
  explicit ValueGenerator(uint64_t seed) : random_(seed) {}

  bool fills() const override { return true; }
  /// Members may not fit together by chance.
  void refuse(const std::string&) override { ok_ = false; }
  bool ok() const override { return ok_; }
  void number(uint64_t& bits, const net::NumberType&, uint64_t most) override {
    switch (random_() % 4) {
      case 0: bits = 0; break;
      case 1: bits = most; break;
      case 2: bits = random_() % 5; break;
      default: bits = random_();
    }
    if (most != UINT64_MAX) bits %= most + 1;
  }
  void text(std::string_view& value, uint64_t most) override {
    std::string text(size_t(std::min<uint64_t>(most, size())), '\0');
    for (char& letter : text) letter = char(random_());
    value = texts_.emplace_back(std::move(text));
  }
  void block(std::span<std::byte> bytes, const net::NumberType&) override {
    for (std::byte& byte : bytes) byte = std::byte(random_());
  }
  uint64_t list(uint64_t, uint64_t, uint64_t most) override {
    return std::min<uint64_t>(most, random_() % 4);
  }

 private:
  void take_rest(std::string_view& value) override { text(value, UINT64_MAX); }
  uint64_t size() { return random_() % 8 == 0 ? 300 : random_() % 12; }

  std::mt19937_64 random_;
  std::deque<std::string> texts_;  // what views point at
  bool ok_ = true;
};

}  // namespace distribute::testing
