# Ptah. `make help` lists the targets.
include config.mk

# make O=DIR: all build products go into DIR, whose name has no spaces
ifneq ($(words [$(O)]),1)
$(error O=$(O): give a directory without blanks in its name)
endif
# Targets that compile directly need the compiler; the others look for it first, or do not need it.
NEED_NONE := deps demo test check check-% bench lint format clean distclean uninstall dist help
B      := $(if $(O),$(O)/build,build)
ifneq ($(filter-out $(NEED_NONE),$(or $(MAKECMDGOALS),all)),)
ADVICE := scripts/install.sh build installs all that is needed
ifeq ($(shell command -v '$(firstword $(CC))' 2>/dev/null),)
$(error $(firstword $(CC)) is not there: $(ADVICE) \
(on Debian MPI is libopenmpi-dev and openmpi-bin; on a cluster: module load openmpi))
endif
# Before the first build, headers of libraries are checked.
ifeq ($(wildcard $(B)/version.c),)
LACK := $(shell for h in mpi.h gsl/gsl_errno.h fftw3.h zlib.h png.h; do \
          echo "\#include <$$h>" | $(CC) $(LIBS_C) -E - >/dev/null 2>&1 || echo "$$h"; done)
ifneq ($(LACK),)
$(error $(CC) does not find $(LACK): $(ADVICE) \
(on Debian: libopenmpi-dev libgsl-dev libfftw3-dev zlib1g-dev libpng-dev; \
another compiler for MPI: make CC=...))
endif
endif
ifeq ($(DEV),cuda)
ifeq ($(shell command -v '$(firstword $(NVCC))' 2>/dev/null),)
$(error $(firstword $(NVCC)) is not there: DEV=cuda needs CUDA (on Debian nvidia-cuda-toolkit; \
on a cluster: module load cuda; elsewhere: make NVCC=...); DEV=none builds without)
endif
endif
endif
LIBSRC := $(wildcard lib/*/*.c)
LIBOBJ := $(LIBSRC:%.c=$(B)/%.o)
TOOLS  := $(notdir $(wildcard cmd/*))
BIN    := $(if $(O),$(O)/bin,bin)
BINS   := $(TOOLS:%=$(BIN)/%)
CMDOBJ := $(patsubst %.c,$(B)/%.o,$(wildcard cmd/*/*.c))
UNITS  := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/*.c tests/property/*.c))

# make V=1 shows whole commands.
say     = $(if $(V),,@printf '  %-3s %s\n' $(1) $(2); )

ifdef PATCH
all: patched
else
all: $(BINS) $(BIN)/ptah $(B)/libptah.so
endif

# make PATCH=DIR: files of DIR replace those of Ptah or are added. DIR has the layout of Ptah
# (lib/…, cmd/…), or is flat with names of files that exist once. Checkpoints name the patch and its
# checksum.
patched:
	@scripts/patch '$(PATCH)' $(B)/patch
	@$(MAKE) --no-print-directory -C $(B)/patch PATCH= O= BIN=$(abspath $(BIN)) \
	    PATCHED="$$(cat $(B)/patch/NAME)" all

# gcc 12 would compute ½·(x > 0 ? s : 0) in both branches of each limiter: more comparisons and
# spills.
$(patsubst %,$(B)/lib/%.o,hydro/trace hydro/flux patch/sweep): CFLAGS += $(call knows,-fno-tree-pre)

# Build information of programs. Replaced only if it changes, so that programs are not linked again.
$(B)/version.c: always
	@mkdir -p $(@D)
	@CC='$(CC)' FLAGS='$(OPT) $(STRICT)' PATCHED='$(PATCHED)' scripts/version >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(B)/version.o: $(B)/version.c lib/out/version.h
	@$(CC) -Ilib $(PIC) -c $< -o $@

$(BIN)/ptah: scripts/ptah
	@mkdir -p $(@D)
	@install -m 755 $< $@

# Devices: config.mk. Kernels are compiled twice, as C and as CUDA.
DEVOBJ := $(B)/lib/dev/dev.o $(patsubst %.c,$(B)/%.o,$(wildcard lib/*/*_kernel.c))
# gcc 12 fuses multiplications with alternating additions and subtractions (vfmaddsub), regardless
# of -ffp-contract, where it vectorises straight-line code: tests/property/kernels.py host.
SMOOTH := $(patsubst %.c,$(B)/%.o,$(wildcard lib/smooth/*.c))
$(DEVOBJ) $(B)/lib/stencil/force.o $(SMOOTH): CFLAGS += -fno-tree-slp-vectorize
$(DEVOBJ): CFLAGS += -DPTAH_DEV='"$(DEV)"' $(if $(filter cuda,$(DEV)),-DPTAH_CUDA)
$(DEVOBJ): $(B)/dev
$(B)/dev: always
	@mkdir -p $(@D)
	@echo '$(DEV)' | cmp -s - $@ || echo '$(DEV)' >$@

ifeq ($(DEV),cuda)
LIBOBJ += $(B)/lib/dev/cuda.cu.o $(patsubst %.c,$(B)/%.cu.o,$(wildcard lib/*/*_kernel.c))
LDLIBS += -L$(dir $(shell readlink -f $(NVCC)))../lib64 -lcudart_static -lstdc++ -ldl -lrt -lpthread
NVCODE := $(foreach a,$(NVARCH),-gencode arch=compute_$(a),code=sm_$(a))
CUDAC   = $(NVCC) $(NVFLAGS) $(NVCODE) -Werror all-warnings -Ilib -D_GNU_SOURCE -MMD -MP -c
$(B)/%.cu.o: %.c config.mk
	@mkdir -p $(@D)
	$(call say,nv,$<)$(CUDAC) -x cu $< -o $@
$(B)/%.cu.o: %.cu config.mk
	@mkdir -p $(@D)
	$(call say,nv,$<)$(CUDAC) $< -o $@
endif

$(B)/libptah.a: $(LIBOBJ)
	@rm -f $@; ar rcs $@ $^

# The same library for other languages: only the functions of lib/api/ptah.h can be called.
$(B)/libptah.so: $(filter $(B)/lib/api/%,$(LIBOBJ)) $(B)/version.o $(B)/libptah.a \
                 packaging/symbols
	$(call say,ld,$@)$(CC) -shared $(LDFLAGS) -Wl,--version-script=packaging/symbols \
	    $(filter %.o %.a,$^) $(LDLIBS) -o $@

$(B)/%.o: %.c config.mk
	@mkdir -p $(@D)
	$(call say,cc,$<)$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

PERCENT := %
.SECONDEXPANSION:
$(BIN)/%: $$(filter $(B)/cmd/$$*/$$(PERCENT),$(CMDOBJ)) $(B)/version.o $(B)/libptah.a
	@mkdir -p $(BIN)
	$(call say,ld,$@)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(B)/tests/%: $(B)/tests/%.o $(B)/libptah.a
	$(call say,ld,$@)$(CC) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS) -o $@

# A further conservation law, tests/toy/advect.c.
$(B)/tests/unit/advect_test: $(patsubst %,$(B)/tests/toy/%.o,advect advect_kernel)
$(patsubst %,$(B)/tests/%.o,unit/advect_test toy/advect toy/advect_kernel): CFLAGS += -Itests/toy
$(B)/tests/toy/advect_kernel.o: CFLAGS += -fno-tree-slp-vectorize

# One more solver, tests/toy/heat.c.
$(B)/tests/unit/solver_test: $(B)/tests/toy/heat.o

# Programs with one format more, tests/toy/toy.c: tests/property/formats.py.
TOYS := $(B)/tests/toy/convert $(B)/tests/toy/inspect
$(TOYS): $(B)/tests/toy/%: $$(filter $(B)/cmd/$$*/$$(PERCENT),$(CMDOBJ)) $(B)/tests/toy/toy.o \
         $(B)/version.o $(B)/libptah.a
	$(call say,ld,$@)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# Programs that advance raw arrays (tests/golden/stencil.py, tests/golden/sph.py) and write uniform
# meshes (tests/grid_files.py).
RAW := $(B)/tests/toy/fd_steps $(B)/tests/toy/smooth_eval $(B)/tests/toy/grid_make
$(B)/tests/toy/fd_steps.o $(B)/tests/toy/smooth_eval.o: CFLAGS += -Itests/unit

# A program of several files, tests/scale, which counts the reductions of the balancer over ranks.
SCALE := $(B)/tests/scale/scale
$(SCALE): $(patsubst %.c,$(B)/%.o,$(wildcard tests/scale/*.c)) $(B)/libptah.a
	$(call say,ld,$@)$(CC) $(LDFLAGS) -Wl,--wrap=comm_add_i64 $^ $(LDLIBS) -o $@

# Benchmarks on several ranks; balance uses the cost field of tests/scale.
RANKED := $(patsubst %,$(B)/tests/bench/%,ghost balance blast poisson)
$(B)/tests/bench/balance: $(B)/tests/scale/box.o
$(B)/tests/bench/balance.o: CFLAGS += -Itests/scale
$(patsubst %,$(B)/tests/bench/%.o,device blast smooth stencil): CFLAGS += -Itests/unit
# They also look for cells without bins, to compare.
$(patsubst %,$(B)/tests/%,unit/blast_test unit/agn_test bench/blast): \
    LDFLAGS += -Wl,--wrap=bins_new,--wrap=bins_each

units: $(UNITS) $(TOYS) $(RAW) $(SCALE) $(RANKED) \
       $(patsubst %,$(B)/tests/bench/%,roofline kernels tree near device smooth stencil)

# The two targets that set up everything on a fresh machine: demo and check.
CORES  := $(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)
BUILD   = $(MAKE) --no-print-directory -j$(CORES)

# scripts/install.sh exits with 3 if the user declines: not an error here.
deps:
	@scripts/install.sh check || [ $$? = 3 ]

demo:
	@scripts/install.sh demo || { s=$$?; [ $$s = 3 ] && exit 0; exit $$s; }; \
	    $(BUILD) all && scripts/demo.sh

test: check
check check-quick check-long:
	@scripts/install.sh check
	@$(BUILD) all units
	@tests/run $(if $(filter host cuda,$(DEV)),--device=auto) $(patsubst check-%,%,$@)

# Peak performance of the machine, and the fraction reached by kernels: docs/performance.md.
roofline: $(B)/tests/bench/roofline $(B)/tests/bench/kernels
	@$(B)/tests/bench/roofline
	@$(B)/tests/bench/kernels

bench:
	@scripts/install.sh check
	@$(BUILD) all $(SCALE) $(B)/tests/bench/roofline $(B)/tests/bench/kernels
	@PATH=$(CURDIR)/build/venv/bin:$$PATH tests/bench/bench $(BENCH)

include packaging/install.mk

lint:
	@scripts/lint

format:
	@scripts/lint --format

# O=DIR may contain other files.
MADE := bench check cmd demo dev gpu html lib libptah.a libptah.so man patch tests \
        valgrind venv version.c version.o
clean:
	rm -rf $(addprefix $(B)/,$(filter-out venv,$(MADE))) $(BINS) $(BIN)/ptah

distclean: clean
	rm -rf $(if $(O),$(addprefix $(B)/,$(MADE)),$(B))
	@for d in $(B) $(BIN); do ! [ -d $$d ] || rmdir --ignore-fail-on-non-empty $$d; done

.PHONY: all patched always units deps demo test check check-quick check-long bench roofline lint \
        format clean distclean
.SECONDARY:
-include $(LIBOBJ:.o=.d) $(CMDOBJ:.o=.d) $(UNITS:%=%.d) $(RANKED:%=%.d)
-include $(patsubst %.c,$(B)/%.d,$(wildcard tests/scale/*.c))
-include $(patsubst %,$(B)/tests/toy/%.d,toy heat advect advect_kernel fd_steps smooth_eval \
                                   grid_make)
-include $(patsubst %,$(B)/tests/bench/%.d,roofline kernels device smooth stencil)
