#pragma once
#include <distribute/collective/engine_module.h>
#include <distribute/base/config.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/collective/engine.hpp>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <link.h>

namespace distribute::collective {

DISTRIBUTE_INLINE const char* name_of(EngineKind kind) {
  switch (kind) {
    case EngineKind::OpenMpi: return "openmpi";
    case EngineKind::Mpich: return "mpich";
    case EngineKind::Ucx: break;
  }
  return "ucx";
}

DISTRIBUTE_INLINE std::string Engine::text() const {
  return str_cat(name_of(kind), " (", module->library(), ", ", file, ")");
}

DISTRIBUTE_INLINE std::vector<std::string> engine_folders() {
  std::vector<std::string> folders;
  std::istringstream parts(Environment().text("DISTRIBUTE_ENGINE_PATH"));
  for (std::string folder; std::getline(parts, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  if (!folders.empty()) return folders;
  std::error_code none;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
  if (!none)
    folders.push_back((program.parent_path().parent_path() / "lib" / "distribute").string());
  folders.emplace_back("/usr/local/lib/distribute");
  folders.emplace_back("/usr/lib/distribute");
  folders.emplace_back();
  return folders;
}

namespace engine_internal {

inline constexpr const char* kCure =
    "; see docs/engines.md, or leave out DISTRIBUTE_TRANSPORT and "
    "CommunicationOptions::implementation for TCP";

struct Traits {
  const char* file;
  const char* package;  // of Debian
};

DISTRIBUTE_INLINE Traits traits_of(EngineKind kind) {
  switch (kind) {
    case EngineKind::OpenMpi: return {"libdistribute_mpi_openmpi.so", "libopenmpi-dev"};
    case EngineKind::Mpich: return {"libdistribute_mpi_mpich.so", "libmpich-dev"};
    case EngineKind::Ucx: break;
  }
  return {"libdistribute_ucx.so", "libucx-dev"};
}

/// Returns what is wrong with an opened file; empty when it can be used.
DISTRIBUTE_INLINE std::string problem_of(const distribute_engine_module* module, EngineKind kind) {
  if (module->abi != DISTRIBUTE_ENGINE_ABI || module->bytes < sizeof(distribute_engine_module))
    return str_cat("it was built for version ", module->abi, " of the modules' interface (",
                   module->bytes, " bytes), this program (distribute ", kVersion, ") has version ",
                   DISTRIBUTE_ENGINE_ABI, " (", sizeof(distribute_engine_module),
                   " bytes): build the module and the program from one version of distribute");
  if (std::string_view(module->name) != name_of(kind))
    return str_cat("it is a module for ", module->name, ", not for ", name_of(kind));
  return {};
}

/// Opens one file. Null, with the reason, when it cannot be used.
DISTRIBUTE_INLINE const distribute_engine_module* open_file(const std::string& file,
                                                            EngineKind kind, std::string& reason) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* text = ::dlerror();
    reason = text ? text : "dlopen failed";
    return nullptr;
  }
  using Entry = const distribute_engine_module* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, DISTRIBUTE_ENGINE_SYMBOL));
  const distribute_engine_module* module = entry ? entry() : nullptr;
  const std::string problem =
      module ? problem_of(module, kind) : "it has no function " DISTRIBUTE_ENGINE_SYMBOL;
  if (problem.empty()) return module;
  ::dlclose(library);
  reason = str_cat(file, ": ", problem);
  return nullptr;
}

/// Returns the file to open; a name without folder for the loader's own path; empty when there is
/// none.
DISTRIBUTE_INLINE std::string file_of(const char* name) {
  std::error_code none;
  for (const std::string& folder : engine_folders()) {
    if (folder.empty()) return name;
    const std::string file = folder + "/" + name;
    if (std::filesystem::exists(file, none)) return file;
  }
  return {};
}

/// A file that is there but cannot be used ends the search: another one might be of another
/// version.
DISTRIBUTE_INLINE std::optional<Engine> load(EngineKind kind, std::string& problem) {
  const Traits traits = traits_of(kind);
  std::string reason;
  const std::string file = file_of(traits.file);
  const auto* module = file.empty() ? nullptr : open_file(file, kind, reason);
  if (module) return Engine{kind, module, file};
  const bool missing = file.find('/') == std::string::npos &&
                       (file.empty() || reason.find("No such file") != std::string::npos);
  std::string folders;
  for (const std::string& folder : engine_folders())
    folders += folder.empty() ? ", the loader's path" : (folders.empty() ? " " : ", ") + folder;
  problem = missing ? str_cat("the engine ", name_of(kind), " is not here: no ", traits.file, " in",
                              folders, "; install ", traits.package,
                              " and build distribute, or name its folder in DISTRIBUTE_ENGINE_PATH")
                    : str_cat("the engine ", name_of(kind), " cannot be loaded: ", reason);
  problem += kCure;
  return {};
}

struct Slot {
  bool tried = false;
  std::optional<Engine> engine;
  std::string problem;
};

struct Registry {
  std::mutex mutex;  // guards slots
  std::array<Slot, 3> slots;
};

/// Returns the registry, which is never destroyed, as groups may outlive main().
DISTRIBUTE_INLINE Registry& registry() { return in_process<Registry>(); }

/// The libraries of MPIs that this process has loaded, by kind.
struct LoadedMpi {
  std::string open_mpi, mpich;
};

DISTRIBUTE_INLINE int note_library(dl_phdr_info* info, size_t, void* data) {
  auto& loaded = *static_cast<LoadedMpi*>(data);
  const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("libmpi.so.40")) loaded.open_mpi = path;
  if (name.starts_with("libmpich.so.12") || name.starts_with("libmpi.so.12")) loaded.mpich = path;
  return 0;
}

DISTRIBUTE_INLINE bool has_variable(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (Environment().has(name)) return true;
  return false;
}

}  // namespace engine_internal

DISTRIBUTE_INLINE const Engine* find_engine(EngineKind kind, std::string& problem) {
  engine_internal::Registry& registry = engine_internal::registry();
  const std::lock_guard lock(registry.mutex);
  engine_internal::Slot& slot = registry.slots[size_t(kind)];
  if (!std::exchange(slot.tried, true)) slot.engine = engine_internal::load(kind, slot.problem);
  problem = slot.problem;
  return slot.engine ? &*slot.engine : nullptr;
}

DISTRIBUTE_INLINE EngineKind mpi_of_process() {
  engine_internal::LoadedMpi loaded;
  ::dl_iterate_phdr(engine_internal::note_library, &loaded);
  if (!loaded.open_mpi.empty() && !loaded.mpich.empty())
    throw FailedPreconditionError(
        str_cat("two MPIs are loaded in this process, ", loaded.open_mpi, " and ", loaded.mpich,
                "; link the program with the one whose mpirun starts it, or with none"));
  if (!loaded.open_mpi.empty()) return EngineKind::OpenMpi;
  if (!loaded.mpich.empty()) return EngineKind::Mpich;
  if (engine_internal::has_variable({"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}))
    return EngineKind::OpenMpi;
  if (engine_internal::has_variable({"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"}))
    return EngineKind::Mpich;
  if (engine_internal::has_variable({"PMIX_RANK"})) return EngineKind::OpenMpi;  // srun --mpi=pmix
  throw FailedPreconditionError(
      "MPI is asked for, but no launcher of an MPI has started this process (neither "
      "OMPI_COMM_WORLD_RANK nor PMI_RANK nor PMIX_RANK is set); start the job with mpirun, or srun "
      "--mpi, and without TF_CONFIG");
}

}  // namespace distribute::collective
