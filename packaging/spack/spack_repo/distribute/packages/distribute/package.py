from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Distribute(CMakePackage):
    """Distributed training for C++, after TensorFlow's tf.distribute."""

    homepage = "https://localhost/distribute"  # the checkout is given with `spack develop`
    license("Apache-2.0")
    version("0.1.0")

    variant("onednn", default=True, description="The fast CPU backend")
    variant("openssl", default=True, description="Tokens and encryption between tasks")
    variant("object_stores", default=False, description="S3, Google Cloud Storage, Hadoop")
    variant("pictures", default=True, description="JPEG and PNG")
    variant("mpi", default=False, description="Open MPI or MPICH as engine module")
    variant("ucx", default=False, description="UCX as engine module")
    variant("programs", default=False, description="The programs distribute, mnist_cnn, resnet50 and text_transformer")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("abseil-cpp cxxstd=20")
    depends_on("asio")
    depends_on("eigen@3.4:3")
    depends_on("nlohmann-json@3.11:")
    depends_on("zlib-api")
    depends_on("onednn", when="+onednn")
    depends_on("openssl", when="+openssl")
    depends_on("curl", when="+object_stores")
    depends_on("pugixml", when="+object_stores")
    depends_on("libjpeg-turbo", when="+pictures")
    depends_on("libpng", when="+pictures")
    depends_on("mpi", when="+mpi")
    depends_on("ucx", when="+ucx")

    generator("ninja")

    def cmake_args(self):
        features = {"ONEDNN": "+onednn", "OPENSSL": "+openssl", "CURL": "+object_stores",
                    "PUGIXML": "+object_stores", "JPEG": "+pictures", "PNG": "+pictures",
                    "OPENMPI": "+mpi ^openmpi", "MPICH": "+mpi ^mpich", "UCX": "+ucx"}
        words = [f"-DDISTRIBUTE_WITH_{name}={'ON' if self.spec.satisfies(wanted) else 'OFF'}"
                 for name, wanted in features.items()]
        words += [f"-DDISTRIBUTE_WITH_{name}=OFF"
                  for name in ("IPSEC_MB", "HDF5", "LIBZIP", "FARMHASH", "PCRE2", "SENTENCEPIECE",
                               "SQLITE", "LIBARCHIVE", "ARROW")]
        return [*words, self.define_from_variant("DISTRIBUTE_BUILD_PROGRAMS", "programs")]
