#include <distribute/base/status.hpp>
#include <distribute/parameter_server/detail/push_message.hpp>

#include <tests/support/check_throws.hpp>

#include <string>

using namespace distribute;
using namespace distribute::parameter_server;

namespace {

PushMessage some_push() {
  return {
      .number = 7,
      .synchronous = true,
      .local_step = 3,
      .counter = 2,
      .origin = {.session = 1, .function = 2, .number = 3, .settled = 4},
      .optimizer = 5,
      .step = {.rate = 0.1f, .done = 9, .decayed = {true, false}, .factors = {1, 0.5f}},
      .updates = {{.index = 1, .variable = 4, .slots = {5, 6}, .where = Where::Arena, .offset = 64},
                  {.where = Where::Halved, .rows = 10}}};
}

PushMessage read_push(const std::string& bytes) {
  return value_or_throw(net::parse_message<PushMessage>(bytes, "push"));
}

}  // namespace

TEST_CASE("a push says the same where it is read", "[parameter_server][push_message]") {
  const std::string bytes = net::encode_message(some_push());
  const PushMessage push = read_push(bytes);
  CHECK(push.number == 7);
  CHECK_FALSE(push.commit_now);
  CHECK(push.synchronous);
  CHECK(push.max_staleness == -1);
  CHECK(push.origin == UpdateOrigin{1, 2, 3});
  CHECK(push.origin.settled == 4);
  CHECK(push.step.rate == 0.1f);
  CHECK(push.step.decayed == std::vector<bool>{true, false});
  CHECK(push.step.factors == std::vector<float>{1, 0.5f});
  CHECK(push.step.ratios.empty());
  REQUIRE(push.updates.size() == 2);
  CHECK(push.updates[0].slots == std::vector<uint32_t>{5, 6});
  CHECK(push.updates[0].offset == 64);
  CHECK_FALSE(push.updates[0].rows);
  CHECK(push.updates[1].where == Where::Halved);
  CHECK(push.updates[1].rows == 10);
  CHECK(net::encode_message(push) == bytes);
}

TEST_CASE("pushes that are cut off or exceed a limit are refused",
          "[parameter_server][push_message]") {
  const std::string bytes = net::encode_message(some_push());
  for (size_t size = 0; size < bytes.size(); ++size)
    check_throws<InvalidArgumentError>([&] { read_push(bytes.substr(0, size)); },
                                       "a damaged message (push): ");
  PushMessage push = some_push();
  push.updates[0].slots.assign(9, 0);
  CHECK_THROWS_AS(read_push(net::encode_message(push)), InvalidArgumentError);
  push = some_push();
  push.updates[1].where = Where(9);
  CHECK_THROWS_AS(read_push(net::encode_message(push)), InvalidArgumentError);
  CHECK_FALSE(net::parse_message<OptimizerMessage>("\xff\xff\xff\xff", "optimizer").ok());
}
