#include <distribute/base/error.hpp>
#include <distribute/net/message.hpp>

#include <tests/support/catch.hpp>

#include <limits>
#include <string>

namespace net = distribute::net;

namespace {

enum class Color : uint8_t { Red, Green };

struct Part {
  int32_t number = 0;
  std::string text;

  bool operator==(const Part&) const = default;
  void fields(net::FieldVisitor& visit) { visit("number", number)("text", text, 4); }
};

struct Example {
  bool flag = false;
  Color color = Color::Red;
  uint8_t small = 0;
  double real = 0;
  std::array<int64_t, 2> times{};
  std::vector<Part> parts;
  std::vector<int64_t> numbers;
  std::optional<std::string> maybe;
  std::map<std::string, std::vector<bool>> flags;

  bool operator==(const Example&) const = default;
  void fields(net::FieldVisitor& visit) {
    visit("flag", flag)("color", color, Color::Green)("small", small, 9)("real", real);
    visit("times", times)("parts", parts, 3)("numbers", numbers)("maybe", maybe)("flags", flags);
  }
};

struct Open {
  std::string_view name, rest;
  void fields(net::FieldVisitor& visit) { visit.view("name", name, 8).rest("rest", rest); }
};

const Example kExample{true,
                       Color::Green,
                       9,
                       -0.5,
                       {std::numeric_limits<int64_t>::min(), 7},
                       {{-5, "four"}, {1, ""}},
                       {1, -1, std::numeric_limits<int64_t>::max()},
                       "x",
                       {{"a", {true, false}}, {"", {}}}};

std::string error_of(const Example& example) {
  const auto parsed = net::parse_message<Example>(net::encode_message(example), "example");
  return std::string(parsed.status().message());
}

}  // namespace

TEST_CASE("members of all types come back", "[net][message]") {
  const std::string bytes = net::encode_message(kExample);
  const auto same = net::parse_message<Example>(bytes, "example");
  REQUIRE(same.ok());
  CHECK(*same == kExample);
  CHECK(net::encode_message(*same) == bytes);
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK(net::parse_message<Example>(bytes.substr(0, size), "example").status().code() ==
          absl::StatusCode::kInvalidArgument);
}

TEST_CASE("bytes on the wire are little-endian, with lengths in front", "[net][message]") {
  CHECK(net::encode_message(Part{-2, "ab"}) == std::string("\xfe\xff\xff\xff\x02\0\0\0ab", 10));
  CHECK(net::encode_message(std::vector<uint16_t>{1, 0x0203}) ==
        std::string("\x02\0\0\0\x01\0\x03\x02", 8));
}

TEST_CASE("a member over its limit is named", "[net][message]") {
  const auto with = [](auto change) {
    Example example = kExample;
    change(example);
    return error_of(example);
  };
  CHECK(error_of(kExample) == "");
  CHECK(with([](Example& e) { e.color = Color(2); }) ==
        "a damaged message (example): color is 2, at most 1 is known");
  CHECK(with([](Example& e) { e.small = 10; }) ==
        "a damaged message (example): small is 10, at most 9 is known");
  CHECK(with([](Example& e) { e.parts[1].text = "12345"; }) ==
        "a damaged message (example): parts[].text has 5 bytes, at most 4 are allowed");
  CHECK(with([](Example& e) { e.parts.resize(4); }) ==
        "a damaged message (example): parts has 4 items, at most 3 are allowed");
  std::string bytes = net::encode_message(kExample);
  bytes[0] = 2;
  CHECK(net::parse_message<Example>(bytes, "example").status().message() ==
        "a damaged message (example): flag is 2, at most 1 is known");
  CHECK(net::parse_message<uint8_t>("ab", "number").status().message() ==
        "a damaged message (number): 1 bytes are left over at its end");
}

TEST_CASE("a list reserves nothing for items that have not come", "[net][message]") {
  const std::string huge("\xff\xff\xff\xff", 4);
  const auto error_of = [&](const auto& parsed) { return std::string(parsed.status().message()); };
  CHECK(error_of(net::parse_message<std::vector<int64_t>>(huge, "list")) ==
        "a damaged message (list): ends before its 4294967295 items");
  CHECK(error_of(net::parse_message<std::vector<Part>>(huge, "list")) ==
        "a damaged message (list): ends before its 4294967295 items");
  CHECK(error_of(net::parse_message<std::string>(huge, "text")) ==
        "a damaged message (text): is cut off");
}

TEST_CASE("views point into the message, the rest to its end", "[net][message]") {
  const std::string bytes = net::encode_message(Open{"name", "all that follows"});
  const auto open = net::parse_message<Open>(bytes, "open");
  REQUIRE(open.ok());
  CHECK(open->name == "name");
  CHECK(open->rest == "all that follows");
  CHECK(open->rest.data() + open->rest.size() == bytes.data() + bytes.size());
}

TEST_CASE("only types that can travel are members", "[net][message]") {
  static_assert(net::Field<std::vector<std::pair<Part, std::optional<float>>>>);
  static_assert(!net::Field<int*>);
  static_assert(!net::Field<std::string_view>);  // use view() or rest()
  static_assert(!net::Field<Color>);             // needs its greatest enumerator
}
