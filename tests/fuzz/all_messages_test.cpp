#include <tests/fuzz/all_messages.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>

#include <fstream>
#include <random>
#include <sstream>

namespace {

constexpr uint64_t kSeeds = 40;

std::string page() {
  std::string text = distribute::str_cat(
      "# Messages between tasks\n\n"
      "Written from the structs of the code by `tests/fuzz/all_messages_test.cpp`, which says how "
      "to copy the new page here after a change. A struct names "
      "its members once, in `fields` ([net/message.hpp](../include/distribute/net/message.hpp)), "
      "for the encoder, the parser, the fuzzers and this page.\n\n"
      "This is version ",
      distribute::net::kProtocolVersion,
      " of the protocol (`kProtocolVersion`). All tasks of a job must have the same: the "
      "handshake ends with an error that names both versions otherwise.\n\n"
      "Numbers are little-endian. A text, and a list, has its length in front (uint32). A "
      "message that is too short, too long, or has a value over its limit is refused, and the "
      "error names the member. A text or list without a limit here is bounded by the message, "
      "and no memory is reserved before its bytes have come.\n");
  for (const fuzz::MessageGroup& group : fuzz::all_messages()) {
    text += "\n## " + group.title + "\n";
    for (const fuzz::MessageKind& kind : group.messages)
      text += "\n### " + kind.name + "\n\n" + kind.purpose +
              "\n\n| member | type | limit |\n|---|---|---|\n" + kind.rows();
  }
  return text;
}

void for_each_message(const std::function<void(const fuzz::MessageKind&)>& visit) {
  for (const fuzz::MessageGroup& group : fuzz::all_messages())
    for (const fuzz::MessageKind& kind : group.messages) visit(kind);
}

}  // namespace

TEST_CASE("every message comes back as it was sent", "[fuzz][net][message]") {
  for_each_message([](const fuzz::MessageKind& kind) {
    INFO(kind.name);
    int made = 0;
    for (uint64_t seed = 0; seed < 10 * kSeeds; ++seed) {
      const auto bytes = kind.generate(seed);
      if (!bytes) continue;
      ++made;
      CHECK(kind.parse(*bytes));  // which compares what it encodes again
    }
    CHECK(made > 2);
  });
}

TEST_CASE("a message that is cut off or too long is refused", "[fuzz][net][message]") {
  for_each_message([](const fuzz::MessageKind& kind) {
    INFO(kind.name);
    const bool takes_rest = kind.rows().find("all bytes that are left") != std::string::npos;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto bytes = kind.generate(seed);
      if (!bytes) continue;
      for (size_t size = 0; size < bytes->size(); ++size) {
        const bool parsed = kind.parse(std::string_view(*bytes).substr(0, size));
        if (!takes_rest) REQUIRE_FALSE(parsed);
      }
      if (!takes_rest) CHECK_FALSE(kind.parse(*bytes + "x"));
    }
  });
}

TEST_CASE("no damaged message crashes its parser", "[fuzz][net][message]") {
  std::mt19937 random(1);
  for_each_message([&](const fuzz::MessageKind& kind) {
    INFO(kind.name);
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto bytes = kind.generate(seed);
      if (!bytes) continue;
      for (size_t i = 0; i < bytes->size(); ++i) {
        std::string damaged = *bytes;
        damaged[i] = char(damaged[i] ^ char(1 + random() % 255));
        kind.parse(damaged);
        damaged[i] = char(0xff);
        kind.parse(damaged);
      }
    }
    for (int i = 0; i < 200; ++i) {
      std::string bytes(random() % 64, '\0');
      for (char& byte : bytes) byte = char(random() % 3 ? random() % 4 : random());
      kind.parse(bytes);
      fuzz::any_message(bytes);
    }
  });
  SUCCEED();
}

TEST_CASE("docs/protocol.md lists every message as it is", "[fuzz][net][message]") {
  const std::string path = distribute::testing::source_dir() + "/docs/protocol.md";
  std::stringstream there;
  there << std::ifstream(path).rdbuf();
  if (there.str() == page()) return;
  const std::string made = distribute::testing::binary_dir() + "/protocol.md";
  std::ofstream(made) << page();
  FAIL("docs/protocol.md is not what the messages are now: cp " << made << " " << path);
}
