"""The Conan 2 recipe of Takt: conan create packaging/conan

The libraries that Takt uses are the system's (Debian's, by apt).
"""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

PARTS = ["scheduler", "planner", "npu", "vmvx", "native_kernels", "avx512",
         "tracing", "io_parameters", "hwloc"]


class TaktConan(ConanFile):
    name = "takt"
    license = "Apache-2.0"
    description = "Runtime for compiled networks of robots"
    topics = ("robotics", "inference", "real-time")
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], **{part: [True, False] for part in PARTS}}
    default_options = {"shared": True, **{part: True for part in PARTS}}
    package_type = "library"

    @property
    def _tree(self):
        return os.path.normpath(os.path.join(self.recipe_folder, "..", ".."))

    def set_version(self):
        text = load(self, os.path.join(self._tree, "CMakeLists.txt"))
        self.version = text.split("project(takt VERSION ", 1)[1].split(" ", 1)[0]

    def export_sources(self):
        for name in ["CMakeLists.txt", "LICENSE", "README.md"]:
            copy(self, name, self._tree, self.export_sources_folder)
        for folder in ["cmake", "docs", "include", "packaging", "src"]:
            copy(self, "*", os.path.join(self._tree, folder),
                 os.path.join(self.export_sources_folder, folder))

    def system_requirements(self):
        Apt(self).check(["libabsl-dev", "libflatbuffers-dev",
                         "flatbuffers-compiler", "nlohmann-json3-dev",
                         "libprotozero-dev", "libhwloc-dev"])

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["TAKT_BUILD_SHARED"] = bool(self.options.shared)
        for name in ["TESTS", "TOOLS", "BENCHMARKS"]:
            toolchain.cache_variables[f"TAKT_BUILD_{name}"] = False
        for part in PARTS:
            toolchain.cache_variables[f"TAKT_{part.upper()}"] = bool(
                getattr(self.options, part))
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install(component="takt")

    def package_info(self):
        # Programs use the package's own takt-config.cmake.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "takt")]
        self.cpp_info.libs = ["takt"]
