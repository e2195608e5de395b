#include "commands.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/launch/process.hpp>

#include <absl/strings/match.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <poll.h>

namespace distribute_tools {

using namespace distribute;
namespace fs = std::filesystem;

namespace {

struct PackOptions {
  std::string output, data;
};

/// Files of this system that a program needs.
struct Needs {
  fs::path loader;  // "": linked statically, or a script
  std::set<fs::path> libraries;
};

struct Finished {
  launch::ExitStatus status;
  std::string out, err;
};

Finished run_to_end(const Words& command) {
  launch::ProcessOptions options;
  options.command = command;
  options.environment = {{"LC_ALL", "C"}, {"XZ_OPT", "-T0"}};
  launch::Process process(options);
  Finished result;
  for (bool out = true, err = true; out || err;) {
    pollfd streams[] = {{out ? process.out().native() : -1, POLLIN, 0},
                        {err ? process.err().native() : -1, POLLIN, 0}};
    ::poll(streams, 2, 100);
    out = out && launch::read_available(process.out().native(), result.out);
    err = err && launch::read_available(process.err().native(), result.err);
  }
  result.status = process.wait(net::Deadline::after_seconds(60));
  return result;
}

bool is_elf(const fs::path& path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, 4);
  return std::string(magic, 4) ==
         "\x7f"
         "ELF";
}

/// The driver of GPUs is the machine's own.
bool belongs_to_machine(const fs::path& library) {
  const std::string name = library.filename().string();
  return absl::StartsWith(name, "libcuda.so") || absl::StartsWith(name, "libnvidia-");
}

/// Reads what ldd prints: "libz.so.1 => /lib/libz.so.1 (0x7f...)", and the loader without an arrow.
Needs needs_of(const fs::path& program) {
  Needs needs;
  if (!is_elf(program)) return needs;
  const Finished ldd = run_to_end({"ldd", program.string()});
  if (!ldd.status.ok()) return needs;  // "not a dynamic executable"
  for (const std::string& line : Words(absl::StrSplit(ldd.out, '\n'))) {
    const Words words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (absl::StrContains(line, "not found"))
      throw NotFoundError(program.string() + " needs " + words[0] +
                          ", which is not on this system");
    if (words.size() == 4 && words[1] == "=>" && words[2][0] == '/')
      needs.libraries.insert(words[2]);
    else if (words.size() == 2 && words[0][0] == '/')
      needs.loader = words[0];
  }
  std::erase_if(needs.libraries, belongs_to_machine);
  return needs;
}

/// Without symbols, where the system has a program that takes them off.
void copy_program(const fs::path& from, const fs::path& to) {
  try {
    if (run_to_end({"strip", "-o", to.string(), from.string()}).status.ok()) return;
  } catch (const NotFoundError&) {
  }
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
}

/// Starts the program with the loader and libraries of the archive. Certificates of authorities are
/// where this system has them, not where the building one had.
std::string start_script(const std::string& name, const std::string& loader) {
  return "#!/bin/sh\n"
         "# Starts " +
         name +
         " with the C library and the other libraries beside this file.\n"
         "self=$0\n"
         "while [ -h \"$self\" ]; do\n"
         "  to=$(readlink \"$self\")\n"
         "  case $to in /*) self=$to ;; *) self=${self%/*}/$to ;; esac\n"
         "done\n"
         "case $self in */*) here=$(cd \"${self%/*}\" && pwd) ;; *) here=$(pwd) ;; esac\n"
         "if [ -z \"$DISTRIBUTE_CA_FILE\" ] && [ ! -e /etc/ssl/certs/ca-certificates.crt ]; then\n"
         "  for file in /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; "
         "do\n"
         "    [ -e \"$file\" ] && export DISTRIBUTE_CA_FILE=\"$file\" && break\n"
         "  done\n"
         "fi\n"
         "exec \"$here/lib/" +
         loader +
         "\" --library-path "
         "\"$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\" \"$here/bin/" +
         name + "\" \"$@\"\n";
}

void write_executable(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
  fs::permissions(path, fs::perms(0755));
}

void add_program(const fs::path& program, const fs::path& job) {
  const std::string name = program.filename().string();
  if (fs::exists(job / name)) throw InvalidArgumentError("two programs are called " + name);
  const Needs needs = needs_of(program);
  if (needs.loader.empty()) {
    fs::copy_file(program, job / name);
    return;
  }
  copy_program(program, job / "bin" / name);
  for (const fs::path& library : needs.libraries)
    fs::copy_file(library, job / "lib" / library.filename(), fs::copy_options::skip_existing);
  fs::copy_file(needs.loader, job / "lib" / needs.loader.filename(),
                fs::copy_options::skip_existing);
  write_executable(job / name, start_script(name, needs.loader.filename().string()));
}

/// A folder that goes with its owner.
struct Scratch {
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "distribute_pack.XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw PermissionDeniedError("cannot make a folder in " + fs::temp_directory_path().string());
    path = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

/// Returns ".tar.xz" of "job.tar.xz", by which tar knows the compression.
std::string extensions_of(const fs::path& output) {
  const fs::path last = output.extension();
  return output.stem().extension().string() + last.string();
}

/// Writes the output as every output is written: whole, through a link, or into a device.
void copy_whole(const std::string& from, const std::string& to) {
  const auto source = value_or_throw(io::local_file_system().open(from));
  auto copy = value_or_throw(io::AtomicFile::create(to));
  std::string part(1 << 20, '\0');
  for (int64_t at = 0; at < source->size();) {
    const int64_t count = value_or_throw(source->read_some(at, part));
    throw_if_error(copy.append(std::string_view(part).substr(0, size_t(count))));
    at += count;
  }
  throw_if_error(copy.commit());
}

int pack(const PackOptions& options, const CommandLine& line) try {
  if (options.output.empty()) throw UsageProblem("say which file to write: -o job.tar.xz");
  if (!options.data.empty() && !fs::is_directory(options.data))
    throw UsageProblem("--data=" + options.data + " is no folder");
  const fs::path folder = fs::absolute(options.output).parent_path();
  if (!fs::is_directory(folder))
    throw UsageProblem(options.output + ": there is no folder " +
                       fs::path(options.output).parent_path().string());
  const Scratch scratch;
  const fs::path job = scratch.path / "job";
  for (const char* folder : {"bin", "lib"}) fs::create_directories(job / folder);
  for (const std::string& program : line.words) add_program(launch::find_program(program), job);
  if (!options.data.empty()) fs::copy(options.data, job / "data", fs::copy_options::recursive);
  // tar would write into a file that is there, and leave a half of it on a full disk.
  const fs::path archive = scratch.path / ("new" + extensions_of(options.output));
  const Finished tar =
      run_to_end({"tar", "-C", scratch.path.string(), "-caf", archive.string(), "job"});
  if (!tar.status.ok()) throw InternalError("tar: " + tar.err);
  copy_whole(archive.string(), options.output);
  std::printf("%s: %ju bytes\n", options.output.c_str(), uintmax_t(fs::file_size(archive)));
  return 0;
} catch (const fs::filesystem_error& error) {
  throw NotFoundError(error.what());
}

}  // namespace

Command pack_command() {
  using O = PackOptions;
  return make_command<O>(
      "pack", "PROGRAM...",
      "writes an archive with the folder job: the programs, the shared libraries that they need, "
      "the C library and its loader among them, so that they run on any Linux of this machine's "
      "kind of processor, also one with an older C library. After tar xf, job/PROGRAM starts "
      "them. GPU drivers, CUDA's libraries and certificates of authorities are those of the "
      "machine",
      {{"o=FILE", &O::output, "the archive; .tar.xz, .tar.gz, .tar.zst or .tar, as its name says"},
       {"data=DIR", &O::data, "a folder that becomes job/data"}},
      pack);
}

}  // namespace distribute_tools
