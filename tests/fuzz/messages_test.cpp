#include <tests/fuzz/messages.hpp>
#include <tests/support/catch.hpp>

#include <random>
#include <vector>

namespace net = distribute::net;
using distribute::cluster_internal::ControlMessage;
using distribute::cluster_internal::ControlType;

namespace {

struct Target {
  void (*run)(std::string_view);
  std::string seed;  // well-formed: what mutations start from
};

std::vector<Target> targets() {
  net::HandshakeHello hello;
  hello.client = {"worker", 1, 2};
  hello.server_type = "worker";
  hello.purpose = "member";
  hello.job = "job";
  hello.nonce = std::string(32, 'n');
  const auto frame = [](net::HandshakeFrame type, const auto& message) {
    return net::encode_frame_of(uint16_t(type), message);
  };
  const std::string changes = net::encode_message(
      std::vector<distribute::cluster_internal::ProgressChange>{{1, "a"}, {2, "b"}});
  std::string stream;
  for (const ControlType type : {ControlType::Join, ControlType::Gather, ControlType::Get,
                                 ControlType::Set, ControlType::Heartbeat, ControlType::Leave})
    stream += ControlMessage{.type = type, .request = 3, .name = "key", .value = changes}.encode();
  return {{fuzz::to_server, frame(net::HandshakeFrame::Hello, hello) +
                                frame(net::HandshakeFrame::Proof, net::HandshakeProof())},
          {fuzz::to_client,
           frame(net::HandshakeFrame::Challenge, net::HandshakeChallenge{std::string(32, 'n')}) +
               frame(net::HandshakeFrame::Welcome, net::HandshakeWelcome{7, ""})},
          {fuzz::to_client, net::encode_refusal(absl::NotFoundError("a reason"))},
          {fuzz::control_stream, stream},
          {fuzz::descriptions, std::string("{\"a\":[1,{\"b\":2}]}\0{\"a\":[1,{\"b\":3}]}", 35)},
          {fuzz::address, "[::1]:2222"}};
}

std::string mutate(std::string bytes, std::mt19937& random) {
  for (int edits = 1 + int(random() % 4); edits > 0; --edits) {
    const size_t at = bytes.empty() ? 0 : random() % bytes.size();
    switch (random() % 4) {
      case 0: bytes.insert(at, 1, char(random())); break;
      case 1: bytes.erase(at, 1 + random() % 8); break;
      case 2: bytes.resize(at); break;
      default:
        if (!bytes.empty()) bytes[at] = char(random() % 3 == 0 ? 0xff : random());
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("no damaged message crashes a task", "[fuzz][net][cluster]") {
  std::mt19937 random(1);
  for (const Target& target : targets()) {
    target.run(target.seed);
    for (int i = 0; i < 20'000; ++i) target.run(mutate(target.seed, random));
  }
  SUCCEED();
}
