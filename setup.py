"""Builds the extension module of the Python package by CMake; everything else is in pyproject.toml.

CMAKE_ARGS in the environment is handed on to CMake: CMAKE_ARGS="-DCMAKE_PREFIX_PATH=/opt/libraries" pip install ...
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent


def of_pybind11():
    """Where pip has put pybind11, if it has: CMake finds Debian's by itself, and that one not."""
    try:
        import pybind11
        return [f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
    except (ImportError, AttributeError):  # not there, without the files for CMake, or older than they are
        return []


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        place = pathlib.Path(self.build_temp).resolve() / "cmake"
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(["cmake", "-S", HERE, "-B", place, *generator, "-DLONGTAIL_PARTS=python", "-DLONGTAIL_TESTS=OFF",
                        "-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}", *of_pybind11(),
                        *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", place, "--parallel", "--target", "longtail_python"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        (built,) = (place / "python" / "longtail").glob("_core*.so")
        shutil.copy2(built, target)


setup(version=re.search(r"kVersion\D*([0-9.]+)", (HERE / "longtail" / "version.h").read_text()).group(1),
      ext_modules=[Extension("longtail._core", [])], cmdclass={"build_ext": CMakeBuild})
