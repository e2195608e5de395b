#include <distribute/testing/detail/cluster_channel.hpp>

#include <tests/support/catch.hpp>

using namespace distribute::testing_internal;

TEST_CASE("messages come out as they went in, however the bytes are cut",
          "[testing][cluster_channel]") {
  const std::string text(70'000, 'x');
  const std::string bytes =
      encode_message(ChannelKind::Result, text) + encode_message(ChannelKind::Barrier, "");
  std::string buffer;
  std::vector<ChannelMessage> messages;
  for (const char byte : bytes) {
    buffer += byte;
    while (auto message = take_message(buffer)) messages.push_back(*message);
  }
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].kind == ChannelKind::Result);
  CHECK(messages[0].text == text);
  CHECK(messages[1].kind == ChannelKind::Barrier);
  CHECK(messages[1].text == "");
  CHECK(buffer == "");
}
