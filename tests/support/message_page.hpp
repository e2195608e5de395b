#pragma once
/// The rows of docs/protocol.md, through the same `fields` that encodes a message.

#include <distribute/base/error.hpp>
#include <distribute/net/message.hpp>

#include <string>
#include <vector>

namespace distribute::testing {

/// Makes a row of each member that it is shown, and of one item of each list.
class FieldPrinter final : public net::FieldVisitor {
 public:
  bool fills() const override { return true; }
  void refuse(const std::string&) override {}
  void number(uint64_t& bits, const net::NumberType& type, uint64_t most) override {
    const uint64_t whole = UINT64_MAX >> (64 - 8 * type.bytes);
    const bool is_bool = std::string(type.name) == "bool";
    add(type.name, most == whole || is_bool ? "" : str_cat("at most ", most));
    bits = is_bool;  // so that what is optional is shown, too
  }
  void text(std::string_view&, uint64_t most) override { add("text", limit(most, "bytes")); }
  void block(std::span<std::byte> bytes, const net::NumberType& type) override {
    const bool is_list =
        !rows_.empty() && rows_.back().type == "list" && rows_.back().path == path();
    if (is_list)
      rows_.back().type = str_cat("list of ", type.name);
    else
      add(str_cat(bytes.size() / size_t(type.bytes), " x ", type.name), "");
  }
  uint64_t list(uint64_t, uint64_t, uint64_t most) override {
    add("list", limit(most, "items"));
    return 1;
  }

  /// As a table of Markdown, without its head.
  std::string rows() const {
    std::string text;
    for (const Row& row : rows_) {
      const std::string name = row.path.empty() ? "" : str_cat("`", row.path, "`");
      text += str_cat("| ", name, " | ", row.type, " | ", row.limit, " |\n");
    }
    return text;
  }

 private:
  struct Row {
    std::string path, type, limit;
  };
  void take_rest(std::string_view&) override { add("all bytes that are left", ""); }
  static std::string limit(uint64_t most, const char* of) {
    return most == kNoLimit ? "" : str_cat("at most ", most, " ", of);
  }
  void add(const std::string& type, const std::string& limit) {
    rows_.push_back({path(), type, limit});
  }

  std::vector<Row> rows_;
};

}  // namespace distribute::testing
