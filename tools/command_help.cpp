#include "command_help.hpp"

#include <absl/flags/reflection.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>

namespace distribute_tools {

struct CommandHelp {
  const char* words;
  const char* usage;
  const char* flags;
};

constexpr CommandHelp kCommands[] = {
    {"bench kernels",
     "  distribute bench kernels [--model=book|tutorial] [--batch_size=N] [--policy=float32]\n"
     "                           [--threads=N] [--json]\n"
     "      time of every kernel of one training step, each measured alone\n",
     "model batch_size policy threads json"},
    {"cluster",
     "  distribute cluster [--json] [--job_name=J --task_index=I --ps_hosts=A,B "
     "--worker_hosts=...]\n"
     "      what TF_CONFIG, a launcher's variables or these flags say about this task\n"
     "  distribute cluster --ready\n"
     "      a readiness probe: 0 when the task has met the others, else 1 and why not\n"
     "  distribute cluster make --chief=H --worker=H,H --ps=H,H [--port=P] [--boot-script=F]\n"
     "      TF_CONFIG of every host of a new cluster (see distribute cluster make --help)\n",
     "json job_name task_index ps_hosts worker_hosts chief_hosts evaluator_hosts ready"},
    {"bench allreduce",
     "  distribute bench allreduce [--world=N] [--transport=auto|threads|shm|tcp|mpi]\n"
     "                           [--bytes=1K,64K,1M,25M,100M] [--flows=N] [--seconds=X] [--raw]\n"
     "                           [--tls] [--in_place] [--json]\n"
     "      time of an all-reduce between ranks on this machine; --raw: also of sockets or memory\n"
     "      alone; --tls: encrypted, too (with DISTRIBUTE_TLS=1: only so)\n",
     "world transport bytes flows seconds raw tls in_place json"},
    {"bench ps",
     "  distribute bench ps [--ps=N] [--world=N] [--transport=auto|shm|tcp] [--bytes=100M]\n"
     "                           [--rows=N] [--seconds=X] [--json]\n"
     "      pull and push of parameter servers beside memcpy and raw sockets, rows of a sparse\n"
     "      table, and how evenly two servers share ResNet-50\n",
     "ps world transport bytes rows seconds json"},
    {"ckpt ls",
     "  distribute ckpt ls PREFIX|DIR [--json]\n"
     "      tensors of a checkpoint; of a directory the newest one\n",
     "json"},
    {"ckpt verify",
     "  distribute ckpt verify PREFIX|DIR [--json]\n"
     "      reads everything and checks it; of a directory all checkpoints\n",
     "json"},
    {"ckpt diff",
     "  distribute ckpt diff A B [--tolerance=X] [--json]\n"
     "      what differs between two checkpoints; exit status 1 if anything does\n",
     "tolerance json"},
    {"ckpt convert",
     "  distribute ckpt convert FROM TO [--names=variable|path]\n"
     "      writes an object-based checkpoint under flat names\n",
     "names"},
    {"data tfrecord",
     "  distribute data tfrecord --input_dir=D --output_dir=D [--shards=N] [--split=train]\n"
     "                           [--shuffle] [--seed=N] [--first_label=1] [--strict]\n"
     "      TFRecord files with ImageNet's keys from a folder with one folder for each class\n",
     "input_dir output_dir shards split shuffle seed first_label strict"},
    {"data ls",
     "  distribute data ls FILE [--json]\n"
     "      how many records a TFRecord file holds, and which features\n",
     "json"},
    {"doctor",
     "  distribute doctor [--timeout=SECONDS] [--require_gpu] [--json] [cluster flags]\n"
     "      what limits a job or keeps it from running: host, libraries, GPUs and, started as "
     "every\n"
     "      task (distribute run -np N -- distribute doctor), the network between them\n",
     "timeout require_gpu json job_name task_index ps_hosts worker_hosts chief_hosts "
     "evaluator_hosts"},
    {"events ls",
     "  distribute events ls FILE|DIR [--json]\n"
     "      what TensorBoard's event files hold; of a folder all, also those of folders in it\n",
     "json"},
    {"metrics token",
     "  distribute metrics token\n"
     "      what Prometheus shows to read the metrics of this environment's job\n",
     ""},
    {"metrics get",
     "  distribute metrics get HOST:PORT\n"
     "      the metrics of a task that was started with DISTRIBUTE_METRICS_PORT\n",
     ""},
    {"predict",
     "  distribute predict --model=book|tutorial|resnet50|resnet8|... --checkpoint=PREFIX|DIR\n"
     "                           [--labels=FILE] [--top=5] [--image_size=N] [--json] PICTURE...\n"
     "      the likeliest classes of pictures: JPEG and PNG files, folders of them, TFRecords, for "
     "book\n"
     "      and tutorial also IDX files; FILE:INDEX is one picture of a file with many; - reads "
     "names\n"
     "      from the standard input\n",
     "model checkpoint labels top image_size json"},
    {"run",
     "  distribute run -np N [options] -- PROGRAM [ARGUMENTS]\n"
     "      starts the tasks of a job (see distribute run --help)\n",
     ""},
    {"top",
     "  distribute top HOST:PORT|HOST:FIRST-LAST... [--interval=SECONDS] [--count=N] [--json]\n"
     "      a live table of tasks that were started with DISTRIBUTE_METRICS_PORT\n",
     "interval count json"}};

bool is_about(const CommandHelp& command, const std::vector<std::string>& words) {
  const std::vector<std::string> own = absl::StrSplit(command.words, ' ');
  return std::equal(own.begin(), own.begin() + long(std::min(own.size(), words.size())),
                    words.begin());
}

std::string usage_of(const std::vector<std::string>& words) {
  std::string usage;
  for (const CommandHelp& command : kCommands)
    if (is_about(command, words)) usage += command.usage;
  return usage;
}

/// Those of all commands that `words` may mean, by name.
std::set<std::string> flags_of(const std::vector<std::string>& words) {
  std::set<std::string> flags;
  for (const CommandHelp& command : kCommands)
    if (is_about(command, words))
      for (const auto name : absl::StrSplit(command.flags, ' ', absl::SkipEmpty()))
        flags.emplace(name);
  return flags;
}

std::string foreign_flag(const std::vector<std::string>& words,
                         const std::vector<std::string>& flags) {
  const std::set<std::string> own = flags_of(words), all = flags_of({});
  if (usage_of(words).empty()) return "";  // no command at all
  for (const std::string& flag : flags)
    if (all.count(flag) && !own.count(flag)) return flag;
  return "";
}

void print_flag(const std::string& name) {
  const absl::CommandLineFlag& flag = *absl::FindCommandLineFlag(name);
  const std::string value = flag.DefaultValue();
  std::printf("    --%s (%s);%s%s\n", name.c_str(), flag.Help().c_str(),
              value.empty() ? "" : " default: ", value.c_str());
}

bool print_command_help(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const auto is_help = [](std::string_view word) { return word == "--help" || word == "-help"; };
  if (std::none_of(arguments.begin(), end, is_help)) return false;
  const auto is_flag = [](std::string_view word) { return word.starts_with("-"); };
  const std::vector<std::string> words(arguments.begin(),
                                       std::find_if(arguments.begin(), end, is_flag));
  const std::string usage = usage_of(words);
  if (words.empty() || usage.empty()) return false;
  const std::set<std::string> flags = flags_of(words);
  std::printf("usage:\n%s%s", usage.c_str(), flags.empty() ? "" : "\nflags:\n");
  for (const std::string& name : flags) print_flag(name);
  return true;
}

}  // namespace distribute_tools
