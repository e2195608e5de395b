#include <distribute/horovod/detail/engine_options.hpp>
#include <distribute/horovod/detail/negotiation.hpp>
#include <distribute/horovod/detail/rank_place.hpp>

#include <tests/support/check_throws.hpp>

#include <cstdlib>

using namespace distribute;
using namespace distribute::horovod_internal;
using Catch::Matchers::Contains;

namespace {

using Time = Negotiation::Time;

NegotiationOptions options() {
  NegotiationOptions result;
  result.describe = [](int rank) { return str_cat("rank ", rank); };
  return result;
}

Request sum_of(const std::string& name, std::vector<int64_t> shape = {4},
               DType dtype = DType::Float32) {
  return {.terms = {.kind = Kind::Allreduce, .dtype = dtype}, .name = name, .shape = shape};
}

Time at(double seconds) { return Time{} + net::seconds(seconds); }

std::vector<std::string> names(const Response& response) {
  std::vector<std::string> all;
  for (const Entry& entry : response.entries) all.push_back(entry.name);
  return all;
}

}  // namespace

TEST_CASE("an operation is ready when all ranks have submitted it, in any order",
          "[horovod][negotiation]") {
  Negotiation books(3, options());
  books.submit(0, sum_of("a"), at(0));
  books.submit(1, sum_of("b"), at(0));
  books.submit(2, sum_of("b"), at(0));
  books.submit(2, sum_of("a"), at(0));
  CHECK(books.take().empty());
  books.submit(0, sum_of("b"), at(0));
  auto answers = books.take();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].ranks == std::vector<int>{0, 1, 2});
  CHECK(names(answers[0].response) == std::vector<std::string>{"b"});
  books.submit(1, sum_of("a"), at(0));
  answers = books.take();
  REQUIRE(answers.size() == 1);
  CHECK(names(answers[0].response) == std::vector<std::string>{"a"});
  CHECK(answers[0].response.code == StatusCode::Ok);
}

TEST_CASE("small operations of a kind travel together, up to the threshold",
          "[horovod][negotiation]") {
  NegotiationOptions small = options();
  small.fusion_threshold = 40;  // two of four floats
  Negotiation books(1, small);
  books.submit(0, sum_of("a"), at(0));
  books.submit(0, sum_of("n", {1}, DType::Int32), at(0));
  books.submit(0, sum_of("b"), at(0));
  books.submit(0, sum_of("c"), at(0));
  const auto answers = books.take();
  REQUIRE(answers.size() == 3);
  CHECK(names(answers[0].response) == std::vector<std::string>{"a", "b"});
  CHECK(names(answers[1].response) == std::vector<std::string>{"n"});
  CHECK(names(answers[2].response) == std::vector<std::string>{"c"});
}

TEST_CASE("members of a group wait for each other", "[horovod][negotiation]") {
  Negotiation books(2, options());
  const auto member = [](const std::string& name, DType dtype) {
    Request request = sum_of(name, {4}, dtype);
    request.group = "g";
    request.group_size = 2;
    return request;
  };
  books.submit(0, member("g.0", DType::Float32), at(0));
  books.submit(1, member("g.0", DType::Float32), at(0));
  CHECK(books.take().empty());
  books.submit(0, member("g.1", DType::Int32), at(0));
  books.submit(1, member("g.1", DType::Int32), at(0));
  CHECK(books.take().size() == 2);
}

TEST_CASE("different submissions under one name are an error on all that shows both",
          "[horovod][negotiation]") {
  Negotiation books(3, options());
  Request other = sum_of("w", {4});
  SECTION("shape") { other.shape = {5}; }
  SECTION("dtype") { other.terms.dtype = DType::Float16; }
  SECTION("op") { other.terms.op = hvd::Max; }
  SECTION("factor") { other.terms.prescale = 0.5; }
  SECTION("kind") { other.terms.kind = Kind::Broadcast; }
  books.submit(0, sum_of("w"), at(0));
  books.submit(2, other, at(0));
  CHECK(books.take().empty());
  books.submit(1, sum_of("w"), at(0));
  const auto answers = books.take();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].ranks.size() == 3);
  const Response& response = answers[0].response;
  CHECK(response.code == StatusCode::FailedPrecondition);
  CHECK_THAT(response.message, Contains("'w'") &&
                                   Contains("rank 0 has submitted allreduce(sum) of float32 [4]") &&
                                   Contains("rank 2 " + to_string(other)));
}

TEST_CASE("all-gathers may differ in rows only", "[horovod][negotiation]") {
  Negotiation books(2, options());
  const auto gather = [](const std::string& name, std::vector<int64_t> shape) {
    return Request{.terms = {.kind = Kind::Allgather}, .name = name, .shape = shape};
  };
  books.submit(0, gather("a", {3, 2}), at(0));
  books.submit(1, gather("a", {0, 2}), at(0));
  books.submit(0, gather("b", {3, 2}), at(0));
  books.submit(1, gather("b", {3, 3}), at(0));
  const auto answers = books.take();
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].response.entries[0].sizes == std::vector<int64_t>{3, 0});
  CHECK(answers[1].response.code == StatusCode::FailedPrecondition);
}

TEST_CASE("ranks that have joined are not waited for", "[horovod][negotiation]") {
  Negotiation books(3, options());
  const Request join{.terms = {.kind = Kind::Join}, .name = "join"};
  books.submit(0, sum_of("a"), at(0));
  books.submit(1, sum_of("a"), at(0));
  books.submit(2, join, at(0));
  auto answers = books.take();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].ranks.size() == 3);  // it gives zeros
  SECTION("other operations are refused") {
    const Request gather{.terms = {.kind = Kind::Allgather}, .name = "g", .shape = {1}};
    books.submit(0, gather, at(0));
    books.submit(1, gather, at(0));
    answers = books.take();
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].response.code == StatusCode::FailedPrecondition);
    CHECK_THAT(answers[0].response.message, Contains("rank 2 has joined"));
  }
  SECTION("all learn who was last, and can begin anew") {
    books.submit(1, join, at(0));
    CHECK(books.take().empty());
    books.submit(0, join, at(0));
    answers = books.take();
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].response.number == 0);
    books.submit(0, sum_of("b"), at(0));
    CHECK(books.take().empty());
  }
}

TEST_CASE("who waits for a rank that leaves gets an error", "[horovod][negotiation]") {
  Negotiation books(2, options());
  books.submit(0, sum_of("a"), at(0));
  books.leave(1, "has called hvd::shutdown()");
  books.submit(0, sum_of("b"), at(0));
  const auto answers = books.take();
  REQUIRE(answers.size() == 2);
  for (const auto& answer : answers) {
    CHECK(answer.ranks == std::vector<int>{0});
    CHECK(answer.response.code == StatusCode::Aborted);
    CHECK_THAT(answer.response.message, Contains("rank 1 has called hvd::shutdown()"));
  }
}

TEST_CASE("process sets are made by all and used by their members", "[horovod][negotiation]") {
  Negotiation books(3, options());
  const Request add{.terms = {.kind = Kind::AddProcessSet}, .name = "s", .splits = {0, 2}};
  for (int rank : {0, 1, 2}) books.submit(rank, add, at(0));
  auto answers = books.take();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].response.number == 1);
  Request inside = sum_of("a");
  inside.terms.process_set = 1;
  books.submit(1, inside, at(0));
  answers = books.take();
  REQUIRE(answers.size() == 1);
  CHECK_THAT(answers[0].response.message, Contains("rank 1 is not in process set 1"));
  books.submit(0, inside, at(0));
  books.submit(2, inside, at(0));
  answers = books.take();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].ranks == std::vector<int>{0, 2});

  SECTION("the same ranks cannot make another one") {
    for (int rank : {0, 1, 2}) books.submit(rank, add, at(0));
    CHECK(books.take().at(0).response.code == StatusCode::FailedPrecondition);
  }
  SECTION("it can be removed") {
    const Request remove{.terms = {.kind = Kind::RemoveProcessSet}, .name = "r", .splits = {1}};
    for (int rank : {0, 1, 2}) books.submit(rank, remove, at(0));
    CHECK(books.take().at(0).response.code == StatusCode::Ok);
    books.submit(0, inside, at(0));
    CHECK_THAT(books.take().at(0).response.message, Contains("has been removed"));
  }
}

TEST_CASE("a stall is told after 10, 30 and 60 s, then each minute", "[horovod][negotiation]") {
  Negotiation books(2, options());
  books.submit(0, sum_of("a"), at(0));
  std::vector<int> told;
  for (int second = 0; second < 250; ++second)
    if (!books.stalls(at(second)).empty()) told.push_back(second);
  CHECK(told == std::vector<int>{10, 30, 60, 120, 180, 240});
  CHECK(books.next_stall() == at(300));
}

TEST_CASE("a stall is told with the missing ranks, and ends the job after the limit",
          "[horovod][negotiation]") {
  auto limits = options();
  limits.stall_warning = 60;
  Negotiation books(3, limits);
  CHECK(books.next_stall() == Time::max());
  books.submit(0, sum_of("a"), at(1));
  books.submit(2, sum_of("a"), at(5));
  CHECK(books.next_stall() == at(61));
  CHECK(books.stalls(at(60)).empty());
  const auto texts = books.stalls(at(62));
  REQUIRE(texts.size() == 1);
  CHECK_THAT(texts[0], Contains("'a'") && Contains("for rank 1; submitted by rank 0, rank 2"));
  CHECK(books.stalls(at(70)).empty());
  CHECK(books.next_stall() == at(121));
  CHECK(books.take().empty());
  CHECK(books.stalls(at(302)).size() == 1);
  const auto answers = books.take();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].response.entries.empty());
  CHECK(answers[0].response.code == StatusCode::DeadlineExceeded);
}

TEST_CASE("messages arrive as they were sent", "[horovod][request]") {
  const Request request{.terms = {.kind = Kind::Alltoall,
                                  .op = hvd::Product,
                                  .dtype = DType::BFloat16,
                                  .process_set = 3,
                                  .root = 2,
                                  .prescale = 0.25,
                                  .postscale = 1e-9},
                        .name = "x/y:0",
                        .shape = {7, 0},
                        .splits = {3, 4},
                        .group = "g",
                        .group_size = 2};
  const auto back =
      decode_list<Request>(net::encode_message(std::vector<Request>{request, sum_of("b")}));
  REQUIRE(back.size() == 2);
  CHECK(back[0].terms == request.terms);
  CHECK(back[0].shape == request.shape);
  CHECK(back[0].splits == request.splits);
  CHECK(back[0].group == "g");
  CHECK(back[1].name == "b");
  const Response response{.terms = request.terms,
                          .entries = {{.name = "x", .shape = {1}, .sizes = {1, 2}}},
                          .code = StatusCode::Aborted,
                          .message = "why",
                          .number = 9,
                          .members = {0, 2}};
  const auto answers = decode_list<Response>(net::encode_message(std::vector<Response>{response}));
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].entries[0].sizes == std::vector<int64_t>{1, 2});
  CHECK(answers[0].code == StatusCode::Aborted);
  CHECK(answers[0].message == "why");
  CHECK(answers[0].members == std::vector<int64_t>{0, 2});
  CHECK_THROWS_AS(decode_list<Request>("nonsense of some length"), InternalError);
}

TEST_CASE("ranks have places on their hosts and between them", "[horovod][rank_place]") {
  const std::vector<int> hosts{0, 0, 1, 1, 2};
  const auto place = [&](int rank) { return place_of_rank(rank, hosts); };
  CHECK(place(0).local_rank == 0);
  CHECK(place(3).local_rank == 1);
  CHECK(place(3).local_size == 2);
  CHECK(place(3).cross_rank == 1);
  CHECK(place(3).cross_size == 2);  // host 2 has no second rank
  CHECK(place(4).local_size == 1);
  CHECK(place(4).cross_rank == 2);
  CHECK(place(4).cross_size == 3);
  CHECK_FALSE(place(0).homogeneous);
  CHECK(place_of_rank(1, {0, 1, 0, 1}).homogeneous);
  CHECK(place_of_rank(2, {0, 1, 0, 1}).local_rank == 1);
}

TEST_CASE("limits are read under Horovod's names", "[horovod][engine_options]") {
  ::setenv("HOROVOD_FUSION_THRESHOLD", "1024", 1);
  ::setenv("HOROVOD_CYCLE_TIME", "2.5", 1);
  ::setenv("HOROVOD_STALL_CHECK_DISABLE", "1", 1);
  ::setenv("HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", "0", 1);
  const EngineOptions read = EngineOptions::from_environment();
  CHECK(read.negotiation.fusion_threshold == 1024);
  CHECK(read.cycle_time_ms == 2.5);
  CHECK(read.negotiation.stall_warning == 0);
  CHECK(read.negotiation.stall_limit == 0);
  ::setenv("HOROVOD_CYCLE_TIME", "soon", 1);
  check_throws<InvalidArgumentError>([] { EngineOptions::from_environment(); },
                                     "HOROVOD_CYCLE_TIME='soon'");
  for (const char* name : {"HOROVOD_FUSION_THRESHOLD", "HOROVOD_CYCLE_TIME",
                           "HOROVOD_STALL_CHECK_DISABLE", "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"})
    ::unsetenv(name);
}
