"""A package of Spack; docs/develop/releasing.md says what to fill in, and what was not tried."""

# ruff: noqa
from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyHpcsched(PythonPackage):
    """A declarative framework for job dispatching in HPC systems."""

    homepage = "https://example.org/hpcsched"
    url = "https://example.org/hpcsched-0.2.0.tar.gz"

    license("MIT AND BSD-3-Clause AND ISC")

    version("0.2.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("figures", default=True, description="Draw figures into files")

    depends_on("cxx", type="build")
    depends_on("python@3.11:", type=("build", "link", "run"))
    depends_on("cmake@3.21:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-scikit-build-core@1.1:", type="build")
    depends_on("py-nanobind@3.1:", type="build")
    depends_on("py-vl-convert-python@1.9:", type="build")
    depends_on("py-vl-convert-python@1.9:", type="run", when="+figures")

    with default_args(type=("build", "run")):
        depends_on("py-altair@6:")
        depends_on("py-cpmpy@1.1:")
        depends_on("py-jinja2@3.1:")
        depends_on("py-numpy@2.0:")
        depends_on("py-ortools@9.15:")
        depends_on("py-pluggy@1.5:")
        depends_on("py-pyarrow@18:")
        depends_on("py-pydantic@2.10:")
        depends_on("py-pyyaml@6.0.2:")
        depends_on("py-rich@13.9:")
        depends_on("py-typer@0.19:")
        depends_on("py-tzdata@2025.1:")
