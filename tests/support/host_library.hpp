#pragma once
/// What a fake GPU runs: kernels compiled by the host's compiler.

#include <tests/support/file_text.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <unistd.h>

namespace distribute::testing {

/// The kernels of one text. They stay in a folder beside the test programs, many of which launch
/// the same; each lies there with its source, whose first line says what it was made with.
class HostLibrary {
 public:
  explicit HostLibrary(const std::string& text) : source_("// " + made_with() + "\n" + text) {
    const auto folder =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fake_kernels";
    std::filesystem::create_directories(folder);
    base_ = (folder / std::to_string(std::hash<std::string>()(source_))).string();
  }
  std::string path() const { return base_ + ".so"; }
  bool is_there() const {
    return std::filesystem::exists(path()) && file_text(base_ + ".cpp") == source_;
  }
  /// Returns  whether the compiler took it. Programs that run at the same time may make the same.
  bool make(std::string& log) const {
    const std::string own = base_ + "." + std::to_string(getpid());
    std::ofstream(own + ".cpp") << source_;
    const std::string line =
        command() + " -o '" + own + ".so' '" + own + ".cpp' 2> '" + own + ".log'";
    const bool made = std::system(line.c_str()) == 0;
    log = file_text(own + ".log");
    std::filesystem::remove(own + ".log");
    if (!made) return std::filesystem::remove(own + ".cpp"), false;
    std::filesystem::rename(own + ".cpp", base_ + ".cpp");
    std::filesystem::rename(own + ".so", path());
    return true;
  }

 private:
  static std::string command() {
    return "c++ -std=c++20 -O1 -w -shared -fPIC -ffp-contract=off -fno-strict-aliasing "
           "-fsanitize=alignment -fsanitize-undefined-trap-on-error "  // GPUs fault, hosts do not
           "-DDISTRIBUTE_HOST_KERNELS";
  }
  static std::string made_with() { return command() + " (" __VERSION__ ")"; }

  std::string source_, base_;
};

}  // namespace distribute::testing
