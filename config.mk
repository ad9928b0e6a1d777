# Build settings. Override on the command line or in the environment: make CC=… OPT=…
CC      := mpicc
# make ARCH=x86-64-v3: for other machines than this one, such as the nodes of a cluster. The bits of
# results do not depend on it.
ARCH    ?= native
OPT     ?= -O3 -march=$(ARCH)
# Bits must not depend on how a loop was compiled: no contraction, no fast-math
# (docs/decisions/0001).
STRICT  := -ffp-contract=off -fno-math-errno -fno-trapping-math
WARN    := -Wall -Wextra -Werror=switch -Werror=switch-enum -Wshadow -Wstrict-prototypes \
           -Wmissing-prototypes -Wno-unused-parameter -Wno-psabi -Wno-pass-failed
# an option, if the compiler knows it
knows   = $(shell echo | $(CC) $(1) -E - >/dev/null 2>&1 && echo $(1))
PKGS    := gsl fftw3 zlib libpng
# make HDF5=: without. Any build of the library will do, MPI or not; which one, pkg-config is asked.
# make CAIRO=: without. Plots then are refused; bare pixels, arrays and tables are not.
# make HEALPIX=: without. Light cones then are not written as maps.
# make DEFLATE=: zlib instead of libdeflate, 2.5 times slower in checksums and decompression.
# Without pkg-config the compiler is asked, as modules of a cluster set it up (CPATH, LIBRARY_PATH).
ifneq ($(shell command -v pkg-config),)
HDF5    ?= $(firstword $(foreach p,hdf5-openmpi hdf5-mpich hdf5-serial hdf5,\
                         $(shell pkg-config --exists $(p) && echo $(p))))
CAIRO   ?= $(shell pkg-config --exists cairo && echo cairo)
HEALPIX ?= $(shell pkg-config --exists chealpix && echo chealpix)
DEFLATE ?= $(shell pkg-config --exists libdeflate && echo libdeflate)
LIBS_C  := $(shell pkg-config --cflags $(PKGS) $(HDF5) $(CAIRO) $(DEFLATE) $(HEALPIX))
LIBS_LD := $(shell pkg-config --libs $(PKGS) $(HDF5) $(DEFLATE))
DRAW_LD := $(if $(CAIRO)$(HEALPIX),$(shell pkg-config --libs $(CAIRO) $(HEALPIX)))
else
has      = $(shell echo '\#include <$(1)>' | $(CC) -E - >/dev/null 2>&1 && echo $(2))
HDF5    ?= $(call has,hdf5.h,hdf5)
CAIRO   ?= $(call has,cairo.h,cairo)
HEALPIX ?= $(call has,chealpix.h,chealpix)
DEFLATE ?= $(call has,libdeflate.h,deflate)
LIBS_C  :=
LIBS_LD := -lgsl -lgslcblas -lfftw3 -lpng -lz $(if $(HDF5),-lhdf5) $(if $(DEFLATE),-ldeflate)
DRAW_LD := $(if $(CAIRO),-lcairo) $(if $(HEALPIX),-lchealpix)
endif
# Devices that gpu_hydro may use (docs/gpu.md). make DEV=cuda: GPUs, by nvcc, a minute more;
# DEV=host: an emulated one, for tests; DEV=none. Any build has the emulated one by gpu_device.
DEV     ?= none
NVCC    ?= $(firstword $(shell command -v nvcc) /usr/local/cuda/bin/nvcc)
NVARCH  ?= 80 90 100
# The bits of the CPU: no fused operations; divisions and roots round as IEEE 754 has it.
NVFLAGS  = -std=c++17 -O3 -fmad=false -prec-div=true -prec-sqrt=true -ftz=false -D_Noreturn=
# make MORTON128=1: octree keys of 128 bits, 42 levels instead of 21
MORTON128 ?=
# options of distributions' packages
HARDEN_C  ?=
HARDEN_LD ?=
DEFS    := -D_GNU_SOURCE $(if $(MORTON128),-DPTAH_MORTON128) $(if $(HDF5),-DPTAH_HDF5) \
           $(if $(CAIRO),-DPTAH_CAIRO) \
           $(if $(HEALPIX),-DPTAH_HEALPIX) $(if $(DEFLATE),-DPTAH_DEFLATE)
# The same objects make the programs and build/libptah.so (docs/decisions/0021). No function may be
# replaced at run time, so that calls are inlined as in a program.
PIC     := -fPIC $(call knows,-fno-semantic-interposition)
CFLAGS  = -std=gnu17 $(OPT) $(STRICT) $(WARN) $(PIC) -fopenmp -g -Ilib $(DEFS) \
          $(LIBS_C) $(HARDEN_C)
# macOS: packaging/macos has what is missing. Its linker does not wrap functions, and programs do
# not replace the allocator of libraries.
ifeq ($(shell uname -s),Darwin)
LIBS_C  += -include packaging/macos/linux.h -Ipackaging/macos -DSANITIZED
else
# lib/base/alone.c
WRAP    := -Wl,--wrap=GOMP_parallel
# simulate draws nothing and has no use for cairo, others none for chealpix
NEEDED  := -Wl,--as-needed
endif
LDFLAGS = -fopenmp $(WRAP) $(HARDEN_LD)
LDLIBS  = $(LIBS_LD) $(if $(DRAW_LD),$(NEEDED) $(DRAW_LD)) -lm
