#include "commands.hpp"

#include <distribute/base/error.hpp>
#include <distribute/data_service/data_service.hpp>
#include <distribute/data_service/servers.hpp>

#include <csignal>
#include <cstdio>

namespace distribute_tools {

using namespace distribute;

/// The flags of `data serve`, which its table explains.
struct ServeOptions {
  std::string host = "127.0.0.1", work_dir;
  std::vector<std::string> worker_addresses;
  int64_t port = 0;
};

/// Serves until SIGINT or SIGTERM.
int serve(const ServeOptions& options) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before the server's threads, which inherit it
  const data::service::DispatchServer server({.port = int(options.port),
                                              .host = options.host,
                                              .work_dir = options.work_dir,
                                              .fault_tolerant_mode = !options.work_dir.empty(),
                                              .worker_addresses = options.worker_addresses});
  std::printf("data dispatcher at %s\n", server.target().c_str());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&ends, &signal);
  return 0;
}

Command data_serve_command() {
  using O = ServeOptions;
  return make_command<O>(
      "data serve", "",
      "the dispatcher of a data service; workers are programs that call data::service::worker_main",
      {{"port=N", &O::port, at_least(0), "0: the system chooses"},
       {"host=NAME", &O::host, "this host as others reach it; needs DISTRIBUTE_JOB_TOKEN"},
       {"work_dir=D", &O::work_dir, "keeps a journal, with which a restart goes on"},
       {"worker_addresses=HOST:PORT,...", &O::worker_addresses,
        "workers that share datasets by File, Data or Hint"}},
      [](const O& options, const CommandLine&) { return serve(options); });
}

/// The flags of `data save`, which its table explains.
struct SaveFlags {
  std::string service, compression = "none";
  int64_t chunk_bytes = data::service::SaveOptions{}.chunk_bytes;
};

Command data_save_command() {
  using O = SaveFlags;
  return make_command<O>(
      "data save", "NAME DIRECTORY",
      "lets a data service write the dataset NAME; DIRECTORY/DONE or ERROR is its end",
      {{"service=HOST:PORT", &O::service, "the dispatcher, which has a --work_dir"},
       {"compression=C", &O::compression, one_of("none", "gzip"), "of the chunks"},
       {"chunk_bytes=N", &O::chunk_bytes, at_least(1), "size at which a chunk is closed"}},
      [](const O& options, const CommandLine& line) {
        if (options.service.empty()) throw UsageProblem("--service is needed");
        const bool gzip = options.compression == "gzip";
        data::service::distributed_save(
            line.words[0], line.words[1], options.service,
            {.compression = gzip ? io::Compression::Gzip : io::Compression::None,
             .chunk_bytes = options.chunk_bytes});
        return 0;
      });
}

}  // namespace distribute_tools
