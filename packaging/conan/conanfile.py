"""Conan 2 recipe of a checkout: conan create packaging/conan --build=missing"""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Distribute(ConanFile):
    name = "distribute"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Distributed training for C++, after TensorFlow's tf.distribute"
    settings = "os", "arch", "compiler", "build_type"
    options = {"onednn": [True, False], "openssl": [True, False], "object_stores": [True, False],
               "pictures": [True, False]}
    default_options = {"onednn": False, "openssl": True, "object_stores": False, "pictures": True}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "NOTICE", "CHANGELOG.md", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        for package in ("abseil/[>=20220623]", "asio/[>=1.22]", "eigen/[>=3.4 <4]",
                        "nlohmann_json/[>=3.11]", "zlib/[>=1.2]"):
            self.requires(package, transitive_headers=True, transitive_libs=True)
        if self.options.onednn:
            self.requires("onednn/[>=3]")
        if self.options.openssl:
            self.requires("openssl/[>=3]")
        if self.options.object_stores:
            self.requires("libcurl/[>=7.88]")
            self.requires("pugixml/[>=1.13]")
        if self.options.pictures:
            self.requires("libjpeg-turbo/[>=2.1]")
            self.requires("libpng/[>=1.6]")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["DISTRIBUTE_BUILD_PROGRAMS"] = False
        for name, option in (("ONEDNN", "onednn"), ("OPENSSL", "openssl"), ("CURL", "object_stores"),
                             ("PUGIXML", "object_stores"), ("JPEG", "pictures"), ("PNG", "pictures")):
            toolchain.cache_variables[f"DISTRIBUTE_WITH_{name}"] = "ON" if self.options.get_safe(option) else "OFF"
        for name in ("IPSEC_MB", "HDF5", "LIBZIP", "FARMHASH", "PCRE2", "SENTENCEPIECE", "SQLITE", "LIBARCHIVE", "ARROW",
                     "OPENMPI", "MPICH", "UCX"):
            toolchain.cache_variables[f"DISTRIBUTE_WITH_{name}"] = "OFF"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The library's own CMake files know targets, features and what they link.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "distribute")]
