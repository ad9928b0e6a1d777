# Build settings. Override on the command line or in the environment: make CC=… OPT=…
CC      := mpicc
OPT     ?= -O3 -march=native
# Bits must not depend on how a loop was compiled: no contraction, no fast-math (docs/decisions/0001).
STRICT  := -ffp-contract=off -fno-math-errno -fno-trapping-math
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
PKGS    := gsl fftw3 zlib libpng
# make MORTON128=1: octree keys of 128 bits, 42 levels instead of 21
MORTON128 ?=
DEFS    := -D_GNU_SOURCE $(if $(MORTON128),-DPTAH_MORTON128)
CFLAGS  = -std=gnu17 $(OPT) $(STRICT) $(WARN) -fopenmp -g -Ilib $(DEFS) $(shell pkg-config --cflags $(PKGS))
LDFLAGS = -fopenmp
LDLIBS  = $(shell pkg-config --libs $(PKGS)) -lm
