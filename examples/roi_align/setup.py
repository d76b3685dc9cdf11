import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

import imode

kernels = Extension(
    "roi_align.kernels",
    ["src/roi_align/kernels.pyx"],
    include_dirs=[imode.library.get_include(), numpy.get_include()],
    define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
)
setup(ext_modules=cythonize([kernels], language_level=3, build_dir="build"))
