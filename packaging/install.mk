# make install, uninstall, dist, help. PREFIX: where it goes; DESTDIR: put before every path, for
# packages; PROGRAM_PREFIX: put before the names of programs, such as ptah-.
PREFIX         ?= /usr/local
DESTDIR        ?=
PROGRAM_PREFIX ?=
NUMBER         := $(shell cat VERSION)

# What reads checkpoints, and all that these headers include.
HEADERS = $(sort $(filter lib/%,$(shell $(CC) -Ilib $(DEFS) -MM -include lib/formats/formats.h \
            -include lib/comm/comm.h -include lib/base/mem.h -include lib/api/ptah.h \
            -x c - </dev/null)))
MODES = $(shell sed -nE "s/^MODE.\w+, (0|'.'), \"(\w+)\".*/\2/p" cmd/inspect/modes.def)
bashdir = share/bash-completion/completions
# What packaging/install makes, below PREFIX.
INSTALLED = $(TOOLS:%=bin/$(PROGRAM_PREFIX)%) bin/ptah lib/libptah.a lib/libptah.so \
            lib/pkgconfig/ptah.pc include/ptah \
            $(TOOLS:%=share/man/man1/$(PROGRAM_PREFIX)%.1) share/man/man7/ptah.7 \
            $(MODES:%=share/man/man1/$(PROGRAM_PREFIX)inspect-%.1) \
            share/doc/ptah $(bashdir)/ptah $(TOOLS:%=$(bashdir)/$(PROGRAM_PREFIX)%) \
            share/zsh/site-functions/_ptah share/ptah

install: all $(B)/libptah.a
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' PROGRAM_PREFIX='$(PROGRAM_PREFIX)' BIN='$(BIN)' \
	    LIBRARY='$(B)/libptah' TOOLS='$(TOOLS)' HEADERS='$(HEADERS)' NUMBER='$(NUMBER)' \
	    REQUIRES='$(PKGS) $(HDF5) $(CAIRO) $(DEFLATE)' DEFS='$(DEFS)' packaging/install

# Directories that install has made go if they are empty, the deepest first.
uninstall:
	@made=$$(tac '$(DESTDIR)$(PREFIX)/share/ptah/directories' 2>/dev/null); \
	for path in $(INSTALLED); do rm -rf '$(DESTDIR)$(PREFIX)'/"$$path"; done; \
	printf '%s\n' "$$made" | while read -r d; do \
	    [ -z "$$d" ] || rmdir '$(DESTDIR)'"$$d" 2>/dev/null || :; \
	done

# A release without git, the same bytes each time: what is committed, not what lies here.
# scripts/version knows its commit. URL=…: where it will lie; recipes of packages name it.
URL =
XZ  = xz -9
dist:
	@mkdir -p $(B)
	@XZ='$(XZ)' packaging/dist '$(B)' '$(URL)'

# Manual pages of the modes of inspect, into build/man.
man: $(BIN)/inspect
	@packaging/modepages $< $(B)/man ''
	@echo $(B)/man

# The documentation as HTML, with a search that needs no server.
SITE = $(B)/html
html: man
	@for p in python3 /usr/bin/python3; do \
	    ! $$p -c 'import markdown' 2>/dev/null || ! command -v mandoc >/dev/null || \
	        exec $$p packaging/site $(B)/man '$(SITE)'; \
	done; echo 'make html needs mandoc and the Python module markdown:' \
	    'apt-get install mandoc python3-markdown' >&2; exit 2

help:
	@sed 's/^# \?//' packaging/targets

.PHONY: install uninstall dist man html help
