#include <distribute/autograd/variable.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/device/detail/backend.hpp>
#include <distribute/summary/file_writer.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;
using Json = nlohmann::json;

namespace {

ProgramResult distribute_program(const std::vector<std::string>& arguments) {
  return run_program("distribute", arguments, "OMP_NUM_THREADS=1");
}

/// Nothing on stdout, one line on stderr that holds `text`, and the status.
void check_complaint(const std::vector<std::string>& arguments, int status,
                     const std::string& text) {
  INFO((arguments.empty() ? std::string("no arguments") : arguments.back()));
  const ProgramResult result = distribute_program(arguments);
  CHECK(result.status == status);
  CHECK(result.out == "");
  CHECK_THAT(result.err, Contains(text));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

std::string bundle(const std::string& name) {
  return distribute::testing::source_dir() + "/tests/data/bundle/" + name;
}

void damage_last_byte(const std::string& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(-1, std::ios::end);
  const char byte = char(stream.get());
  stream.seekp(-1, std::ios::end);
  stream.put(char(byte ^ 1));
}

std::string save_scalar(const std::string& path, float value) {
  train::save_weights(path, {Variable(Tensor(value), {.name = "x"})});
  return path;
}

}  // namespace

TEST_CASE("wrong usage gives one line and status 2", "[tools][distribute]") {
  check_complaint({}, 2, "say what to do");
  check_complaint({"frobnicate"}, 2, "unknown command 'frobnicate'");
  check_complaint({"bench"}, 2, "say what to do: bench allreduce, bench kernels or bench ps");
  check_complaint({"rnu", "-np", "2"}, 2, "unknown command 'rnu'; did you mean run?");
  check_complaint({"cluster", "mke"}, 2, "unexpected argument 'mke'; did you mean cluster make?");
  check_complaint({"doctro"}, 2, "unknown command 'doctro'; did you mean doctor?");
  check_complaint({"ckpt", "dif", "a", "b"}, 2,
                  "unknown command 'ckpt dif'; did you mean ckpt diff?");
  check_complaint({"bench", "frobnicate"}, 2, "unknown command 'bench frobnicate'");
  check_complaint({"bench", "kernels", "--no_such_flag=1"}, 2, "--no_such_flag");
  check_complaint({"bench", "kernels", "--treads=1"}, 2, "did you mean --threads?");
  check_complaint({"run", "--oversub", "--", "true"}, 2, "did you mean --oversubscribe?");
  check_complaint({"run", "--flagfile=/none", "--", "true"}, 2, "cannot read --flagfile=/none");
  check_complaint({"run", "--fromenv=np", "--", "true"}, 2, "FLAGS_np is not set");
  check_complaint({"ckpt", "ls", "prefix", "--tolerance=1"}, 2,
                  "ckpt ls: flag --tolerance does nothing here; it is for ckpt diff");
  check_complaint({"bench", "kernels", "--batch_size=many"}, 2, "bad value 'many'");
  check_complaint({"bench", "kernels", "--batch_size=0"}, 2,
                  "--batch_size must be at least 1 and at most 4096, not 0");
  check_complaint({"bench", "kernels", "--batch_size"}, 2, "needs a value");
  check_complaint({"bench", "allreduce", "more"}, 2, "unexpected argument 'more'");
  check_complaint({"bench", "allreduce", "--transport=pigeon"}, 2, "--transport");
  check_complaint({"bench", "allreduce", "--world=0"}, 2, "--world");
  check_complaint({"bench", "allreduce", "--bytes=64K,many"}, 2, "not 'many'");
  check_complaint({"bench", "allreduce", "--bytes=64KB"}, 2, "not '64KB'");
  check_complaint({"bench", "allreduce", "--bytes="}, 2, "--bytes");
  check_complaint({"bench", "allreduce", "--bytes=9999999999G"}, 2, "--bytes");
  check_complaint({"bench", "allreduce", "--seconds=0"}, 2, "--seconds");
  check_complaint({"bench", "allreduce", "--transport=tcp", "--in_place"}, 2,
                  "--in_place does nothing with --transport=tcp; it is for");
  check_complaint({"bench", "allreduce", "--tls"}, 2, "it is for --transport=tcp");
  check_complaint({"bench", "allreduce", "--world=1", "--raw"}, 2, "--raw");
  check_complaint({"bench", "ps", "--ps=0"}, 2, "--ps");
  check_complaint({"bench", "ps", "--transport=threads"}, 2, "--transport");
  check_complaint({"doctor", "more"}, 2, "unexpected argument 'more'");
  check_complaint({"doctor", "--timeout=0"}, 2, "--timeout");
  check_complaint({"metrics"}, 2, "say what to do: metrics get or metrics token");
  check_complaint({"metrics", "get", "nowhere"}, 1, "nowhere");
  check_complaint({"ckpt"}, 2, "say what to do");
  check_complaint({"ckpt", "frobnicate"}, 2, "unknown command 'ckpt frobnicate'");
  check_complaint({"ckpt", "ls"}, 2, "ckpt ls: give PREFIX|DIR (see distribute ckpt ls --help)");
  check_complaint({"ckpt", "diff", "a"}, 2, "give A B");
  check_complaint({"ckpt", "diff", "a", "b", "--tolerance=-1"}, 2, "--tolerance");
  check_complaint({"ckpt", "convert", "a", "b", "--names=x"}, 2, "--names");
  check_complaint({"events", "ls"}, 2, "give FILE|DIR");
  check_complaint({"hepl"}, 2, "unknown command 'hepl'; did you mean help?");
  check_complaint({"help", "rnu"}, 2, "unknown command 'rnu'; did you mean run?");
  check_complaint({"help", "ckpt", "dif"}, 2, "did you mean ckpt diff?");
  check_complaint({"help", "--tolerance=1"}, 2, "flag --tolerance does nothing here");
  check_complaint({"version", "1"}, 2, "unexpected argument '1'");
  check_complaint({"--vresion"}, 2, "unknown flag --vresion; did you mean --version?");
  check_complaint({"--np=2"}, 2, "unknown flag --np: a command comes first");
}

TEST_CASE("flags come from files and variables, too", "[tools][distribute]") {
  const TemporaryDirectory root;
  std::ofstream(root / "inner") << "--oversubscribe\n";
  std::ofstream(root / "flags") << "# workers\n  --np=two\n--flagfile=" << root / "inner"
                                << "\n";
  const auto complaint = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"--", "true"});
    return run_program("distribute", words, "FLAGS_grace=soon").err;
  };
  CHECK_THAT(complaint({"--flagfile", root / "flags"}), Contains("flag --np: bad value 'two'"));
  CHECK_THAT(complaint({"--fromenv=grace"}), Contains("flag --grace: bad value 'soon'"));
  CHECK_THAT(complaint({"--tryfromenv=ps,grace"}), Contains("--grace: bad value"));
  CHECK_THAT(complaint({"--undefok=colour", "--colour=red", "--np=x"}), Contains("--np"));
  std::ofstream(root / "inner") << "--flagfile=" << root / "inner"
                                << "\n";
  CHECK_THAT(complaint({"--flagfile", root / "inner"}), Contains("cannot read --flagfile"));
}

TEST_CASE("help is shown with status 0", "[tools][distribute]") {
  const ProgramResult result = distribute_program({"--help"});
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains("ckpt ls") && Contains("--batch_size"));
  CHECK(distribute_program({"-h"}).out == result.out);
  CHECK(distribute_program({"help"}).out == result.out);
  CHECK(distribute_program({"help", "ckpt"}).out == distribute_program({"ckpt", "--help"}).out);
  CHECK(distribute_program({"help", "run"}).out == distribute_program({"run", "--help"}).out);
}

TEST_CASE("long words of a command line are not shown whole", "[tools][distribute]") {
  const std::string word(20'000, 'x');
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{word},
                                             {"--" + word},
                                             {"run", "--" + word, "true"},
                                             {"run", "--np=" + word, "true"},
                                             {"ckpt", "ls", word},
                                             {"ckpt", word},
                                             {"help", word},
                                             {"run", "-np", "1", "--", word}}) {
    CAPTURE(words.size(), words[0].substr(0, 9));
    const ProgramResult result = distribute_program(words);
    CHECK(result.status != 0);
    CHECK(result.err.size() < 1'000);
    CHECK_THAT(result.err, Contains(" bytes)"));
  }
}

TEST_CASE("the version is a command and a flag", "[tools][distribute]") {
  for (const char* word : {"version", "--version"}) {
    const ProgramResult result = distribute_program({word});
    CHECK(result.status == 0);
    CHECK(result.out == str_cat("distribute version ", kVersion, "\n"));
    CHECK(result.err == "");
  }
}

TEST_CASE("every command shows its own usage and flags", "[tools][distribute]") {
  const auto check = [](std::vector<std::string> words, const std::string& flag,
                        const std::string& foreign_flag) {
    CAPTURE(words, flag);
    words.push_back("--help");
    const ProgramResult result = distribute_program(words);
    CHECK(result.status == 0);
    CHECK(result.err == "");
    CHECK_THAT(result.out, Contains("  distribute " + words[words[0] == "--json"]));
    const auto has = [&](const std::string& name) {
      return result.out.find("\n    --" + name + "=") != result.out.npos ||
             result.out.find("\n    --" + name + " ") != result.out.npos;
    };
    if (!flag.empty()) CHECK(has(flag));
    CHECK_FALSE(has(foreign_flag));
    const std::string other = words[0] == "events" ? "distribute data" : "distribute events";
    CHECK_THAT(result.out, !Contains(other));
  };
  check({"predict"}, "checkpoint", "world");
  check({"predict", "picture.jpg"}, "top", "timeout");
  check({"--json", "predict"}, "top", "timeout");
  check({"bench"}, "world", "checkpoint");
  check({"bench", "kernels"}, "batch_size", "world");
  check({"bench", "allreduce"}, "in_place", "rows");
  check({"bench", "ps"}, "rows", "in_place");
  check({"ckpt"}, "names", "world");
  check({"ckpt", "diff"}, "tolerance", "names");
  check({"cluster"}, "task_index", "timeout");
  check({"data", "tfrecord"}, "first_label", "json");
  check({"data", "ls"}, "json", "shards");
  check({"doctor"}, "timeout", "ready");
  check({"events", "ls"}, "json", "top");
  check({"metrics"}, "", "json");
  check({"cluster", "make"}, "boot-script", "job_name");
  check({"run", "--np=2"}, "stop-timeout", "json");
  check({"top"}, "interval", "timeout");
  CHECK_THAT(distribute_program({"predict", "--help"}).out, Contains("; default: 5\n"));
  CHECK_THAT(distribute_program({"frobnicate", "--help"}).out, Contains("distribute events ls"));
}

TEST_CASE("missing files give one line and status 1", "[tools][distribute]") {
  const TemporaryDirectory directory;
  check_complaint({"ckpt", "ls", "/nowhere/ckpt"}, 1, "/nowhere/ckpt.index");
  check_complaint({"ckpt", "ls", directory.path()}, 1, "`checkpoint`");
  check_complaint({"ckpt", "verify", "/nowhere/ckpt"}, 1, "/nowhere/ckpt.index");
  check_complaint({"events", "ls", "/nowhere/events"}, 1, "/nowhere/events");
  check_complaint({"events", "ls", directory.path()}, 1, "no event file");
}

TEST_CASE("bench allreduce measures every transport of this host", "[tools][distribute]") {
  for (const char* transport : {"threads", "shm", "tcp"}) {
    CAPTURE(transport);
    const ProgramResult result =
        distribute_program({"bench", "allreduce", "--world=3", "--bytes=4,100K", "--seconds=0.01",
                            "--raw", "--json", std::string("--transport=") + transport});
    CHECK(result.status == 0);
    CHECK(result.err == "");
    const Json rows = Json::parse(result.out);
    REQUIRE(rows.size() == 4);
    for (size_t i = 0; i < 4; ++i) {
      const char* raw = std::string(transport) == "tcp" ? "raw_tcp" : "raw_memory";
      CHECK(rows[i]["transport"] == (i % 2 ? raw : transport));
      CHECK(rows[i]["ranks"] == 3);
      CHECK(rows[i]["bytes"] == (i < 2 ? 4 : 102'400));
      CHECK(rows[i]["us_p50"] > 0);
      CHECK(rows[i]["us_p99"] >= rows[i]["us_p50"]);
      CHECK(rows[i]["bus_gbytes_per_second"] > 0);
    }
  }
}

TEST_CASE("bench ps measures pulls, pushes and sparse rows", "[tools][distribute]") {
  for (const char* transport : {"shm", "tcp"}) {
    CAPTURE(transport);
    const ProgramResult result =
        distribute_program({"bench", "ps", "--ps=2", "--world=3", "--bytes=4,100K", "--rows=20000",
                            "--seconds=0.01", "--json", std::string("--transport=") + transport});
    CHECK(result.status == 0);
    CHECK(result.err == "");
    const Json json = Json::parse(result.out);
    REQUIRE(json["dense"].size() == 2);
    for (const Json& row : json["dense"]) {
      CHECK(row["transport"] == transport);
      CHECK(row["ps"] == 2);
      CHECK(row["world"] == 3);
      for (const char* time :
           {"ms_pull", "ms_push", "ms_apply", "ms_apply", "ms_memory", "ms_socket", "share"})
        CHECK(row[time] > 0);
    }
    CHECK(json["sparse"]["rows_per_second"] > 0);
    CHECK(json["sparse"]["bytes_per_row"] > 2 * 64 * 4);
    CHECK(json["sparse"]["bytes_per_row"] < 2 * 64 * 4 + 32);
    CHECK(json["balance"]["greedy"] < 1.1);
  }
}

TEST_CASE("ckpt ls shows names, types and shapes", "[tools][distribute]") {
  const ProgramResult table = distribute_program({"ckpt", "ls", bundle("dtypes/all")});
  CHECK(table.status == 0);
  CHECK_THAT(table.out, Contains("bfloat16 [3,5]") && Contains("types/bfloat16\n"));
  const ProgramResult result =
      distribute_program({"ckpt", "ls", bundle("ps_partitioned"), "--json"});
  CHECK(result.status == 0);
  const Json json = Json::parse(result.out);
  CHECK(json["prefix"] == bundle("ps_partitioned/ckpt-1"));  // the newest of the directory
  CHECK(json["shards"] == 3);
  CHECK(json["tensors"].size() > 1);
  for (const char* field : {"name", "dtype", "shape", "bytes", "slices"})
    CHECK(json["tensors"][0].contains(field));
}

TEST_CASE("ckpt verify reads everything", "[tools][distribute]") {
  for (const char* name : {"dtypes/all", "partitioned_shards/model.ckpt", "ps_partitioned"}) {
    const ProgramResult result = distribute_program({"ckpt", "verify", bundle(name)});
    CHECK(result.status == 0);
    CHECK_THAT(result.out, Contains("good"));
  }
  const TemporaryDirectory directory;
  const std::string path = save_scalar(directory / "model", 1);
  damage_last_byte(path + ".data-00000-of-00001");
  check_complaint({"ckpt", "verify", path}, 1, "tensor 'x'");
  const ProgramResult result = distribute_program({"ckpt", "verify", path, "--json"});
  CHECK(result.status == 1);
  CHECK(Json::parse(result.out)[0]["damaged"][0]["name"] == "x");
  damage_last_byte(path + ".index");
  check_complaint({"ckpt", "verify", path}, 1, path + ".index");
}

TEST_CASE("a missing data file is told once, not for each of its tensors", "[tools][distribute]") {
  const TemporaryDirectory directory;
  std::filesystem::copy_file(bundle("dtypes/all") + ".index", directory / "all.index");
  check_complaint({"ckpt", "verify", directory / "all"}, 1, "all.data-00000-of-00001");
}

TEST_CASE("a checkpoint beside a directory of its name is found", "[tools][distribute]") {
  const TemporaryDirectory directory;
  const std::string path = save_scalar(directory / "model", 1);
  std::filesystem::create_directory(path);
  for (const char* command : {"ls", "verify"})
    CHECK(distribute_program({"ckpt", command, path}).status == 0);
}

TEST_CASE("ckpt diff compares numbers within a tolerance", "[tools][distribute]") {
  const TemporaryDirectory directory;
  const std::string a = save_scalar(directory / "a", 1), b = save_scalar(directory / "b", 1.5f);
  CHECK(distribute_program({"ckpt", "diff", a, a}).status == 0);
  const ProgramResult result = distribute_program({"ckpt", "diff", a, b});
  CHECK(result.status == 1);
  CHECK_THAT(result.out, Contains("x: 1 of 1 elements differ") && Contains("1 and 1.5"));
  CHECK(distribute_program({"ckpt", "diff", a, b, "--tolerance=0.5"}).status == 0);
  train::save_weights(directory / "c", {Variable(Tensor{1.0f}, {.name = "y"})});
  const ProgramResult names = distribute_program({"ckpt", "diff", a, directory / "c", "--json"});
  CHECK(names.status == 1);
  CHECK(Json::parse(names.out)["differences"].size() == 2);
}

TEST_CASE("ckpt convert writes flat names", "[tools][distribute]") {
  const TemporaryDirectory directory;
  const Variable variable(Tensor{1.0f, 2.0f}, {.name = "layer/kernel"});
  const std::string from = train::Checkpoint({{"part", variable}}).write(directory / "from");
  const std::string to = directory / "flat";
  CHECK(distribute_program({"ckpt", "convert", from, to}).status == 0);
  variable.assign(Tensor{0.0f, 0.0f});
  train::load_weights(to, {variable});
  CHECK(variable.value().to_vector() == std::vector<float>{1, 2});
  const ProgramResult paths = distribute_program({"ckpt", "convert", from, to, "--names=path"});
  CHECK(paths.status == 0);
  CHECK_THAT(distribute_program({"ckpt", "ls", to}).out, Contains(" part\n"));
  check_complaint({"ckpt", "convert", to, directory / "again"}, 1, "flat already");
  check_complaint({"ckpt", "convert", from, from}, 1, "itself");
}

TEST_CASE("events ls shows all good files of a tree beside a damaged one", "[tools][distribute]") {
  const TemporaryDirectory directory;
  std::vector<std::string> paths;
  for (const char* run : {"a", "b", "b/deeper"}) {
    std::filesystem::create_directories(directory / run);
    const auto writer = summary::create_file_writer(directory / run);
    const auto scope = writer.as_default();
    summary::scalar(str_cat("loss of ", run), 0.5, 3);
    writer.close();
    paths.push_back(writer.path());
  }
  damage_last_byte(paths[0]);
  const ProgramResult table = distribute_program({"events", "ls", directory.path()});
  CHECK(table.status == 1);
  CHECK_THAT(table.err, Contains(paths[0]));
  CHECK_THAT(table.out, Contains("loss of b ") && Contains("loss of b/deeper") &&
                            Contains(paths[1] + "\n") && Contains(paths[2] + "\n"));
  const ProgramResult json = distribute_program({"events", "ls", directory.path(), "--json"});
  CHECK(json.status == 1);
  const Json events = Json::parse(json.out);
  REQUIRE(events.size() == 2);
  CHECK(events[1]["file"] == paths[2]);
}

TEST_CASE("events ls shows steps, tags and values", "[tools][distribute]") {
  const TemporaryDirectory directory;
  const auto writer = summary::create_file_writer(directory.path());
  {
    const auto scope = writer.as_default();
    summary::scalar("loss", 0.5, 3);
    summary::text("notes", "text", 4);
  }
  writer.close();
  const ProgramResult table = distribute_program({"events", "ls", writer.path()});
  CHECK(table.status == 0);
  CHECK_THAT(table.out, Contains("scalars") && Contains("loss") && Contains("0.5"));
  const Json json =
      Json::parse(distribute_program({"events", "ls", directory.path(), "--json"}).out);
  REQUIRE(json.size() == 2);
  CHECK(json[0]["step"] == 3);
  CHECK(json[0]["tag"] == "loss");
  CHECK(json[0]["value"] == 0.5);
  CHECK(json[1]["value"].is_null());
  damage_last_byte(writer.path());
  const ProgramResult damaged = distribute_program({"events", "ls", writer.path()});
  CHECK(damaged.status == 1);
  CHECK_THAT(damaged.out, Contains("loss"));
  CHECK_THAT(damaged.err, Contains(writer.path()));
}

// The locale of the environment is not that of the program.
TEST_CASE("what machines read has decimal points whatever LC_ALL says", "[tools][distribute]") {
  const TemporaryDirectory locale;
  const std::string made = "localedef -i de_DE -f UTF-8 " + (locale / "de_DE.UTF-8");
  if (std::system((made + " >/dev/null 2>&1").c_str()) != 0)
    SKIP("the sources of de_DE.UTF-8 are not installed (package locales)");
  const std::string german = "LOCPATH=" + locale.path() + " LC_ALL=de_DE.UTF-8";
  const TemporaryDirectory directory;
  const auto writer = summary::create_file_writer(directory.path());
  {
    const auto scope = writer.as_default();
    summary::scalar("loss", 1234.5, 3);
  }
  writer.close();
  const Json events = Json::parse(
      run_program("distribute", {"events", "ls", directory.path(), "--json"}, german).out);
  CHECK(events[0]["value"] == 1234.5);
  const Json tensors =
      Json::parse(run_program("distribute",
                              {"ckpt", "ls", save_scalar(directory / "x", 0.5f), "--json"}, german)
                      .out);
  CHECK_FALSE(tensors.empty());
}

TEST_CASE("bench kernels gives one JSON object", "[tools][distribute][slow]") {
  const std::string policy = GENERATE("float32", "mixed_bfloat16");
  const ProgramResult result =
      distribute_program({"bench", "kernels", "--model=tutorial", "--batch_size=1", "--threads=1",
                          "--policy=" + policy, "--json"});
  if (policy == "mixed_bfloat16" && !backend(DeviceType::Cpu).supports(DType::BFloat16)) {
    CHECK(result.status == 2);
    CHECK_THAT(result.err, Contains("AVX-512"));
    return;
  }
  REQUIRE(result.status == 0);
  const Json json = Json::parse(result.out);
  CHECK(json["model"] == "tutorial");
  CHECK(json["threads"] == 1);
  CHECK(json["images_per_second"] > 0);
  double sum = 0;
  for (const Json& kernel : json["kernels"]) {
    CHECK(kernel["name"].is_string());
    CHECK(kernel["us"] > 0);
    CHECK(kernel["gflops_per_second"] >= 0);
    sum += kernel["us"].get<double>();
  }
  CHECK(json["kernel_us"] == Approx(sum));
}

TEST_CASE("bench kernels counts every convolution of ResNet-50", "[tools][distribute][slow]") {
  const ProgramResult result = distribute_program(
      {"bench", "kernels", "--model=resnet50", "--batch_size=1", "--threads=1", "--json"});
  REQUIRE(result.status == 0);
  int forward = 0;
  double flops = 0;
  const Json json = Json::parse(result.out);
  for (const Json& kernel : json["kernels"]) {
    const std::string name = kernel["name"];
    if (name.rfind("conv ", 0) != 0 || name.find(" forward") == std::string::npos) continue;
    const size_t times = name.find('(');
    forward += times == std::string::npos ? 1 : std::stoi(name.substr(times + 1));
    flops += kernel["us"].get<double>() * kernel["gflops_per_second"].get<double>() * 1e3;
  }
  CHECK(forward == 53);
  CHECK(flops == Approx(8.17e9).epsilon(0.01));  // 4.09 G multiplications for a picture
}

TEST_CASE("output that is lost on a full disk is an error", "[tools][distribute]") {
  SKIP_WITHOUT_PROGRAM("distribute");
  const std::string program = shell_quoted(distribute::testing::binary_dir() + "/distribute");
  const std::string shards = shell_quoted(bundle("partitioned_shards/model.ckpt"));
  for (const std::string& arguments :
       {"ckpt ls " + shards, "ckpt verify " + shards, std::string("cluster --json"),
        std::string("doctor"), std::string("--help")}) {
    INFO(arguments);
    const ProgramResult result = run_line(
        "sh -c " + shell_quoted("OMP_NUM_THREADS=1 " + program + " " + arguments + " > /dev/full"));
    CHECK(result.status == 1);
    CHECK_THAT(result.err, Contains("cannot write to standard output: "));
  }
}
