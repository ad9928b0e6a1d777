# make install, uninstall, dist, help. PREFIX: where it goes; DESTDIR: put before every path, for
# packages; PROGRAM_PREFIX: put before the names of programs, such as ptah-.
PREFIX         ?= /usr/local
DESTDIR        ?=
PROGRAM_PREFIX ?=
NUMBER         := $(shell cat VERSION)

bindir  = $(PREFIX)/bin
libdir  = $(PREFIX)/lib
incdir  = $(PREFIX)/include/ptah
mandir  = $(PREFIX)/share/man
docdir  = $(PREFIX)/share/doc/ptah
bashdir = $(PREFIX)/share/bash-completion/completions
zshdir  = $(PREFIX)/share/zsh/site-functions

# What reads checkpoints, and all that these headers include.
HEADERS = $(sort $(filter lib/%,$(shell $(CC) -Ilib $(DEFS) -MM -include lib/formats/formats.h \
            -include lib/comm/comm.h -include lib/base/mem.h -x c - </dev/null)))
# Every path that install makes, for uninstall too.
INSTALLED = $(TOOLS:%=$(bindir)/$(PROGRAM_PREFIX)%) $(bindir)/ptah \
            $(libdir)/libptah.a $(libdir)/pkgconfig/ptah.pc $(incdir) \
            $(TOOLS:%=$(mandir)/man1/$(PROGRAM_PREFIX)%.1) $(mandir)/man7/ptah.7 \
            $(docdir) $(bashdir)/ptah $(TOOLS:%=$(bashdir)/$(PROGRAM_PREFIX)%) $(zshdir)/_ptah \
            $(PREFIX)/share/ptah

install: all $(B)/libptah.a
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' PROGRAM_PREFIX='$(PROGRAM_PREFIX)' BIN='$(BIN)' \
	    LIBRARY='$(B)/libptah.a' TOOLS='$(TOOLS)' HEADERS='$(HEADERS)' NUMBER='$(NUMBER)' \
	    REQUIRES='$(PKGS) $(HDF5) $(CAIRO) $(DEFLATE)' DEFS='$(DEFS)' packaging/install

uninstall:
	@rm -rf $(addprefix $(DESTDIR),$(INSTALLED))

# A release without git: it carries its commit in a file.
dist:
	@mkdir -p $(B)
	@git archive --prefix=ptah-$(NUMBER)/ \
	    --add-virtual-file=ptah-$(NUMBER)/COMMIT:$$(git describe --always --abbrev=12) HEAD | \
	    gzip -n9 >$(B)/ptah-$(NUMBER).tar.gz
	@echo $(B)/ptah-$(NUMBER).tar.gz

help:
	@sed 's/^# \?//' packaging/targets

.PHONY: install uninstall dist help
