/// DistributedDataParallel against PyTorch's own over Gloo, and what it says of mistakes.

#include <distribute/base/error.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/torch/distributed_sampler.hpp>
#include <distribute/torch/sync_batch_norm.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/torch/torch_support.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using Catch::Matchers::Contains;
using distribute::Error;
using distribute::str_cat;
using distribute::testing::NetworkNamespaces;
using distribute::testing::ProcessCluster;
using distribute::testing::ProcessClusterOptions;

namespace {

/// The arguments of pytorch_ddp.py.
struct Run {
  std::string net;
  int ranks = 2, steps = 3;
  std::string text() const { return str_cat(net, " ", ranks, " ", steps); }
};

/// The lines of the script, for one rank.
template <typename Net>
std::string trained_lines(Net net, const Run& run) {
  const int rank = dist::get_rank();
  fill_parameters(*net, rank);
  dist::DistributedDataParallel ddp(net);
  torch::optim::SGD optimizer(
      net->parameters(), torch::optim::SGDOptions(0.02).momentum(run.net == "sparse" ? 0.0 : 0.5));
  std::string lines;
  const auto train = [&](int64_t steps) {
    for (int64_t step = 0; step < steps; ++step) {
      char line[80];
      std::snprintf(line, sizeof line, "loss %d %d %.9g\n", rank, int(step),
                    double(train_step(ddp, optimizer, rank, step)));
      lines += line;
    }
  };
  if (run.net == "uneven")
    ddp.join([&] { train(run.steps + 2 * rank); });
  else
    train(run.steps);
  const auto weights = all_weights(*net);
  char line[120];
  std::snprintf(line, sizeof line, "weights %d %.9g %.9g\n", rank,
                weights.sum().template item<double>(),
                weights.square().sum().template item<double>());
  return lines + line + str_cat("bits ", rank, " ", bits_of(*net), "\n") +
         str_cat("transport ", rank, " ", dist::get_transport(), "\n");
}

/// Checks that all lines "bits RANK NUMBER" have the same number.
void check_same_bits(const std::string& text, int ranks) {
  int found = 0;
  std::string first;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("bits ")) continue;
    const std::string bits = line.substr(line.rfind(' '));
    if (!found++) first = bits;
    CHECK(bits == first);
  }
  CHECK(found == ranks);
}

/// From "loss 0 2" to the numbers behind.
std::map<std::string, std::vector<double>> numbers_in(const std::string& text) {
  std::map<std::string, std::vector<double>> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, rank, key;
    words >> kind >> rank;
    if (kind != "loss" && kind != "weights") continue;  // a warning of PyTorch
    key = kind + " " + rank;
    if (kind == "loss") {
      std::string step;
      words >> step;
      key += " " + step;
    }
    for (double value; words >> value;) found[key].push_back(value);
  }
  return found;
}

/// The lines of PyTorch; the test ends where it is missing.
std::string pytorch_lines(const Run& run) {
  const TemporaryDirectory own;
  if (!run_torch_script("torch/pytorch_ddp.py", run.text(), own / "log"))
    SKIP("Python has no torch; DISTRIBUTE_TORCH_PYTHON names one that has");
  return file_text(own / "log");
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(trains_like_pytorch) {
  Run run;
  std::istringstream words(task.argument());
  words >> run.net >> run.ranks >> run.steps;
  dist::init_process_group();
  if (run.net == "residual")
    task.set_result(trained_lines(Residual(), run));
  else if (run.net == "sparse")
    task.set_result(trained_lines(Sparse(), run));
  else
    task.set_result(trained_lines(Book(), run));
  dist::destroy_process_group();
}

/// Trains on ranks as `options` say, and checks what PyTorch gives for the same run. Returns what
/// the ranks have said.
std::string check_against_pytorch(const Run& run, const ProcessClusterOptions& options) {
  INFO(run.text());
  const auto wanted = numbers_in(pytorch_lines(run));
  ProcessCluster cluster(options);
  std::string lines;
  for (const auto& outcome : cluster.join()) lines += outcome.result.value();
  check_same_bits(lines, run.ranks);
  const auto got = numbers_in(lines);
  REQUIRE(got.size() == wanted.size());
  for (const auto& [key, values] : wanted) {
    INFO(key);
    REQUIRE(got.count(key) == 1);
    REQUIRE(got.at(key).size() == values.size());
    for (size_t i = 0; i < values.size(); ++i)
      CHECK_THAT(got.at(key)[i], Catch::Matchers::WithinRel(values[i], 2e-5) ||
                                     Catch::Matchers::WithinAbs(values[i], 1e-6));
  }
  return lines;
}

TEST_CASE("losses and weights are those of PyTorch's DDP over Gloo", "[torch][multiproc]") {
  const Run run = GENERATE(Run{"book", 2, 4}, Run{"book", 3, 4}, Run{"residual", 2, 4},
                           Run{"residual", 3, 4}, Run{"sparse", 2, 4}, Run{"uneven", 3, 3});
  check_against_pytorch(run, ranks_of(run.ranks, "trains_like_pytorch", run.text()));
}

TEST_CASE("so they are on two hosts", "[torch][multiproc][network_namespaces]") {
  if (const auto reason = NetworkNamespaces::unavailable_reason(); !reason.empty())
    SKIP("" + reason);
  const NetworkNamespaces network({.hosts = 2});
  const Run run = GENERATE(Run{"book", 2, 4}, Run{"residual", 3, 4});
  auto options = ranks_of(run.ranks, "trains_like_pytorch", run.text());
  options.network = &network;
  CHECK_THAT(check_against_pytorch(run, options), !Contains(" shm\n"));
}

DISTRIBUTE_CLUSTER_MAIN(makes_a_mistake) {
  dist::init_process_group();
  std::string said;
  try {
    if (task.argument() == "shapes") {
      torch::nn::Sequential net(torch::nn::Linear(3, dist::get_rank() == 2 ? 5 : 4));
      dist::DistributedDataParallel ddp(torch::nn::Sequential(net).ptr());
    } else if (task.argument() == "unused") {
      Book net;
      net->register_parameter("spare", torch::zeros({2}));
      dist::DistributedDataParallel ddp(net);
      torch::optim::SGD optimizer(net->parameters(), 0.1);
      for (int step = 0; step < 3; ++step) train_step(ddp, optimizer, dist::get_rank(), step);
    } else if (task.argument() == "leaves") {
      Book net;
      dist::DistributedDataParallel ddp(net);
      torch::optim::SGD optimizer(net->parameters(), 0.1);
      for (int step = 0; step < (dist::get_rank() == 1 ? 2 : 5); ++step)
        train_step(ddp, optimizer, dist::get_rank(), step);
    } else if (task.argument() == "saves") {
      dist::save_on_chief("/proc/no/such/file", [] { return std::string("text"); });
    }
  } catch (const Error& error) {
    said = error.what();
  }
  task.set_result(said);
  if (task.argument() == "unused") std::_Exit(0);  // ranks have stopped in the middle of a step
}

TEST_CASE("mistakes are told on all ranks", "[torch][multiproc]") {
  const auto answers = [](const std::string& mistake) {
    ProcessCluster cluster(ranks_of(3, "makes_a_mistake", mistake));
    std::vector<std::string> all;
    for (const auto& outcome : cluster.join()) all.push_back(outcome.result.value());
    return all;
  };
  for (const std::string& said : answers("shapes")) {
    CHECK_THAT(said,
               Contains("rank 0 has 0.weight [4, 3] Float, rank 2 has 0.weight [5, 3] Float"));
  }
  for (const std::string& said : answers("unused")) {
    CHECK_THAT(said, Contains("parameters got no gradient in the last backward pass: spare; "));
    CHECK_THAT(said, Contains("find_unused_parameters"));
  }
  const auto left = answers("leaves");
  CHECK(left[1] == "");
  CHECK_THAT(left[0], Contains("worker 1"));
  CHECK_THAT(left[2], Contains("worker 1"));
  for (const std::string& said : answers("saves")) CHECK_THAT(said, Contains("/proc/no/such/file"));
}

DISTRIBUTE_CLUSTER_MAIN(normalizes) {
  dist::init_process_group();
  const int rank = dist::get_rank();
  torch::manual_seed(3);
  const auto all = torch::randn({10, 4, 3}), weights = torch::randn({10, 4, 3});
  torch::nn::Sequential plain(torch::nn::BatchNorm1d(4));
  torch::nn::BatchNorm1d norm(4);
  torch::nn::Sequential pair(norm);
  auto synchronized = dist::convert_sync_batchnorm(pair);
  auto whole = all.clone().requires_grad_();
  (plain->forward(whole) * weights).sum().backward();
  // Ranks have 3, 3 and 4 examples.
  const int64_t begin = rank * 3, end = rank == 2 ? 10 : begin + 3;
  auto part = all.slice(0, begin, end).clone().requires_grad_();
  (synchronized->forward(part) * weights.slice(0, begin, end)).sum().backward();
  const auto& reference = *plain->ptr(0)->as<torch::nn::BatchNorm1dImpl>();
  std::string wrong;
  if (!part.grad().allclose(whole.grad().slice(0, begin, end), 1e-4, 1e-5)) wrong += "gradient; ";
  if (!norm->running_mean.allclose(reference.running_mean, 1e-4, 1e-6)) wrong += "mean; ";
  if (!norm->running_var.allclose(reference.running_var, 1e-4, 1e-6)) wrong += "var; ";
  auto gradient = norm->weight.grad().clone();
  dist::all_reduce(gradient);
  if (!gradient.allclose(reference.weight.grad(), 1e-4, 1e-4)) wrong += "weight; ";
  task.set_result(wrong);
}

TEST_CASE("batch norm over ranks is that of the whole batch", "[torch][multiproc]") {
  ProcessCluster cluster(ranks_of(3, "normalizes"));
  for (const auto& outcome : cluster.join()) CHECK(outcome.result.value() == "");
}

/// The lists are those of torch.utils.data.distributed.DistributedSampler in PyTorch 2.15.
TEST_CASE("the sampler gives PyTorch's examples", "[torch]") {
  const auto indices = [](dist::DistributedSamplerOptions options, uint64_t epoch) {
    dist::DistributedSampler sampler(11, options);
    sampler.set_epoch(epoch);
    std::vector<size_t> all;
    while (const auto batch = sampler.next(2)) all.insert(all.end(), batch->begin(), batch->end());
    return all;
  };
  using Indices = std::vector<size_t>;
  CHECK(indices({.shuffle = false, .num_replicas = 3, .rank = 2}, 0) == Indices{2, 5, 8, 0});
  CHECK(indices({.shuffle = false, .drop_last = true, .num_replicas = 3, .rank = 2}, 0) ==
        Indices{2, 5, 8});
  CHECK(indices({.seed = 5, .num_replicas = 3, .rank = 0}, 0) == Indices{9, 8, 3, 1});
  CHECK(indices({.seed = 5, .num_replicas = 3, .rank = 1}, 2) == Indices{0, 5, 10, 6});
  CHECK_THROWS_WITH(dist::DistributedSampler(5, {.num_replicas = 2, .rank = 2}),
                    Contains("rank 2 is not one of 2 replicas"));
}
