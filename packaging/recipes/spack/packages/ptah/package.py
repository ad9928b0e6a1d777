from spack.package import *

try:  # Spack 1: build systems lie in the repository of packages
    from spack_repo.builtin.build_systems.makefile import MakefilePackage
except ImportError:  # before, spack.package had them
    pass


class Ptah(MakefilePackage):
    """Adaptive-mesh cosmology: gas, dark matter, gravity and galaxy formation on an octree, with
    the namelists, initial conditions and checkpoints of RAMSES, and the same bits on any number of
    ranks."""

    homepage = "@URL@"
    url = "@URL@"

    license("GPL-3.0-or-later")

    version("@VERSION@", sha256="@SHA256@")

    variant("cairo", default=True, description="Draw plots")
    variant("hdf5", default=True, description="Read and write HDF5")
    variant("cuda", default=False, description="Devices of NVIDIA")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("fftw-api@3")
    depends_on("gsl@2.6:")
    depends_on("libdeflate")
    depends_on("libpng")
    depends_on("zlib-api")
    depends_on("cairo+pdf+png+svg", when="+cairo")
    depends_on("hdf5@1.10:", when="+hdf5")
    depends_on("cuda@11.4:", when="+cuda")

    def settings(self):
        """Variables of the Makefile that replace its defaults; the compiler wrapper of Spack knows the
        processor, as target=… names it."""
        spec = self.spec
        words = [
            "V=1",
            "CC=" + spec["mpi"].mpicc,
            "OPT=-O3",
            "CAIRO=" + ("cairo" if spec.satisfies("+cairo") else ""),
            "HDF5=" + ("hdf5" if spec.satisfies("+hdf5") else ""),
            "DEFLATE=libdeflate",
            "HEALPIX=",
        ]
        if spec.satisfies("+cuda"):
            words += ["DEV=cuda", "NVCC=" + join_path(spec["cuda"].prefix.bin, "nvcc")]
        return words

    def build(self, spec, prefix):
        make(*self.settings(), "all")

    def install(self, spec, prefix):
        make(*self.settings(), "PREFIX=" + prefix, "install")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        """The installed programs, and a short run."""
        Executable(self.prefix.bin.simulate)("-V")
        Executable(self.prefix.bin.ptah)("-h")
