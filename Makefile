# Ptah: make, make demo, make check, make check-quick, make lint, make bench
include config.mk

B      := build
LIBSRC := $(wildcard lib/*/*.c)
LIBOBJ := $(LIBSRC:%.c=$(B)/%.o)
TOOLS  := $(notdir $(wildcard cmd/*))
BINS   := $(TOOLS:%=bin/%)
UNITS  := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/*.c tests/property/*.c))

all: $(BINS)

$(B)/libptah.a: $(LIBOBJ)
	@rm -f $@; ar rcs $@ $^

$(B)/%.o: %.c config.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

.SECONDEXPANSION:
bin/%: $$(patsubst %.c,$(B)/%.o,$$(wildcard cmd/%/*.c)) $(B)/libptah.a
	@mkdir -p bin
	$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(B)/tests/%: $(B)/tests/%.o $(B)/libptah.a
	$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

units: $(UNITS)

clean:
	rm -rf $(B) bin

.PHONY: all units clean
.SECONDARY:
-include $(LIBOBJ:.o=.d) $(patsubst %,%.d,$(UNITS))
