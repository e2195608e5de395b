#include <distribute/cluster/detail/host_identity.hpp>
#include <distribute/net/detail/descriptor_listener.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/serialization.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>
#include <distribute/parameter_server/detail/push_message.hpp>
#include <distribute/parameter_server/detail/server_link.hpp>

#include <tests/parameter_server/ps_support.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/metric_value.hpp>

#include <atomic>
#include <mutex>
#include <set>
#include <span>

#include <unistd.h>

using namespace ps_test;
using namespace distribute;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Id = Client::Id;

namespace {

std::vector<float> ramp(int64_t count, float scale = 1) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[size_t(i)] = scale * float(i % 1013 - 500);
  return values;
}

ClientOptions either_transport() {
  const int flows = GENERATE(0, 1, 3);  // 0: shared memory
  return {.transport = flows ? Transport::Tcp : Transport::SharedMemory, .flows = flows};
}

}  // namespace

TEST_CASE("one task creates, all tasks see the values", "[parameter_server][client]") {
  Servers servers;
  const ClientOptions options = either_transport();
  const auto first = ramp(6000);
  std::atomic<int> initialized{0};
  servers.run(
      3,
      [&](int rank, Client& client) {
        const VariableSpec spec{.key = "w", .shape = {60, 100}};
        Id id = -1;
        if (rank < 2) {  // two creators: the first one wins
          id = client.create(
              spec, [&] { return ++initialized, Tensor(spec.shape, first); }, Existing::Keep);
        } else {
          id = client.attach(spec, soon());
        }
        REQUIRE(client.read(id).to_vector() == first);
        REQUIRE(client.exists("w"));
        REQUIRE_FALSE(client.exists("v"));
        client.set("seen/" + std::to_string(rank), "yes");
        for (int other = 0; other < 3; ++other)
          REQUIRE(client.wait("seen/" + std::to_string(other), soon()) == "yes");
        if (rank == 1) client.assign(id, full({60, 100}, 7));
        if (rank == 1) client.set("assigned", "");
        client.wait("assigned", soon());
        REQUIRE(client.read(id).to_vector() == std::vector<float>(6000, 7));
      },
      options);
  CHECK(initialized == 1);
}

TEST_CASE("overwrite replaces what is there", "[parameter_server][client]") {
  Servers servers;
  const auto client = servers.client(0);
  const VariableSpec spec{.key = "w", .shape = {3}};
  const Id id = client->create(
      spec,
      [] {
        return Tensor{1.0f, 2.0f, 3.0f};
      },
      Existing::Keep);
  client->create(
      spec,
      [] {
        return Tensor{4.0f, 5.0f, 6.0f};
      },
      Existing::Keep);
  CHECK(client->read(id).to_vector() == std::vector<float>{1, 2, 3});
  CHECK(client->create(
            spec,
            [] {
              return Tensor{4.0f, 5.0f, 6.0f};
            },
            Existing::Overwrite) == id);
  CHECK(client->read(id).to_vector() == std::vector<float>{4, 5, 6});
}

TEST_CASE("round robin, forced and colocated placement", "[parameter_server][client]") {
  Servers servers(3, 2);
  const auto client = servers.client(0), other = servers.client(1);
  const auto place = [&](Client& by, VariableSpec spec) {
    return by.server_of(by.create(spec, zero(), Existing::Keep));
  };
  CHECK(place(*client, {.key = "a", .shape = {2}}) == 0);
  CHECK(place(*client, {.key = "b", .shape = {2}}) == 1);
  CHECK(place(*client, {.key = "b/m", .shape = {2}, .colocate_with = "b"}) == 1);
  CHECK(place(*client, {.key = "forced", .shape = {2}, .server = 0}) == 0);
  CHECK(place(*client, {.key = "c", .shape = {2}}) == 2);
  CHECK(place(*client, {.key = "d", .shape = {2}}) == 0);
  CHECK(place(*other, {.key = "b", .shape = {2}}) == 1);
  CHECK_THAT(error_of([&] { place(*client, {.key = "e", .shape = {2}, .server = 3}); }),
             StartsWith("INVALID_ARGUMENT: ") && Contains("the job has 3"));
  CHECK_THAT(error_of([&] { place(*other, {.key = "a", .shape = {2}, .server = 2}); }),
             Contains("worker 1 wants it on ps 2, but it is on ps 0"));
  CHECK_THAT(error_of([&] { place(*other, {.key = "f", .shape = {2}, .colocate_with = "x"}); }),
             Contains("'x', which is on no server"));
}

TEST_CASE("greedy placement balances bytes", "[parameter_server][client]") {
  Servers servers(2, 1);
  const auto client = servers.client(0, {.placement = Placement::GreedyBytes});
  for (const int64_t size : {100'000, 60'000, 30'000, 20'000, 5'000})
    client->create({.key = std::to_string(size), .shape = {size}}, zero(), Existing::Keep);
  CHECK(servers[0].bytes() == 4 * (100'000 + 5'000));
  CHECK(servers[1].bytes() == 4 * (60'000 + 30'000 + 20'000));
}

TEST_CASE("shapes that differ between tasks are an error with both", "[parameter_server][client]") {
  Servers servers;
  const auto one = servers.client(0), other = servers.client(1);
  one->create({.key = "w", .shape = {2, 3}}, zero(), Existing::Keep);
  for (const auto& error : {error_of([&] {
                              other->attach({.key = "w", .shape = {3, 2}}, soon());
                            }),
                            error_of([&] {
                              other->create({.key = "w", .shape = {3, 2}}, zero(), Existing::Keep);
                            })})
    CHECK_THAT(error, StartsWith("INVALID_ARGUMENT: ps 0: variable 'w': worker 1 has float32 "
                                 "[3, 2], but worker 0 has created it as float32 [2, 3]"));
  CHECK_THAT(error_of([&] {
               other->attach({.key = "w", .shape = {2, 3}, .dtype = DType::Int64}, soon());
             }),
             Contains("worker 1 has int64 [2, 3]"));
  CHECK_THAT(error_of([&] {
               other->attach({.key = "missing", .shape = {1}}, Deadline::after_seconds(0.2));
             }),
             StartsWith("DEADLINE_EXCEEDED: ps 0: waited in vain for a task to create"));
  CHECK_THAT(error_of([&] { other->wait("missing", Deadline::after_seconds(0.2)); }),
             StartsWith("DEADLINE_EXCEEDED: ps 0: waited in vain"));
}

TEST_CASE("a creator that dies leaves the first value to the next", "[parameter_server][client]") {
  Servers servers;
  const VariableSpec spec{.key = "w", .shape = {2}};
  auto one = servers.client(0);
  CHECK_THROWS_AS(one->create(
                      spec, []() -> Tensor { throw InternalError("dies"); }, Existing::Keep),
                  InternalError);
  const auto other = servers.client(1);
  Id id = -1;
  std::thread waits([&] {
    id = other->create(
        spec,
        [] {
          return Tensor{3.0f, 4.0f};
        },
        Existing::Keep);
  });
  one.reset();
  waits.join();
  CHECK(other->read(id).to_vector() == std::vector<float>{3, 4});
}

TEST_CASE("assign_add is atomic", "[parameter_server][client]") {
  Servers servers;
  const ClientOptions options = either_transport();
  std::mutex mutex;
  std::set<int64_t> seen;
  servers.run(
      3,
      [&](int, Client& client) {
        const Id id = client.create(counter_spec(), zero(), Existing::Keep);
        for (int i = 0; i < 100; ++i) {
          const int64_t value = client.assign_add(id, Tensor(int64_t{1})).item<int64_t>();
          const std::lock_guard lock(mutex);
          REQUIRE(seen.insert(value).second);
        }
      },
      options);
  CHECK(seen.size() == 300);
  CHECK(*seen.rbegin() == 300);
}

TEST_CASE("pushes have the bits of a local update", "[parameter_server][client]") {
  Servers servers;
  const ClientOptions options = either_transport();
  const auto client = servers.client(0, options);
  const int64_t size = 3'000'001;  // several pieces, odd
  const Id counter = client->create(counter_spec(), zero(), Existing::Keep);
  std::vector<float> w = ramp(size), m(w.size()), v(w.size());
  const Id id = client->create(
      {.key = "w", .shape = {size}}, [&] { return Tensor({size}, w); }, Existing::Keep);
  const VariableSpec like{.key = "m", .shape = {size}, .colocate_with = "w"};
  const Id slot_m = client->create(like, zero(), Existing::Keep);
  VariableSpec like_v = like;
  like_v.key = "v";
  const Id slot_v = client->create(like_v, zero(), Existing::Keep);
  for (int step = 0; step < 3; ++step) {
    const Tensor before = client->read(id);
    CHECK(before.to_vector() == w);
    const auto g = ramp(size, 0.01f * float(step + 1));
    float* slots[] = {m.data(), v.data()};
    optim::make_update_kernel(optim::Adam(), adam(step).step)(0, w.data(), slots, g.data(), size);
    CHECK(client->push({.kernel = adam(step),
                        .updates = {{id, {slot_m, slot_v}, Tensor({size}, g)}},
                        .counter = counter}) == step + 1);
    CHECK(client->read(id).to_vector() == w);
    CHECK(client->read(slot_m).to_vector() == m);
    CHECK(client->read(slot_v).to_vector() == v);
    CHECK(before.to_vector() != w);  // a snapshot stays what it was
  }
  CHECK(client->read(counter).item<int64_t>() == 3);
}

TEST_CASE("three clients push, nothing is lost, numbers are unique", "[parameter_server][client]") {
  Servers servers;
  const ClientOptions options = either_transport();
  std::mutex mutex;
  std::set<int64_t> numbers;
  servers.run(
      3,
      [&](int, Client& client) {
        const Id counter = client.create(counter_spec(), zero(), Existing::Keep);
        std::vector<Id> ids;
        for (int i = 0; i < 4; ++i)
          ids.push_back(client.create({.key = "w" + std::to_string(i), .shape = {50'000 + i}},
                                      zero(), Existing::Keep));
        for (int step = 0; step < 50; ++step) {
          Client::Push push{.kernel = sgd(1, 4), .counter = counter};
          for (int i = 0; i < 4; ++i)
            push.updates.push_back({ids[size_t(i)], {}, full({50'000 + i}, -1)});
          const int64_t number = client.push(push);
          client.prefetch(ids);
          for (const Tensor& value : client.pull(ids)) {
            const auto elements = value.data<float>();
            REQUIRE(elements.front() == elements.back());
            REQUIRE(elements.front() >= float(step + 1));  // its own are in
          }
          const std::lock_guard lock(mutex);
          REQUIRE(numbers.insert(number).second);
        }
        client.flush();
        client.set("done", "");
      },
      options);
  CHECK(numbers.size() == 150);
  CHECK(*numbers.rbegin() == 150);
}

TEST_CASE("what has not changed does not travel again", "[parameter_server][client]") {
  Servers servers;
  const auto client = servers.client(0, {.transport = Transport::Tcp});
  const Id big = client->create({.key = "big", .shape = {100'000}}, zero(), Existing::Keep);
  const Id small = client->create({.key = "small", .shape = {10}}, zero(), Existing::Keep);
  const std::vector<Id> both = {big, small};
  client->pull(both);
  const int64_t before = client->bytes_moved();
  client->pull(both);
  client->assign(small, full({10}, 1));
  const auto values = client->pull(both);
  CHECK(values[1].to_vector() == std::vector<float>(10, 1));
  CHECK(client->bytes_moved() - before < 1000);
  client->assign(big, full({100'000}, 1));
  client->pull(both);
  CHECK(client->bytes_moved() - before > 800'000);
}

TEST_CASE("a prefetch sees what was written before the pull", "[parameter_server][client]") {
  Servers servers;
  const ClientOptions options = either_transport();
  const auto client = servers.client(0, options);
  const Id id = client->create({.key = "w", .shape = {5}}, zero(), Existing::Keep);
  client->prefetch(std::span(&id, 1));
  client->assign(id, full({5}, 3));
  CHECK(client->pull(std::span(&id, 1))[0].to_vector() == std::vector<float>(5, 3));
  client->prefetch(std::span(&id, 1));
  CHECK(client->pull(std::span(&id, 1))[0].to_vector() == std::vector<float>(5, 3));
}

TEST_CASE("gradients appear in shared memory", "[parameter_server][client]") {
  Servers servers;
  const auto client = servers.client(0, {.transport = Transport::SharedMemory});
  const Id id = client->create({.key = "w", .shape = {10'000}}, zero(), Existing::Keep);
  const int64_t before = client->bytes_moved();
  for (int step = 0; step < 10; ++step) {
    auto offer = client->place_gradient(id);
    REQUIRE(offer);
    void* place = offer->data;
    std::vector<BufferOffer> offers;
    offers.push_back(std::move(*offer));
    const BufferOffers scope(std::move(offers));
    const Tensor gradient = full({10'000}, -1);
    REQUIRE(gradient.array().bytes() == place);
    client->push({.kernel = sgd(1), .updates = {{id, {}, gradient}}});
  }
  CHECK(client->read(id).to_vector() == std::vector<float>(10'000, 10));
  CHECK(client->bytes_moved() - before < 10'000);
}

TEST_CASE("bfloat16 on the wire halves the bytes", "[parameter_server][client]") {
  Servers servers;
  const auto client = servers.client(0, {.bf16_on_wire = true, .transport = Transport::Tcp});
  const auto first = ramp(100'000);
  const Id id = client->create(
      {.key = "w", .shape = {100'000}}, [&] { return Tensor({100'000}, first); }, Existing::Keep);
  const int64_t before = client->bytes_moved();
  const auto got = client->read(id).to_vector();
  for (size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == float(bfloat16(first[i])));
  client->push({.kernel = sgd(1), .updates = {{id, {}, full({100'000}, 1.0f / 3)}}});
  client->flush();
  CHECK(client->bytes_moved() - before < 401'000);
  client->flush();
  const auto exact = client->read_rows(id, 0, 100'000).to_vector();
  for (size_t i = 0; i < got.size(); ++i) REQUIRE(exact[i] == first[i] - float(bfloat16(1.0f / 3)));
}

TEST_CASE("sparse gradients touch their rows", "[parameter_server][client]") {
  Servers servers;
  const ClientOptions options = either_transport();
  const auto client = servers.client(0, options);
  const Id id = client->create({.key = "table", .shape = {1000, 8}},
                               InitialValue::rows([](int64_t begin, int64_t end) {
                                 std::vector<float> values;
                                 for (int64_t row = begin; row < end; ++row)
                                   values.insert(values.end(), 8, float(row));
                                 return Tensor({end - begin, 8}, values);
                               }),
                               Existing::Keep);
  const Tensor rows(Shape{4}, std::vector<int64_t>{999, 0, 7, 7});
  const auto value_of = [&](int64_t row) {
    return client->gather_rows(id, Tensor(Shape{1}, std::vector<int64_t>{row})).to_vector()[0];
  };
  CHECK(client->gather_rows(id, rows).to_vector()[0] == 999);
  const Tensor held = client->read(id);
  client->push({.kernel = sgd(1),
                .updates = {{id, {}, to_tensor({full({4, 8}, 1), rows, Shape{1000, 8}})}}});
  CHECK(value_of(999) == 998);
  CHECK(value_of(0) == -1);
  CHECK(value_of(7) == 5);  // both occurrences
  CHECK(value_of(8) == 8);
  CHECK(held.data<float>()[7 * 8] == 7);
  CHECK(client->read(id).data<float>()[7 * 8] == 5);
  CHECK_THAT(error_of([&] { value_of(1000); }), Contains("has 1000 rows, row 1000 is asked for"));
  CHECK(client->read_rows(id, 6, 9).to_vector()[8] == 5);
}

TEST_CASE("wrong uses say what was wanted", "[parameter_server][client]") {
  Servers servers;
  const auto client = servers.client(0);
  const Id a = client->create({.key = "a", .shape = {4}, .server = 0}, zero(), Existing::Keep);
  const Id b = client->create({.key = "b", .shape = {4}, .server = 1}, zero(), Existing::Keep);
  CHECK_THAT(error_of([&] { client->assign(a, full({5}, 1)); }),
             Contains("variable 'a' is float32 [4], got float32 [5]"));
  CHECK_THAT(error_of([&] { client->read(99); }), Contains("no variable 99"));
  CHECK_THAT(error_of([&] {
               client->push({.kernel = sgd(1), .updates = {{a, {b}, full({4}, 1)}}});
             }),
             Contains("slot 'b' is on ps 1, its variable 'a' on ps 0"));
  CHECK_THAT(
      error_of([&] {
        client->push({.kernel = {"nonsense", sgd(1).step}, .updates = {{a, {}, full({4}, 1)}}});
      }),
      StartsWith("INVALID_ARGUMENT: ps 0: "));
  CHECK_THAT(error_of([&] {
               client->create(
                   {.key = "c", .shape = {4}}, [] { return full({3}, 1); }, Existing::Keep);
             }),
             Contains("create: variable 'c'"));
  CHECK(client->read(a).to_vector() == std::vector<float>(4, 0));
}

TEST_CASE("a server of another version is refused", "[parameter_server][client]") {
  Servers servers(1, 3, {.version = "99.1.0"});
  check_throws<FailedPreconditionError>([&] { servers.client(2); },
                                        " 99.1.0: run the same build in all tasks");
}

TEST_CASE("servers end when the job is finished and all have left", "[parameter_server][client]") {
  Servers servers(2, 2);
  auto one = servers.client(0), other = servers.client(1);
  one->create({.key = "a", .shape = {4}}, zero(), Existing::Keep);
  one->finish_job();
  one.reset();
  std::atomic<bool> ended{false};
  std::thread joins([&] {
    servers[0].join();
    servers[1].join();
    ended = true;
  });
  CHECK(other->exists("a"));
  CHECK_FALSE(ended);
  other.reset();
  joins.join();
}

TEST_CASE("requests, pushes and bytes of parameter servers are counted",
          "[parameter_server][client]") {
  const auto requests = [](const char* request) {
    return metric_value("distribute_parameter_server_requests_total", {request});
  };
  const auto bytes = [](const char* direction) {
    return metric_value("distribute_transport_bytes_total", {"parameter_server", "tcp", direction});
  };
  const double pushes = requests("push"), sent = bytes("sent"), received = bytes("received");
  const double optimizers = requests("optimizer");
  const double applied = metric_value("distribute_parameter_server_pushes_total", {"applied"});
  const double variables = metric_value("distribute_parameter_server_variables");
  Servers servers;
  servers.run(1,
              [&](int, Client& client) {
                const Id id = client.create(
                    {.key = "w", .shape = {1000}}, [] { return Tensor(Shape{1000}, ramp(1000)); },
                    Existing::Keep);
                for (int i = 0; i < 3; ++i)
                  client.push({.kernel = sgd(1), .updates = {{id, {}, full({1000}, 1)}}});
                client.flush();
              },
              {.transport = Transport::Tcp, .flows = 1});
  CHECK(requests("push") == pushes + 3);
  CHECK(requests("optimizer") == optimizers + 1);  // known from the first push on
  CHECK(metric_value("distribute_parameter_server_pushes_total", {"applied"}) == applied + 3);
  CHECK(metric_value("distribute_parameter_server_variables") == variables + 1);
  CHECK(bytes("sent") - sent >= 4 * 4000);  // a first value and three gradients, of the client
  CHECK(bytes("received") - received >= 4 * 4000);  // of the server, in the same process
  CHECK(metric_value("distribute_queue_length", {"parameter_server_requests"}) == 0);
}

namespace {

/// A data connection as a client has it, for requests that no client makes.
class RawLink {
 public:
  explicit RawLink(Job& job)
      : task_(job.start("worker", 0)),
        peer_(task_->peer("ps", 0, soon())),
        link_(peer_, task_->dial(*peer_, parameter_server::kLinkPurpose, "", soon())) {}

  /// "" or what is wrong with it. `values` follow the head.
  template <typename Message>
  std::string send(parameter_server::LinkRequest type, const Message& message,
                   std::span<const float> values = {}) {
    parameter_server::ServerLink::Request request{.type = type};
    request.request = net::encode_message(message);
    request.bytes.push_back(std::as_bytes(values));
    const auto answer = link_.send(std::move(request));
    parameter_server::ServerLink* const only = &link_;
    parameter_server::ServerLink::drive(
        std::span(&only, 1), [&] { return answer->done; }, soon());
    return answer->error;
  }
  /// Returns when the pushes of this connection, which are answered before, have been applied.
  void flush() {
    CHECK(send(parameter_server::LinkRequest::Flush, parameter_server::StagedRequest()).empty());
  }

 private:
  std::shared_ptr<rpc::JobTask> task_;
  std::shared_ptr<rpc::Peer> peer_;
  parameter_server::ServerLink link_;
};

/// Row-major elements back to front; counts how often they are turned.
class CountedLayout final : public Layout {
 public:
  CountedLayout(int64_t count, int& turns) : layout_(count), turns_(turns) {}
  int64_t bytes() const override { return layout_.bytes(); }
  bool equals(const Layout& other) const override { return this == &other; }
  bool dense() const override { return true; }
  std::string name() const override { return "counted"; }
  void to_row_major(const void* from, void* to) const override {
    ++turns_;
    layout_.to_row_major(from, to);
  }
  void from_row_major(const void* from, void* to) const override {
    layout_.from_row_major(from, to);
  }

 private:
  ReversedLayout layout_;
  int& turns_;
};

}  // namespace

TEST_CASE("a push with an unknown optimizer changes nothing", "[parameter_server][client]") {
  using parameter_server::LinkRequest;
  Job job({{"ps", 1}, {"worker", 2}});
  ParameterServer server(job.start("ps", 0), {});
  Client client(job.start("worker", 1));
  const Id id = client.create({.key = "w", .shape = {2}}, zero(), Existing::Keep);
  RawLink link(job);
  parameter_server::PushMessage push{
      .commit_now = true, .optimizer = 5, .step = sgd(1).step, .updates = {{}}};
  const std::vector<float> gradient{-1, -2};
  const auto error = [&] { return link.send(LinkRequest::Push, push, gradient); };
  CHECK_THAT(error(), Contains("no optimizer is registered as 5 on this connection"));
  const auto known = [&](uint32_t number, const std::string& text) {
    return link.send(LinkRequest::Optimizer, parameter_server::OptimizerMessage{number, text});
  };
  CHECK(known(5, sgd(1).optimizer).empty());
  CHECK_THAT(known(5, "nonsense"), Contains("describes no optimizer"));
  CHECK_THAT(known(64, sgd(1).optimizer), Contains("damaged"));
  CHECK(client.read(id).to_vector() == std::vector<float>{0, 0});
  CHECK(error().empty());
  link.flush();
  CHECK(client.read(id).to_vector() == std::vector<float>{1, 2});
  push.step.factors = {1, 1};
  CHECK_THAT(error(), Contains("2 factors or ratios for the 1 variables"));
  push.step.factors.clear();
  push.updates[0].index = 1;
  CHECK_THAT(error(), Contains("update 1 of a step of 1 updates"));
  push.updates[0].index = 0;
  push.updates[0].rows = -1;
  CHECK_THAT(error(), Contains("bad rows"));
  CHECK(client.read(id).to_vector() == std::vector<float>{1, 2});
}

TEST_CASE("optimizers that change are registered again", "[parameter_server][client]") {
  Servers servers(1, 1);
  const auto client = servers.client(0);
  std::vector<float> w = ramp(10);
  const Id id = client->create(
      {.key = "w", .shape = {10}}, [&] { return Tensor({10}, w); }, Existing::Keep);
  // More than a connection keeps, so that old ones are known again in the second round.
  for (int i = 0; i < 150; ++i) {
    const double decay = 0.001 * (i % 75);
    UpdateDescription kernel = sgd(0.5f);
    kernel.optimizer = str_cat(R"({"class_name":"SGD","config":{"weight_decay":)", decay, "}}");
    kernel.step.decayed = {true};
    const auto g = ramp(10, 0.01f);
    optim::make_update_kernel(*optim::deserialize(kernel.optimizer), kernel.step)(
        0, w.data(), nullptr, g.data(), 10);
    client->push({.kernel = kernel, .updates = {{id, {}, Tensor({10}, g)}}});
    REQUIRE(client->read(id).to_vector() == w);
  }
}

TEST_CASE("a gradient in another layout is turned once", "[parameter_server][client]") {
  Servers servers(1, 1);
  const ClientOptions options = either_transport();
  const auto client = servers.client(0, options);
  const int64_t size = 2000;
  const Id id = client->create({.key = "w", .shape = {size}}, zero(), Existing::Keep);
  int turns = 0;
  const Tensor gradient =
      in_layout(Tensor({size}, ramp(size, -1)), std::make_shared<CountedLayout>(size, turns));
  client->push({.kernel = sgd(1), .updates = {{id, {}, gradient}}});
  CHECK(client->read(id).to_vector() == ramp(size));
  CHECK(turns == 1);
}

// All users of a machine see these names: an address in them would tell where memory lies.
TEST_CASE("the sockets of a server have random names", "[parameter_server][client]") {
  rpc_test::Job job({{"ps", 1}, {"worker", 1}});
  ParameterServer server(job.start("ps", 0), {});
  const auto task = job.start("worker", 0);
  const auto peer = task->peer("ps", 0, soon());
  uint64_t bits = 0;
  std::set<uint64_t> numbers;
  for (int i = 0; i < 4; ++i) {
    parameter_server::ServerLink link(
        peer, task->dial(*peer, parameter_server::kLinkPurpose, "", soon()));
    parameter_server::ServerLink::Request request{.type = parameter_server::LinkRequest::Share};
    request.request = net::encode_message(parameter_server::ShareRequest{host_identity()});
    const auto answer = link.send(std::move(request));
    parameter_server::ServerLink* const only = &link;
    parameter_server::ServerLink::drive(
        std::span(&only, 1), [&] { return answer->done; }, soon());
    const std::string name =
        value_or_throw(net::parse_message<parameter_server::ShareAnswer>(answer->answer, "share"))
            .socket;
    REQUIRE_THAT(name, StartsWith(str_cat("distribute-ps-", ::getpid(), "-")));
    const uint64_t number = std::stoull(name.substr(name.rfind('-') + 1));
    numbers.insert(number);
    bits |= number;
    (void)net::connect_to_descriptors(name,
                                      soon());  // so that the server does not wait for this client
  }
  CHECK(numbers.size() == 4);
  CHECK(bits >> 47 != 0);  // no address of a process is that large
}
